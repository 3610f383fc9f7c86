package org.pmhxb.router.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.ffi.Hugepages;
import org.pmhxb.ffi.NativeException;
import org.pmhxb.ffi.Ports;
import org.pmhxb.ffi.Rings;
import org.pmhxb.pm.Counter;
import org.pmhxb.pm.DownReason;
import org.pmhxb.pm.Message;
import org.pmhxb.pm.MessageHandler;
import org.pmhxb.pm.PeerListener;
import org.pmhxb.pm.PeerState;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.PollIdle;
import org.pmhxb.pm.SendBuffer;
import org.pmhxb.pm.wire.FrameHeader;
import org.pmhxb.router.Shape;

/** Whole clusters over DPDK net_ring: every pair, relays, loss, zero copy, nothing left. */
class RingClusterTest {
  private static final int ENDPOINT = 1;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

  /** Of one round: no pause of the machine makes a frame late. */
  private static final long ROUND_NS = 20_000;

  private long nowNs = System.nanoTime();

  private long now() {
    nowNs += ROUND_NS;
    return nowNs;
  }

  /** Else the last of many would leave DPDK's own heap without any. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void aClusterThatDoesNotFindHugePagesForAllHasThemForNone(int missing) {
    RingCluster.Options options = RingCluster.Options.of(Shape.of(5), 1);
    long needed = RingCluster.hugepages(options);
    boolean all = missing == 0 && Hugepages.freePages() >= needed;
    try (RingCluster cluster = RingCluster.create(options, needed - missing)) {
      List<Boolean> huge = new ArrayList<>();
      for (int node = 0; node < cluster.size(); node++) {
        huge.add(cluster.pool(node).hugepages());
      }
      assertThat(huge).hasSize(5).containsOnly(all);
      for (int round = 0; round < 10_000 && !cluster.isComplete(); round++) {
        cluster.doWork(now());
      }
      assertThat(cluster.isComplete()).isTrue();
    }
  }

  /** Clusters of one process share its ports: this one finds two of the three that it needs. */
  @Test
  void aClusterThatDoesNotFindAllItsPortsLeavesNone() {
    RingCluster.Options options = RingCluster.Options.of(Shape.of(4), 9);
    RingCluster.create(options).close(); // starts DPDK
    long ring = Rings.create("others", 64, true, true);
    long[] rings = {ring};
    List<Integer> others = new ArrayList<>();
    try {
      while (Ports.count() < Ports.MAX_PORTS - 2) {
        others.add(Rings.port("others" + others.size(), rings, rings));
      }
      assertThatThrownBy(() -> RingCluster.create(options))
          .isInstanceOf(NativeException.class)
          .hasMessageContaining("all 32 ports are taken");
      assertThat(Ports.MAX_PORTS - Ports.count()).isEqualTo(2);
      Ports.close(others.removeLast());
      try (RingCluster cluster = RingCluster.create(options)) {
        for (int round = 0; round < 10_000 && !cluster.isComplete(); round++) {
          cluster.doWork(now());
        }
        assertThat(cluster.isComplete()).isTrue();
      }
    } finally {
      others.forEach(Ports::close);
      Rings.free(ring);
    }
  }

  @Test
  void aClusterWhoseNodesAreRefusedLeavesNoPorts() {
    RingCluster.Options options = RingCluster.Options.of(Shape.of(2), 1);
    RingCluster.create(options).close(); // starts DPDK
    int before = Ports.count();
    assertThatThrownBy(() -> RingCluster.create(options.withPeerTimeoutNs(1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("peerTimeoutNs");
    assertThat(Ports.count()).isEqualTo(before);
  }

  /** Refused at one node, it is at all: each goes on, and is closed later. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aClusterOfOneThreadIsNotClosedFromWithin(boolean inHandler) {
    RingCluster cluster = RingCluster.create(RingCluster.Options.of(Shape.of(2), 1));
    try {
      List<Throwable> refused = new ArrayList<>();
      PmEndpoint to = cluster.node(0).open(ENDPOINT);
      PmEndpoint from = cluster.node(1).open(ENDPOINT);
      MessageHandler handler =
          m -> refused.add(catchThrowable(inHandler ? cluster::close : () -> {}));
      if (!inHandler) {
        cluster.node(0).peerListener(closesAtUp(cluster, refused));
      }
      for (int message = 0; message < 2; message++) {
        int before = refused.size();
        SendBuffer b = null;
        for (int round = 0; round < 10_000 && refused.size() == before; round++) {
          if (b == null) {
            b = from.claim(0, Long.BYTES);
            if (b != null) {
              from.send(b);
            }
          }
          cluster.doWork(now());
          to.poll(handler, 1);
        }
        assertThat(refused).hasSizeGreaterThan(before);
      }
      assertThat(refused.getFirst())
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("close within");
      assertThat(cluster.node(0).peerState(1)).isEqualTo(PeerState.UP);
      cluster.closeTraffic();
      assertThat(cluster.leakedBuffers()).isZero();
    } finally {
      cluster.close();
    }
  }

  /** The rest of the first close would be left without its pools. */
  @Test
  void aCloseWithinACloseIsRefused() {
    RingCluster cluster = RingCluster.create(RingCluster.Options.of(Shape.of(2), 1));
    List<Throwable> refused = new ArrayList<>();
    try {
      cluster
          .node(0)
          .peerListener(
              new PeerListener() {
                @Override
                public void onPeerUp(int peer, int session) {}

                @Override
                public void onPeerDown(int peer, int session, DownReason reason, int last) {
                  refused.add(catchThrowable(cluster::close));
                }
              });
      cluster.node(0).connect(1);
      for (int i = 0; i < 10_000 && cluster.node(0).peerState(1) != PeerState.UP; i++) {
        cluster.doWork(now());
      }
      assertThat(cluster.node(0).peerState(1)).isEqualTo(PeerState.UP);
      cluster.closeTraffic();
      assertThat(refused).singleElement().isInstanceOf(IllegalStateException.class);
      assertThat(cluster.leakedBuffers()).isZero();
    } finally {
      cluster.close();
    }
  }

  private static PeerListener closesAtUp(RingCluster cluster, List<Throwable> refused) {
    return new PeerListener() {
      @Override
      public void onPeerUp(int peer, int session) {
        refused.add(catchThrowable(cluster::close));
      }

      @Override
      public void onPeerDown(int peer, int session, DownReason reason, int lastAcknowledgedSeq) {}
    };
  }

  /** All-to-all traffic of numbered messages. */
  private final class Traffic {
    final RingCluster cluster;
    final List<PmEndpoint> endpoints = new ArrayList<>();
    final int n;
    final long[][] sent;
    final long[][] received;
    final List<String> wrong = new ArrayList<>();

    Traffic(RingCluster cluster) {
      this.cluster = cluster;
      this.n = cluster.size();
      this.sent = new long[n][n];
      this.received = new long[n][n];
      for (int i = 0; i < n; i++) {
        endpoints.add(cluster.node(i).open(ENDPOINT));
      }
    }

    int sendRound(long each, int sizeBytes) {
      int count = 0;
      for (int s = 0; s < n; s++) {
        for (int d = 0; d < n; d++) {
          SendBuffer b = s != d && sent[s][d] < each ? endpoints.get(s).claim(d, sizeBytes) : null;
          if (b != null) {
            b.memory().set(LONG, b.offset(), sent[s][d]++);
            endpoints.get(s).send(b);
            count++;
          }
        }
      }
      return count;
    }

    void receive(int self, Message m) {
      long v = m.memory().get(LONG, m.offset());
      if (v != received[m.source()][self]++) {
        wrong.add(m.source() + "->" + self + ": " + v);
      }
    }

    void pollAll(MessageHandler[] handlers) {
      for (int d = 0; d < n; d++) {
        endpoints.get(d).poll(handlers[d], 64);
      }
    }

    MessageHandler[] handlers() {
      MessageHandler[] handlers = new MessageHandler[n];
      for (int d = 0; d < n; d++) {
        int self = d;
        handlers[d] = m -> receive(self, m);
      }
      return handlers;
    }

    boolean complete(long each) {
      for (int s = 0; s < n; s++) {
        for (int d = 0; d < n; d++) {
          if (s != d && received[s][d] < each) {
            return false;
          }
        }
      }
      return true;
    }

    void run(long each, int sizeBytes, boolean inline) {
      MessageHandler[] handlers = handlers();
      long until = System.nanoTime() + 60_000_000_000L;
      while (!complete(each) && System.nanoTime() < until) {
        sendRound(each, sizeBytes);
        if (inline) {
          cluster.doWork(now());
        }
        pollAll(handlers);
      }
      assertThat(wrong).isEmpty();
      assertThat(complete(each)).as("all messages arrived").isTrue();
    }

    long sum(Counter counter) {
      long sum = 0;
      for (int i = 0; i < n; i++) {
        sum += cluster.node(i).counters().get(counter);
      }
      return sum;
    }
  }

  private void settle(RingCluster cluster) {
    long until = nowNs + 300_000_000L;
    while (nowNs < until) {
      cluster.doWork(now());
    }
  }

  @ParameterizedTest
  @CsvSource({"2x2x2, 2", "4, 1", "3x3, 3", "1x1x1, 1", "2, 9"})
  void everyPairTalksThroughRelays(String shape, int rails) {
    RingCluster cluster = RingCluster.create(RingCluster.Options.of(Shape.parse(shape), rails));
    try (cluster) {
      Traffic traffic = new Traffic(cluster);
      traffic.run(200, 1000, true);
      settle(cluster);
      boolean relays = Shape.parse(shape).dimensions() > 1 && cluster.size() > 2;
      if (relays) {
        assertThat(traffic.sum(Counter.RELAYED)).isPositive();
      }
      assertThat(traffic.sum(Counter.RESENT)).isZero();
      cluster.closeTraffic();
      assertThat(cluster.leakedBuffers()).isZero();
    }
  }

  /** A machine of one node has no rails: it starts, and speaks to itself. */
  @Test
  void aSingleNodeNeedsNoRail() {
    try (RingCluster cluster = RingCluster.create(RingCluster.Options.of(Shape.of(1), 1))) {
      PmEndpoint endpoint = cluster.node(0).open(ENDPOINT);
      List<Long> got = new ArrayList<>();
      boolean sent = false;
      for (int i = 0; i < 10; i++) {
        SendBuffer buffer = sent ? null : endpoint.claim(0, 8);
        if (buffer != null) {
          buffer.putLong(0, 42);
          endpoint.send(buffer);
          sent = true;
        }
        cluster.doWork(now());
        endpoint.poll(m -> got.add(m.memory().get(LONG, m.offset())), 8);
      }
      assertThat(got).containsExactly(42L);
    }
  }

  /** Its way goes up or down the numbers of the nodes; turns go the one way or the other. */
  @ParameterizedTest
  @CsvSource({"0, 1", "1, 0", "0, 3", "3, 0", "0, 7", "7, 0"})
  void relaysTakeNoRoundOfTheirOwn(int from, int to) {
    RingCluster cluster = RingCluster.create(RingCluster.Options.of(Shape.parse("2x2x2"), 1));
    try (cluster) {
      Traffic traffic = new Traffic(cluster);
      traffic.run(20, 100, true);
      settle(cluster);
      MessageHandler[] handlers = traffic.handlers();
      for (int i = 21; i < 31; i++) {
        SendBuffer b = traffic.endpoints.get(from).claim(to, 100);
        b.memory().set(LONG, b.offset(), traffic.sent[from][to]++);
        traffic.endpoints.get(from).send(b);
        cluster.doWork(now());
        cluster.doWork(now());
        traffic.pollAll(handlers);
        assertThat(traffic.received[from][to]).as("message %d", i).isEqualTo(i);
        if (i % 2 == 0) {
          cluster.doWork(now()); // the next one begins with the other turn
        }
      }
      assertThat(traffic.wrong).isEmpty();
    }
  }

  @Test
  void resendsWhatTheWireLoses() {
    RingCluster.Options options =
        RingCluster.Options.of(Shape.parse("2x2x2"), 2).withLoss(0.02, 42);
    try (RingCluster cluster = RingCluster.create(options)) {
      Traffic traffic = new Traffic(cluster);
      traffic.run(500, 1000, true);
      settle(cluster);
      assertThat(cluster.framesLost()).isPositive();
      assertThat(traffic.sum(Counter.RESENT)).isPositive();
      cluster.closeTraffic();
      assertThat(cluster.leakedBuffers()).isZero();
    }
  }

  @Test
  void aPollThreadMakesProgressForPrograms() {
    RingCluster.Options options = RingCluster.Options.of(Shape.parse("2x2"), 2).dedicated();
    try (RingCluster cluster = RingCluster.create(options)) {
      cluster.startPolling(PollIdle.BACKOFF, -1);
      Traffic traffic = new Traffic(cluster);
      traffic.run(2_000, 1000, false);
      traffic.endpoints.forEach(PmEndpoint::close);
      cluster.closeTraffic();
      assertThat(cluster.leakedBuffers()).isZero();
    }
  }

  /** A listener that throws when its node closes keeps no other node open. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void everyNodeClosesThoughListenersThrow(boolean inline) {
    RingCluster.Options options = RingCluster.Options.of(Shape.of(3), 1);
    RingCluster cluster = RingCluster.create(inline ? options : options.dedicated());
    List<Integer> ends = Collections.synchronizedList(new ArrayList<>());
    for (int i = 0; i < 2; i++) {
      cluster.node(i).peerListener(new Thrower(i, ends));
    }
    if (!inline) {
      cluster.startPolling(PollIdle.BACKOFF, -1);
    }
    Traffic traffic = new Traffic(cluster);
    traffic.run(10, 100, inline);
    traffic.endpoints.forEach(PmEndpoint::close);

    Throwable thrown = catchThrowable(cluster::closeTraffic);
    Throwable first = inline ? thrown : thrown.getCause();
    assertThat(first).hasMessage("node 0");
    assertThat(Arrays.stream(first.getSuppressed()).map(Throwable::getMessage)).contains("node 1");
    assertThat(ends).contains(0, 1);
    for (int i = 0; i < 3; i++) {
      int node = i;
      assertThatThrownBy(() -> cluster.node(node).open(9))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("node " + i + " is closed");
    }
    assertThat(cluster.leakedBuffers()).isZero();
    cluster.close();
  }

  private record Thrower(int node, List<Integer> ends) implements PeerListener {
    @Override
    public void onPeerUp(int peer, int session) {}

    @Override
    public void onPeerDown(int peer, int session, DownReason reason, int lastAcknowledgedSeq) {
      ends.add(node);
      throw new IllegalStateException("node " + node);
    }
  }

  /**
   * Zero copy by buffer ID and by a write: the tap stamps the buffer's ID into the payload after
   * the receive burst, and the callback finds in the message the ID of the buffer that it looks at.
   * The CRC is mended after the stamp, as the tap stands before the checks.
   */
  @ParameterizedTest
  @CsvSource({"2, 1, 0", "2, 4, 0", "2x2x2, 2, 0", "2x2x2, 2, 0.05"})
  void theCallbackSeesTheBufferOfTheReceiveBurst(String shape, int rails, double loss) {
    RingCluster.Options options =
        RingCluster.Options.of(Shape.parse(shape), rails).withLoss(loss, 7);
    try (RingCluster cluster = RingCluster.create(options)) {
      Traffic traffic = new Traffic(cluster);
      // A message behind another in one frame would lie where the tap stamps nothing.
      traffic.endpoints.forEach(e -> e.coalesceUpTo(-1));
      java.util.BitSet railsSeen = new java.util.BitSet();
      for (int i = 0; i < cluster.size(); i++) {
        int self = i;
        var crc = new org.pmhxb.pm.wire.FrameCrc(cluster.pool(i).memory());
        cluster
            .node(i)
            .tap(
                (rail, id, frames, at, length) -> {
                  boolean last = FrameHeader.dst(frames, at) == self;
                  if (last && FrameHeader.kind(frames, at) == FrameHeader.DATA) {
                    railsSeen.set(rail);
                    frames.set(LONG, at + FrameHeader.BYTES + 8, id);
                    frames.set(LONG, at + FrameHeader.BYTES + 16, ~at);
                    FrameHeader.crc(frames, at, crc.of(at, FrameHeader.length(frames, at)));
                  }
                });
      }
      long[] checked = {0};
      MessageHandler[] handlers = new MessageHandler[cluster.size()];
      for (int d = 0; d < handlers.length; d++) {
        int self = d;
        handlers[d] =
            m -> {
              traffic.receive(self, m);
              assertThat(m.memory().get(LONG, m.offset() + 8)).isEqualTo(m.bufferId());
              assertThat(m.memory().get(LONG, m.offset() + 16))
                  .isEqualTo(~(m.offset() - FrameHeader.BYTES));
              checked[0]++;
            };
      }
      long each = 300;
      long until = System.nanoTime() + 60_000_000_000L;
      while (!traffic.complete(each) && System.nanoTime() < until) {
        traffic.sendRound(each, 64);
        cluster.doWork(now());
        traffic.pollAll(handlers);
      }
      assertThat(traffic.wrong).isEmpty();
      int pairs = cluster.size() * (cluster.size() - 1);
      assertThat(checked[0]).isEqualTo(each * pairs);
      assertThat(railsSeen.cardinality())
          .as("rails that data came over")
          .isEqualTo(new org.pmhxb.router.RailLayout(Shape.parse(shape), rails).count());
      if (loss > 0) {
        assertThat(traffic.sum(Counter.OUT_OF_ORDER)).isPositive();
      }
    }
  }

  /** Its senders run out of credit and hear of it; everybody else goes on; nothing is lost. */
  @Test
  void aProgramThatNeverPollsHoldsUpItsSendersAlone() {
    try (RingCluster cluster = RingCluster.create(RingCluster.Options.of(Shape.of(3), 2))) {
      Traffic traffic = new Traffic(cluster);
      MessageHandler[] handlers = traffic.handlers();
      int deaf = 2;
      long untilNs = System.nanoTime() + 60_000_000_000L;
      boolean refused = false;
      while (!refused || traffic.received[0][1] < 5_000) {
        assertThat(System.nanoTime() - untilNs).isNegative();
        long before = traffic.sent[0][deaf];
        traffic.sendRound(Long.MAX_VALUE, 500);
        refused |= before > 0 && traffic.sent[0][deaf] == before;
        cluster.doWork(now());
        for (int node = 0; node < deaf; node++) {
          traffic.endpoints.get(node).poll(handlers[node], 64);
        }
      }
      assertThat(traffic.received[0][deaf]).isZero();
      assertThat(cluster.node(0).peerState(deaf)).isEqualTo(PeerState.UP);
      long sent = traffic.sent[0][deaf];
      while (traffic.received[0][deaf] < sent) {
        assertThat(System.nanoTime() - untilNs).isNegative();
        cluster.doWork(now());
        traffic.pollAll(handlers);
      }
      settle(cluster);
      assertThat(traffic.wrong).isEmpty();
      cluster.closeTraffic();
      assertThat(cluster.leakedBuffers()).isZero();
    }
  }
}
