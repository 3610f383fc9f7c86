package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.Owner;

/** The protocol end to end on one line, under a virtual clock with seeded faults. */
class PmNodeTest {
  private static final int ENDPOINT = 7;

  private static NodeConfig config() {
    return NodeConfig.defaults(0x1234, 1, 128).withWindow(64).withFirstSeq(0xFFFF_FFF0L);
  }

  /** Sends numbered messages from every node to every other and checks what arrives. */
  private static final class Traffic {
    final TestNet net;
    final List<PmEndpoint> endpoints = new ArrayList<>();
    final int n;
    final long[][] sent;
    final long[][] received;
    final List<String> wrong = new ArrayList<>();
    final List<String> downs = new ArrayList<>();

    Traffic(TestNet net) {
      this.net = net;
      this.n = net.nodes.size();
      sent = new long[n][n];
      received = new long[n][n];
      for (PmNode node : net.nodes) {
        endpoints.add(node.open(ENDPOINT));
      }
    }

    void sendRound(int each) {
      for (int s = 0; s < n; s++) {
        for (int d = 0; d < n; d++) {
          if (s != d && sent[s][d] < each) {
            SendBuffer b = endpoints.get(s).claim(d, 16 + (int) (sent[s][d] % 900));
            if (b != null) {
              b.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, b.offset(), ++sent[s][d]);
              b.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, b.offset() + 8, ~sent[s][d]);
              endpoints.get(s).send(b);
            }
          }
        }
      }
    }

    void receiveRound() {
      for (int d = 0; d < n; d++) {
        if (net.nodes.get(d) != null) {
          receiveRoundOf(d);
        }
      }
    }

    void receiveRoundOf(int self) {
      endpoints
          .get(self)
          .poll(
              new MessageHandler() {
                @Override
                public void onMessage(Message m) {
                  long v = m.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, m.offset());
                  long w = m.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, m.offset() + 8);
                  long expected = ++received[m.source()][self];
                  if (v != expected || w != ~v || m.lengthBytes() != 16 + (v - 1) % 900) {
                    wrong.add(m.source() + "->" + self + " got " + v + " not " + expected);
                  }
                }

                @Override
                public void onPeerDown(int node, int session) {
                  downs.add(self + " lost " + node);
                }
              },
              64);
    }

    boolean complete(int each) {
      for (int s = 0; s < n; s++) {
        for (int d = 0; d < n; d++) {
          if (s != d && received[s][d] < each) {
            return false;
          }
        }
      }
      return true;
    }

    /** Ten messages each way, and time for their acknowledgements: nothing is on its way then. */
    void settle() {
      exchange(10, 1_000_000_000L);
      net.run(1_000_000L);
    }

    void assertArrive(int each) {
      exchange(each, 1_000_000_000L);
      assertThat(wrong).isEmpty();
      assertThat(complete(each)).isTrue();
    }

    void exchange(int each, long limitNs) {
      long until = net.nowNs + limitNs;
      while (!complete(each) && net.nowNs < until) {
        sendRound(each);
        net.step();
        receiveRound();
      }
    }
  }

  private static void assertAllHome(TestNet net) {
    net.loss = 0;
    net.run(300_000_000L);
    for (int i = 0; i < net.nodes.size(); i++) {
      BufferPool pool = net.pools.get(i);
      for (TestNet.SimPort port : net.ports[i]) {
        port.close();
      }
      assertThat(net.nodes.get(i).inFlight()).as("in flight at node %d", i).isZero();
      assertThat(pool.ownedBy(Owner.WINDOW) + pool.ownedBy(Owner.INBOX)).isZero();
      assertThat(pool.available()).as("pool of node %d", i).isEqualTo(pool.capacity());
    }
  }

  @Test
  void deliversInOrderWithoutLoss() {
    try (TestNet net = new TestNet(2, 2, 1, 600, config())) {
      Traffic t = new Traffic(net);
      t.exchange(2_000, 2_000_000_000L);
      assertThat(t.wrong).isEmpty();
      assertThat(t.complete(2_000)).isTrue();
      assertThat(net.nodes.get(0).counters().get(Counter.RESENT)).isZero();
      assertAllHome(net);
      assertThat(t.endpoints.get(0).acknowledged(1)).isEqualTo(2_000);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "1, 0.01, 0, 0",
    "2, 0.05, 0.01, 0.01",
    "3, 0.20, 0.05, 0.02",
    "4, 0.00, 0.10, 0",
    "5, 0.00, 0, 0.05",
    "6, 0.30, 0.10, 0.10"
  })
  void deliversExactlyOnceInOrderThroughFaults(
      long seed, double loss, double duplication, double corruption) {
    try (TestNet net = new TestNet(3, 2, seed, 1200, config())) {
      net.jitterNs = 30_000;
      net.loss = loss;
      net.duplication = duplication;
      net.corruption = corruption;
      Traffic t = new Traffic(net);
      t.exchange(500, 20_000_000_000L);
      assertThat(t.wrong).isEmpty();
      assertThat(t.downs).isEmpty();
      assertThat(t.complete(500)).isTrue();
      if (loss > 0 || corruption > 0) {
        assertThat(net.nodes.get(0).counters().get(Counter.RESENT)).isPositive();
      }
      net.duplication = 0;
      net.corruption = 0;
      assertAllHome(net);
    }
  }

  @Test
  void whatWasSentLeavesWithoutAnotherRound() {
    try (TestNet net = new TestNet(2, 2, 1, 600, config())) {
      Traffic t = new Traffic(net);
      t.settle();
      PmNode node = net.nodes.get(0);
      long before = node.counters().get(Counter.FRAMES_SENT);
      assertThat(node.sendNow(net.nowNs)).isZero();
      t.sendRound(11);
      assertThat(node.counters().get(Counter.FRAMES_SENT)).isEqualTo(before);
      assertThat(node.sendNow(net.nowNs)).isEqualTo(1);
      assertThat(node.counters().get(Counter.FRAMES_SENT)).isEqualTo(before + 1);
      assertThat(node.sendNow(net.nowNs)).isZero();
      t.assertArrive(11);
      assertThat(node.counters().get(Counter.RESENT)).isZero();
      assertAllHome(net);
    }
  }

  /** A frame's way would count from the begin of a duty cycle that is long over. */
  @Test
  void afterALongWhileSendingNowIsLeftToTheRound() {
    try (TestNet net = new TestNet(2, 2, 1, 600, config())) {
      Traffic t = new Traffic(net);
      t.settle();
      PmNode node = net.nodes.get(0);
      long beganNs = net.nowNs;
      node.doWork(beganNs);
      t.sendRound(11);
      assertThat(node.sendNow(beganNs + Sender.RESTAMP_NS + 1)).isZero();
      assertThat(node.sendNow(beganNs + Sender.RESTAMP_NS)).isEqualTo(1);
    }
  }

  @Test
  void whatAPortHadNoRoomForIsLeftToTheRound() {
    try (TestNet net = new TestNet(2, 1, 1, 600, config())) {
      Traffic t = new Traffic(net);
      t.endpoints.forEach(endpoint -> endpoint.coalesceUpTo(-1));
      t.settle();
      PmNode node = net.nodes.get(0);
      net.portRoom = 1;
      t.sendRound(11);
      t.sendRound(12);
      assertThat(node.sendNow(net.nowNs)).isEqualTo(1);
      net.portRoom = 32;
      assertThat(node.sendNow(net.nowNs)).isZero();
      assertThat(node.doWork(net.nowNs)).isPositive();
      t.assertArrive(12);
    }
  }

  @Test
  void whereAPollThreadSendsAProgramCannotSendNow() {
    try (TestNet net = new TestNet(2, 1, 1, 600, config(), false)) {
      assertThatThrownBy(() -> net.nodes.get(0).sendNow(net.nowNs))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("inline mode");
    }
  }

  @Test
  void whileFramesWaitSendingNowIsLeftToTheRound() {
    try (TestNet net = new TestNet(2, 2, 1, 600, config())) {
      Traffic t = new Traffic(net);
      t.settle();
      PmNode node = net.nodes.get(0);
      long before = node.counters().get(Counter.FRAMES_SENT);
      net.portRoom = 0;
      t.sendRound(11);
      node.doWork(net.nowNs);
      net.portRoom = 32;
      assertThat(node.sendNow(net.nowNs)).isZero();
      assertThat(node.counters().get(Counter.FRAMES_SENT)).isEqualTo(before);
      node.doWork(net.nowNs);
      assertThat(node.counters().get(Counter.FRAMES_SENT)).isEqualTo(before + 1);
      t.assertArrive(11);
      assertAllHome(net);
    }
  }

  @Test
  void sprayingSkewCausesNoResend() {
    try (TestNet net = new TestNet(2, 4, 9, 600, config())) {
      net.jitterNs = 200_000;
      Traffic t = new Traffic(net);
      t.exchange(1_000, 10_000_000_000L);
      assertThat(t.wrong).isEmpty();
      assertThat(net.nodes.get(1).counters().get(Counter.OUT_OF_ORDER)).isPositive();
      assertThat(net.nodes.get(0).counters().get(Counter.RESENT)).isZero();
      assertAllHome(net);
    }
  }

  @Test
  void survivesADeadRailAndTakesItBack() {
    try (TestNet net = new TestNet(2, 2, 5, 600, config())) {
      Traffic t = new Traffic(net);
      t.exchange(500, 1_000_000_000L);
      net.deadRail[1] = true;
      t.exchange(1_500, 5_000_000_000L);
      assertThat(t.complete(1_500)).isTrue();
      assertThat(net.nodes.get(0).counters().get(Counter.PATHS_EVICTED)).isPositive();
      net.deadRail[1] = false;
      net.run(500_000_000L);
      t.exchange(2_000, 5_000_000_000L);
      assertThat(t.wrong).isEmpty();
      assertThat(net.nodes.get(0).counters().get(Counter.PATHS_RESTORED)).isPositive();
      assertThat(net.nodes.get(0).peerStatus().get(0).pathsEvicted()).isZero();
      assertAllHome(net);
    }
  }

  @Test
  void reportsASilentPeerOnceAndReturnsItsBuffers() {
    NodeConfig config = config().withPeerTimeoutNs(100_000_000L);
    try (TestNet net = new TestNet(2, 2, 6, 600, config)) {
      Traffic t = new Traffic(net);
      t.exchange(100, 1_000_000_000L);
      PmNode dead = net.nodes.get(1);
      net.nodes.set(1, null);
      t.sendRound(110);
      net.run(200_000_000L);
      t.receiveRoundOf(0);
      assertThat(t.downs).containsExactly("0 lost 1");
      assertThat(net.nodes.get(0).peerState(1)).isEqualTo(PeerState.DOWN);
      assertThat(net.nodes.get(0).peerStatus().get(0).reason()).isEqualTo(DownReason.SILENCE);
      assertThat(net.nodes.get(0).counters().get(Counter.PEERS_DOWN)).isEqualTo(1);
      assertThat(net.pools.get(0).ownedBy(Owner.WINDOW)).isZero();
      dead.close();
    }
  }

  @Test
  void reportsARestartedPeerAndTalksToTheNewIncarnation() {
    NodeConfig config = config();
    try (TestNet net = new TestNet(2, 2, 8, 600, config)) {
      Traffic t = new Traffic(net);
      t.exchange(100, 1_000_000_000L);
      net.pools.get(1).flush();
      net.start(1, 2, config, 4711);
      t.endpoints.set(1, net.nodes.get(1).open(ENDPOINT));
      t.sent[0][1] = t.sent[1][0] = t.received[0][1] = t.received[1][0] = 0;
      // Node 0 still believes in the old session; its frames are answered with RESET.
      t.sendRound(1);
      for (int i = 0; i < 200_000 && t.downs.isEmpty(); i++) {
        net.step();
        t.receiveRound();
      }
      assertThat(t.downs).containsExactly("0 lost 1");
      t.wrong.clear();
      t.sent[0][1] = t.received[0][1] = 0;
      t.exchange(100, 2_000_000_000L);
      assertThat(t.wrong).isEmpty();
      assertThat(t.complete(100)).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 1015, 1016, 1017, 5_000, 40_000})
  void carriesMessagesLongerThanAFrame(int length) {
    try (TestNet net = new TestNet(2, 3, 11, 600, config())) {
      net.loss = 0.02;
      PmEndpoint from = net.nodes.get(0).open(ENDPOINT);
      PmEndpoint to = net.nodes.get(1).open(ENDPOINT);
      byte[] bytes = new byte[length];
      net.random.nextBytes(bytes);
      byte[] got = new byte[length];
      long[] have = {0};
      boolean[] last = {false};
      MessageHandler handler =
          m -> {
            assertThat(m.isFragment()).isTrue();
            assertThat(m.fragmentOffsetBytes()).isEqualTo(have[0]);
            assertThat(m.messageLengthBytes()).isEqualTo(length);
            java.lang.foreign.MemorySegment.copy(
                m.memory(), ValueLayout.JAVA_BYTE, m.offset(), got, (int) have[0], m.lengthBytes());
            have[0] += m.lengthBytes();
            last[0] = m.isLast();
          };
      try (var arena = java.lang.foreign.Arena.ofConfined()) {
        var source = arena.allocate(Math.max(1, length));
        source.asSlice(0, length).copyFrom(java.lang.foreign.MemorySegment.ofArray(bytes));
        from.sendLarge(
            1,
            ENDPOINT,
            source,
            0,
            length,
            work -> {
              net.step();
              to.poll(handler, 16);
            });
      }
      for (int i = 0; i < 100_000 && !last[0]; i++) {
        net.step();
        to.poll(handler, 16);
      }
      assertThat(got).isEqualTo(bytes);
    }
  }

  @Test
  void loansOutliveTheHandlerAndComeHomeInAnyOrder() {
    try (TestNet net = new TestNet(2, 2, 12, 600, config())) {
      PmEndpoint from = net.nodes.get(0).open(ENDPOINT);
      PmEndpoint to = net.nodes.get(1).open(ENDPOINT);
      List<Loan> loans = new ArrayList<>();
      int[] sent = {0};
      while (loans.size() < 100) {
        SendBuffer b = sent[0] < 100 ? from.claim(1, 8) : null;
        if (b != null) {
          b.bytes().writeLong(sent[0]++);
          from.send(b);
        }
        net.step();
        to.poll(m -> loans.add(m.retain()), 8);
      }
      for (int i = 0; i < loans.size(); i++) {
        assertThat(loans.get(i).bytes().readLong()).isEqualTo(i);
        assertThat(loans.get(i).isCopy()).isFalse();
      }
      assertThat(net.pools.get(1).ownedBy(Owner.LOAN)).isEqualTo(100);
      java.util.Collections.shuffle(loans, new java.util.Random(3));
      loans.forEach(Loan::close);
      assertThatThrownBy(loans.get(0)::close).isInstanceOf(IllegalStateException.class);
      assertAllHome(net);
    }
  }

  @Test
  void aConsumerThatNeverPollsStopsItsSendersOnly() {
    try (TestNet net = new TestNet(3, 2, 13, 600, config())) {
      Traffic t = new Traffic(net);
      long refused = 0;
      for (int i = 0; i < 20_000; i++) {
        t.sendRound(1_000);
        net.step();
        // Node 2 polls nothing; nodes 0 and 1 go on.
        t.receiveRoundOf(0);
        t.receiveRoundOf(1);
        refused = t.endpoints.get(0).claimsRefused();
      }
      assertThat(t.received[0][1]).isEqualTo(1_000);
      assertThat(t.received[1][0]).isEqualTo(1_000);
      assertThat(t.received[0][2]).isZero();
      assertThat(t.sent[0][2]).isPositive().isLessThan(200);
      assertThat(refused).isPositive();
      t.exchange(1_000, 10_000_000_000L);
      assertThat(t.wrong).isEmpty();
      assertThat(t.complete(1_000)).isTrue();
      assertAllHome(net);
    }
  }

  @Test
  void refusesBadInputByNameAndLosesNothing() {
    try (TestNet net = new TestNet(2, 1, 14, 300, config())) {
      PmEndpoint a = net.nodes.get(0).open(ENDPOINT);
      net.nodes.get(1).open(ENDPOINT);
      assertThatThrownBy(() -> a.claim(1, 1025))
          .hasMessageContaining("1025")
          .hasMessageContaining("1024");
      assertThatThrownBy(() -> a.claim(1, -1)).hasMessageContaining("-1");
      assertThatThrownBy(() -> a.claim(2, 8)).hasMessageContaining("node 2");
      assertThatThrownBy(() -> a.claim(1, 0, 8)).hasMessageContaining("endpoint 0");
      assertThatThrownBy(() -> net.nodes.get(0).open(ENDPOINT))
          .hasMessageContaining("open already");
      while (a.claim(1, 8) == null) {
        net.step();
      }
      SendBuffer b = a.claim(1, 8);
      a.send(b);
      assertThatThrownBy(() -> a.send(b)).hasMessageContaining("already");
      assertThatThrownBy(b::offset).hasMessageContaining("already");
      SendBuffer c = a.claim(1, 8);
      c.abort();
      assertThatThrownBy(c::abort).hasMessageContaining("already");
      Throwable[] thrown = new Throwable[1];
      Thread other =
          new Thread(
              () -> thrown[0] = org.assertj.core.api.Assertions.catchThrowable(() -> a.claim(1, 8)),
              "other");
      other.start();
      try {
        other.join();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      assertThat(thrown[0]).hasMessageContaining("belongs to thread").hasMessageContaining("other");
      a.close();
      assertThatThrownBy(() -> a.claim(1, 8)).hasMessageContaining("closed");
      assertThat(net.pools.get(0).ownedBy(Owner.APPLICATION)).isZero();
    }
  }

  @Test
  void sendsToItselfInOrder() {
    try (TestNet net = new TestNet(2, 1, 15, 300, config())) {
      PmEndpoint a = net.nodes.get(0).open(ENDPOINT);
      List<Long> got = new ArrayList<>();
      long sent = 0;
      while (got.size() < 500) {
        SendBuffer b = sent < 500 ? a.claim(0, 8) : null;
        if (b != null) {
          b.bytes().writeLong(sent++);
          a.send(b);
        }
        net.step();
        a.poll(m -> got.add(m.bytes().readLong()), 16);
      }
      assertThat(got).isSorted().hasSize(500).doesNotHaveDuplicates();
      assertAllHome(net);
    }
  }

  @Test
  void anEndpointThatIsOpenedAgainGoesOnWithItsCredit() {
    try (TestNet net = new TestNet(2, 2, 16, 600, config())) {
      for (int life = 0; life < 5; life++) {
        Traffic t = new Traffic(net);
        t.exchange(300, 2_000_000_000L);
        assertThat(t.wrong).isEmpty();
        assertThat(t.complete(300)).isTrue();
        // Claims that are neither sent nor aborted come home, and so does their credit.
        for (int i = 0; i < 20; i++) {
          t.endpoints.get(0).claim(1, 8);
        }
        t.endpoints.forEach(PmEndpoint::close);
        net.run(10_000_000L);
      }
      assertThat(net.nodes.get(0).counters().dropped(DropReason.NO_CREDIT)).isZero();
      assertThat(net.nodes.get(0).counters().get(Counter.PEERS_DOWN)).isZero();
      assertAllHome(net);
    }
  }

  /** Ever new numbers: each has as many loans as the first, and none is kept for the old ones. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aClosedEndpointGivesItsLoansBack(boolean loanIsOut) {
    try (TestNet net = new TestNet(1, 1, 16, 1_200, config())) {
      PmNode node = net.nodes.getFirst();
      int all = node.core.loansLeft;
      List<Loan> loans = new ArrayList<>();
      for (int number = 1; number <= 10; number++) {
        PmEndpoint endpoint = node.open(number);
        assertThat(endpoint.loans.loans()).isEqualTo(node.config().loanBuffers());
        if (loanIsOut) {
          sendToItself(net, endpoint);
          endpoint.poll(m -> loans.add(m.retain()), 1);
        }
        endpoint.close();
        assertThat(node.core.lendingCount).isEqualTo(loanIsOut ? 1 : 0);
        // The next one of this number lends on what is out.
        PmEndpoint again = node.open(number);
        assertThat(again.loans.outstanding()).isEqualTo(loanIsOut ? 1 : 0);
        again.close();
        if (loanIsOut) {
          assertThat(loans.getLast().isCopy()).isFalse();
          loans.getLast().close();
          net.step();
        }
        assertThat(node.core.lendingCount).isZero();
        assertThat(node.core.loansLeft).isEqualTo(all);
      }
      assertThat(net.pools.getFirst().ownedBy(Owner.LOAN)).isZero();
    }
  }

  private static void sendToItself(TestNet net, PmEndpoint endpoint) {
    endpoint.coalesceUpTo(-1);
    SendBuffer b = endpoint.claim(0, 8);
    for (int i = 0; i < 10 && b == null; i++) {
      net.step();
      b = endpoint.claim(0, 8);
    }
    endpoint.send(b);
    net.step();
  }

  @Test
  void reportsAPeerThatNeverAnswersAndTakesItUpWhenItComes() {
    NodeConfig config = config().withPeerTimeoutNs(100_000_000L);
    try (TestNet net = new TestNet(2, 2, 17, 600, config)) {
      Arrays.fill(net.deadRail, true);
      Traffic t = new Traffic(net);
      t.sendRound(1);
      net.run(90_000_000L);
      t.receiveRound();
      assertThat(t.downs).isEmpty();
      net.run(20_000_000L);
      t.receiveRoundOf(0);
      assertThat(t.downs).containsExactly("0 lost 1");
      assertThat(net.nodes.get(0).peerStatus().get(0).reason()).isEqualTo(DownReason.UNREACHABLE);
      net.run(3_000_000_000L);
      t.receiveRoundOf(0);
      assertThat(t.downs).as("told once").containsExactly("0 lost 1");
      Arrays.fill(net.deadRail, false);
      t.exchange(100, 3_000_000_000L);
      assertThat(t.wrong).isEmpty();
      assertThat(t.complete(100)).isTrue();
      assertAllHome(net);
    }
  }

  @Test
  void aLongMessageToAPeerThatNeverAnswersIsRefused() {
    NodeConfig config = config().withPeerTimeoutNs(50_000_000L);
    try (TestNet net = new TestNet(2, 1, 18, 600, config);
        var arena = java.lang.foreign.Arena.ofConfined()) {
      net.deadRail[0] = true;
      PmEndpoint from = net.nodes.get(0).open(ENDPOINT);
      var source = arena.allocate(5_000);
      for (int again = 0; again < 3; again++) {
        long limitNs = net.nowNs + 1_000_000_000L;
        Idle idle =
            work -> {
              assertThat(net.nowNs).as("the message waits").isLessThan(limitNs);
              net.step();
            };
        assertThatThrownBy(() -> from.sendLarge(1, ENDPOINT, source, 0, 5_000, idle))
            .isInstanceOf(PeerDownException.class);
      }
    }
  }

  /** State with one owner is reached by its owner alone, until it is handed over. */
  @Test
  void aSecondThreadThatPollsIsFoundOut() throws Exception {
    try (TestNet net = new TestNet(2, 1, 1, 200, config())) {
      PmNode node = net.nodes.get(0);
      net.run(1_000_000);
      FutureTask<Integer> stranger = new FutureTask<>(() -> node.doWork(net.nowNs));
      Thread.ofPlatform().name("stranger").start(stranger);
      assertThatThrownBy(stranger::get)
          .hasCauseInstanceOf(AssertionError.class)
          .hasMessageContaining("stranger")
          .hasMessageContaining(Thread.currentThread().getName());
      node.handOver();
      Thread heir = Thread.ofPlatform().start(() -> node.doWork(net.nowNs));
      heir.join();
      assertThatThrownBy(() -> node.doWork(net.nowNs)).isInstanceOf(AssertionError.class);
      Thread.ofPlatform().start(node::handOver).join();
      net.run(1_000_000);
    }
  }

  /** A control action of another thread runs in the midst of a round, which ends with it. */
  @Test
  void aRoundInWhichTheNodeIsClosedAsksNoPortAnyMore() throws Exception {
    TestNet net = new TestNet(1, 2, 3, 600, NodeConfig.defaults(0x1234, 1, 128));
    PmNode node = net.nodes.set(0, null);
    node.doorbell(() -> {});
    FutureTask<Boolean> closes = new FutureTask<>(() -> node.control(node::close));
    Thread.ofPlatform().start(closes);
    while (!node.isClosed() && !closes.isDone()) {
      node.doWork(net.nowNs += 1_000);
    }
    assertThat(closes.get()).isTrue();
    assertThat(net.ports[0]).allMatch(port -> port.closed);
    net.close();
  }

  /** All have more to send than their rail takes, and each gets on. */
  @Test
  void nobodyWaitsForARailsQueueWithoutEnd() {
    int peers = 40;
    NodeConfig config = NodeConfig.defaults(0x1234, 1, 8_192).withWindow(256);
    try (TestNet net = new TestNet(1 + peers, 1, 3, 9_000, config)) {
      PmEndpoint from = net.nodes.get(0).open(7);
      from.coalesceUpTo(-1);
      PmEndpoint[] to = new PmEndpoint[1 + peers];
      int[] got = new int[1 + peers];
      for (int n = 1; n <= peers; n++) {
        to[n] = net.nodes.get(n).open(7);
      }
      for (int i = 0; i < 4_000; i++) {
        if (i == 2_000) {
          net.portRoom = 1;
          Arrays.fill(got, 0);
        }
        for (int n = 1; n <= peers; n++) {
          SendBuffer b;
          while ((b = from.claim(n, 1_024)) != null) {
            from.send(b);
          }
        }
        net.step();
        for (int n = 1; n <= peers; n++) {
          int at = n;
          to[n].poll(m -> got[at]++, 64);
        }
      }
      assertThat(Arrays.stream(got).skip(1).min().orElseThrow())
          .as("of %s", Arrays.toString(got))
          .isPositive();
    }
  }

  /** Two threads would write one ring then: the handler's, as it returns, and the next one's. */
  @Test
  void anEndpointIsNotHandedOverWithinItsHandler() {
    try (TestNet net = new TestNet(1, 1, 3, 600, NodeConfig.defaults(0x1234, 1, 128))) {
      PmEndpoint endpoint = net.nodes.getFirst().open(7);
      List<String> refused = new ArrayList<>();
      for (int i = 0; i < 1_000 && refused.isEmpty(); i++) {
        SendBuffer b = endpoint.claim(0, 8);
        if (b != null) {
          endpoint.send(b);
        }
        net.step();
        endpoint.poll(
            m ->
                assertThatThrownBy(endpoint::handOver)
                    .isInstanceOf(IllegalStateException.class)
                    .satisfies(e -> refused.add(e.getMessage())),
            1);
      }
      assertThat(refused).containsExactly("handOver within a handler of endpoint 7");
      endpoint.handOver();
    }
  }

  @Test
  void aCollectiveFrameToItselfIsRefused() {
    try (TestNet net = new TestNet(2, 1, 3, 600, NodeConfig.defaults(0x1234, 1, 128))) {
      CollectiveFrames collectives = net.nodes.getFirst().collectives();
      assertThatThrownBy(() -> collectives.send(0, 0, 1, 2, 3))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("a collective frame of node 0 to itself");
      assertThat(collectives.send(1, 0, 1, 2, 3)).as("no session yet").isFalse();
    }
  }
}
