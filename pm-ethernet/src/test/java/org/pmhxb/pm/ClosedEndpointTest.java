package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What peers were granted of an endpoint that is closed (PROTOCOL.md section 6). */
class ClosedEndpointTest {
  private static final int FROM = 60_000;
  private static final int CREDIT_BUFFERS = 64;
  private static final int LARGEST_GRANT = 32;

  /** Many more numbers than there are credit buffers. */
  private static final int NUMBERS = 3 * CREDIT_BUFFERS;

  private static final NodeConfig CONFIG =
      new NodeConfig(
          0x1234, 1, 1, 64, CREDIT_BUFFERS, 1, LARGEST_GRANT, 32, 16, 1_000_000_000L, 1_024, -1);

  private static TestNet net(long seed) {
    return new TestNet(2, 2, seed, 2_000, CONFIG);
  }

  /** Messages of one endpoint to others, numbered by channel. */
  private static final class Sender {
    final TestNet net;
    final PmEndpoint endpoint;

    Sender(TestNet net) {
      this.net = net;
      endpoint = net.nodes.get(0).open(FROM);
      endpoint.coalesceUpTo(-1);
    }

    boolean send(int to, int value) {
      SendBuffer b = endpoint.claim(1, to, Integer.BYTES);
      if (b != null) {
        b.memory().set(ValueLayout.JAVA_INT_UNALIGNED, b.offset(), value);
        endpoint.send(b);
      }
      return b != null;
    }

    /** Sends within a second, while the receiver is polled. */
    void sendAll(Receiver to, int count) {
      int sent = 0;
      int before = to.got.size();
      for (int i = 0; i < 500_000 && to.got.size() < before + count; i++) {
        if (sent < count && send(to.endpoint.number(), before + sent)) {
          sent++;
        }
        round(net);
        to.poll();
      }
      assertThat(to.got).as("at endpoint %d", to.endpoint.number()).hasSize(before + count);
    }
  }

  private static final class Receiver {
    final PmEndpoint endpoint;
    final List<Integer> got = new ArrayList<>();

    Receiver(PmNode node, int number) {
      endpoint = node.open(number);
    }

    void poll() {
      endpoint.poll(
          m -> got.add(m.memory().get(ValueLayout.JAVA_INT_UNALIGNED, m.offset())),
          Integer.MAX_VALUE);
    }

    void assertInOrder() {
      for (int i = 0; i < got.size(); i++) {
        assertThat(got.get(i)).isEqualTo(i);
      }
    }
  }

  private static void round(TestNet net) {
    net.step();
    for (PmNode node : net.nodes) {
      assertThat(node.brokenBound()).isNull();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void everNewNumbersAreServedOneAfterTheOther(long seed) {
    try (TestNet net = net(seed)) {
      net.loss = 0.02;
      Sender sender = new Sender(net);
      for (int number = 1; number <= NUMBERS; number++) {
        Receiver receiver = new Receiver(net.nodes.get(1), number);
        sender.sendAll(receiver, 5);
        receiver.assertInOrder();
        receiver.endpoint.close();
      }
      assertThat(net.nodes.get(1).counters().dropped(DropReason.CREDIT_EXHAUSTED)).isZero();
    }
  }

  /** The same within one node, whose endpoints send to numbers that are not open yet, too. */
  @Test
  void everNewNumbersOfTheNodeItself() {
    try (TestNet net = net(4)) {
      PmEndpoint from = net.nodes.get(1).open(FROM);
      for (int number = 1; number <= NUMBERS; number++) {
        SendBuffer early = claim(net, from, number);
        from.send(early);
        round(net);
        Receiver receiver = new Receiver(net.nodes.get(1), number);
        SendBuffer b = claim(net, from, number);
        b.memory().set(ValueLayout.JAVA_INT_UNALIGNED, b.offset(), number);
        from.send(b);
        round(net);
        receiver.poll();
        assertThat(receiver.got).containsExactly(number);
        receiver.endpoint.close();
        round(net);
      }
    }
  }

  private static SendBuffer claim(TestNet net, PmEndpoint from, int to) {
    SendBuffer b = from.claim(1, to, Integer.BYTES);
    for (int i = 0; i < 1_000 && b == null; i++) {
      round(net);
      b = from.claim(1, to, Integer.BYTES);
    }
    assertThat(b).as("a claim for endpoint %d", to).isNotNull();
    return b;
  }

  /** What the sender was granted before counts: nobody asks for credit. */
  @Test
  void aNumberThatOpensAgainGoesOnWithItsCredit() {
    try (TestNet net = net(5)) {
      Sender sender = new Sender(net);
      Receiver first = new Receiver(net.nodes.get(1), 7);
      sender.sendAll(first, 3);
      first.endpoint.close();
      net.run(10_000_000L);

      Receiver again = new Receiver(net.nodes.get(1), 7);
      assertThat(sender.send(7, 0)).isTrue();
      round(net);
      for (int i = 0; i < 1_000 && again.got.isEmpty(); i++) {
        round(net);
        again.poll();
      }
      again.assertInOrder();
      assertThat(again.got).hasSize(1);
    }
  }

  @Test
  void aNumberOpensAgainOnlyWhenOthersLeaveWhatPeersMaySendToIt() {
    try (TestNet net = net(6)) {
      PmNode node = net.nodes.get(1);
      Sender sender = new Sender(net);
      Receiver first = new Receiver(node, 1);
      sender.sendAll(first, 3);
      first.endpoint.close();
      List<Receiver> others = new ArrayList<>();
      for (int number = 2; number < 40; number++) {
        Receiver other = new Receiver(node, number);
        others.add(other);
        sender.send(number, 0);
        net.run(5_000_000L);
        round(net);
      }

      assertThatThrownBy(() -> node.open(1))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("frames to endpoint 1, granted when it was open before")
          .hasMessageContaining("of the " + CREDIT_BUFFERS + " credit buffers")
          .hasMessageContaining("close other endpoints");
      round(net);

      others.forEach(other -> other.endpoint.close());
      Receiver again = new Receiver(node, 1);
      sender.sendAll(again, 100);
      again.assertInOrder();
    }
  }

  /**
   * What comes for it before its turn is kept while there is room, and else comes once more.
   *
   * @param others endpoints that use the budget up meanwhile
   */
  @ParameterizedTest
  @CsvSource({"11, 0", "12, 0", "13, 0", "14, 40", "15, 40", "16, 40"})
  void whoGoesOnSendingToOneThatIsClosedHoldsNobodyUp(long seed, int others) {
    try (TestNet net = net(seed)) {
      net.loss = 0.05;
      PmNode node = net.nodes.get(1);
      Sender sender = new Sender(net);
      Receiver closed = new Receiver(node, 1);
      sender.sendAll(closed, 3);
      for (int i = 0; i < 20; i++) {
        sender.send(1, i);
      }
      closed.endpoint.close();
      Receiver open = new Receiver(node, 2);
      sender.sendAll(open, 1);
      for (int number = 3; number < 3 + others; number++) {
        node.open(number);
        sender.send(number, 0);
        net.run(5_000_000L);
      }
      int sent = 1;
      for (int i = 0; i < 1_000_000 && open.got.size() < 2_000; i++) {
        sender.send(1, i);
        if (sent < 2_000 && sender.send(2, sent)) {
          sent++;
        }
        round(net);
        open.poll();
      }
      assertThat(open.got).hasSize(2_000);
      open.assertInOrder();
      assertThat(node.counters().dropped(DropReason.NO_ENDPOINT)).isGreaterThan(100);
    }
  }

  /** What is delivered from then on is in order, though frames were on their way. */
  @ParameterizedTest
  @ValueSource(longs = {21, 22, 23})
  void aNumberOpensAgainInTheMiddleOfAStream(long seed) {
    try (TestNet net = net(seed)) {
      net.loss = 0.05;
      PmNode node = net.nodes.get(1);
      Sender sender = new Sender(net);
      Receiver receiver = new Receiver(node, 1);
      sender.sendAll(receiver, 3);
      List<Integer> got = new ArrayList<>();
      for (int i = 0; i < 4_000; i++) {
        sender.send(1, i);
        round(net);
        receiver.poll();
        if (i % 200 == 199) {
          receiver.endpoint.close();
          got.addAll(receiver.got);
          round(net);
          receiver = new Receiver(node, 1);
        }
      }
      assertThat(got.subList(3, got.size())).isSorted().hasSizeGreaterThan(1_000);
    }
  }

  /** What lies in the rings to the node is sent, or was handled, before the endpoint goes. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatItsProgramDidBeforeItClosedIsDone(boolean inline) {
    try (TestNet net = new TestNet(2, 2, 7, 2_000, CONFIG, inline)) {
      Sender sender = new Sender(net);
      Receiver receiver = new Receiver(net.nodes.get(1), 7);
      sender.sendAll(receiver, 1);
      int claimed = 0;
      for (SendBuffer b; (b = sender.endpoint.claim(1, 7, Integer.BYTES)) != null; ) {
        b.memory().set(ValueLayout.JAVA_INT_UNALIGNED, b.offset(), ++claimed);
        sender.endpoint.send(b);
      }
      assertThat(claimed).isGreaterThan(1);
      sender.endpoint.close();
      net.run(5_000_000L);
      receiver.poll();
      receiver.endpoint.close();
      receiver.assertInOrder();
      assertThat(receiver.got).hasSize(1 + claimed);

      // All of it came home: the number opens again with as many.
      net.run(5_000_000L);
      Sender again = new Sender(net);
      Receiver next = new Receiver(net.nodes.get(1), 7);
      next.got.addAll(receiver.got);
      again.sendAll(next, 3 * LARGEST_GRANT);
      next.assertInOrder();
    }
  }

  /** Nobody else would ever give it back: the peer counts what it gets. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatWasClaimedAndNotSentIsThereForTheNextOfItsNumber(boolean inline) {
    try (TestNet net = new TestNet(2, 2, 8, 2_000, CONFIG, inline)) {
      Sender sender = new Sender(net);
      Receiver receiver = new Receiver(net.nodes.get(1), 7);
      sender.sendAll(receiver, 1);
      net.run(5_000_000L);
      int claimed = 0;
      while (sender.endpoint.claim(1, 7, Integer.BYTES) != null) {
        claimed++;
        round(net);
      }
      assertThat(claimed).isGreaterThan(1);
      sender.endpoint.close();

      Sender again = new Sender(net);
      again.sendAll(receiver, 3 * LARGEST_GRANT);
      receiver.assertInOrder();
    }
  }

  private static InLane lane(PmNode node, int from, int to) {
    return node.core.peer(0).lane(from, to);
  }

  /** Opens and closes it: nobody was granted anything of it. */
  private static void openAndClose(PmNode node, int number) {
    node.open(number).close();
  }

  /** The loss is of requests, of answers to them, and of limits that come back. */
  @ParameterizedTest
  @ValueSource(longs = {31, 32, 33})
  void whoAsksOnlyWhenItIsClosedGetsRidOfWhatItHasToSay(long seed) {
    try (TestNet net = net(seed)) {
      net.loss = 0.2;
      PmNode node = net.nodes.get(1);
      openAndClose(node, 1);
      Sender sender = new Sender(net);
      int sent = 0;
      for (int i = 0; i < 500_000 && sent < 50; i++) {
        sent += sender.send(1, sent) ? 1 : 0;
        round(net);
      }
      assertThat(sent).isEqualTo(50);
      for (int i = 0; i < 500_000 && sender.endpoint.acknowledged(1, 1) < 50; i++) {
        round(net);
      }
      assertThat(sender.endpoint.acknowledged(1, 1)).isEqualTo(50);
      assertThat(lane(node, FROM, 1).granted()).isOne();
      assertThat(node.core.ledger.outstanding()).isZero();
    }
  }

  @Test
  void whatIsMeantForANumberThatNeverWasOpenWaitsForIt() {
    try (TestNet net = net(34)) {
      PmNode node = net.nodes.get(1);
      openAndClose(node, 2);
      Sender sender = new Sender(net);
      for (int i = 0; i < 10_000; i++) {
        assertThat(sender.send(1, 0)).isFalse();
        round(net);
      }
      assertThat(node.counters().dropped(DropReason.NO_ENDPOINT)).isPositive();
      assertThat(node.core.peer(0).laneCount).isZero();
      Receiver receiver = new Receiver(node, 1);
      sender.sendAll(receiver, 100);
      receiver.assertInOrder();
    }
  }

  /** Whose one frame comes home each time may never ask again. */
  @Test
  void aNumberThatOpensAgainGrantsItsShareToWhoAskedMeanwhile() {
    try (TestNet net = net(35)) {
      PmNode node = net.nodes.get(1);
      Sender sender = new Sender(net);
      Receiver other = new Receiver(node, 2);
      sender.sendAll(other, 1);
      int share = lane(node, FROM, 2).granted();
      assertThat(share).isGreaterThan(1);
      openAndClose(node, 1);
      sender.send(1, 0);
      net.run(5_000_000L);
      assertThat(sender.send(1, 0)).isTrue();
      net.run(5_000_000L);
      assertThat(lane(node, FROM, 1).granted()).isOne();
      assertThat(node.core.ledger.outstanding()).isEqualTo(share);
      assertThat(node.core.retired(1).scantFrames).isOne();

      Receiver again = new Receiver(node, 1);
      round(net);
      assertThat(lane(node, FROM, 1).granted()).isEqualTo(share);
      assertThat(node.core.ledger.outstanding()).isEqualTo(2 * share);
      net.run(5_000_000L);
      for (int i = 0; i < share; i++) {
        assertThat(sender.send(1, i)).as("message %d", i).isTrue();
      }
      assertThat(sender.send(1, share)).isFalse();
      net.run(5_000_000L);
      again.poll();
      assertThat(again.got).hasSize(share);
      sender.sendAll(again, 100);
      again.assertInOrder();
      again.endpoint.close();
      assertThat(node.core.retired(1).scantFrames).as("since it closed").isZero();
      assertThat(node.core.ledger.outstanding()).isEqualTo(share);
    }
  }

  /** Of ever new numbers nothing is kept, and each opens again. */
  @Test
  void closedNumbersGrantWithoutEnd() {
    try (TestNet net = net(36)) {
      PmNode node = net.nodes.get(1);
      Sender sender = new Sender(net);
      for (int number = 1; number <= NUMBERS; number++) {
        openAndClose(node, number);
      }
      for (int number = 1; number <= NUMBERS; number++) {
        sender.endpoint.send(claim(net, sender.endpoint, number));
      }
      net.run(5_000_000L);
      assertThat(node.core.peer(0).laneCount).isEqualTo((short) NUMBERS);
      assertThat(node.core.ledger.outstanding()).isZero();
      assertThat(node.counters().dropped(DropReason.CREDIT_EXHAUSTED)).isZero();
      for (int number = 1; number <= NUMBERS; number++) {
        Receiver again = new Receiver(node, number);
        sender.sendAll(again, 5);
        again.assertInOrder();
        again.endpoint.close();
        round(net);
      }
      assertThat(node.core.ledger.outstanding()).isZero();
    }
  }

  /** Who asks from ever more endpoints alone does not keep a number from opening again. */
  @Test
  void aClosedNumberGrantsNoMoreFramesThanItNeedsToOpenAgain() {
    try (TestNet net = net(37)) {
      PmNode node = net.nodes.get(1);
      openAndClose(node, 1);
      Sender sender = new Sender(net);
      Receiver other = new Receiver(node, 2);
      sender.sendAll(other, 1);
      int left = node.core.ledger.left();
      List<PmEndpoint> many = new ArrayList<>();
      for (int i = 1; i <= 2 * CREDIT_BUFFERS; i++) {
        many.add(net.nodes.get(0).open(FROM + i));
        many.getLast().claim(1, 1, 0);
      }
      for (int i = 0; i < 5_000; i++) {
        round(net);
      }
      assertThat(node.core.retired(1).scantFrames).isEqualTo(left);
      assertThat(node.core.ledger.left()).isEqualTo(left);
      assertThat(node.counters().dropped(DropReason.CREDIT_EXHAUSTED)).isPositive();

      PmEndpoint again = node.open(1);
      round(net);
      assertThat(node.core.ledger.left()).as("one frame each is all there is").isZero();
      again.close();
      round(net);
      assertThat(node.core.ledger.left()).isEqualTo(left);

      net.nodes.get(0).quit();
      for (int i = 0; i < 5_000; i++) {
        round(net);
      }
      other.poll();
      assertThat(node.core.peer(0).laneCount).isZero();
      assertThat(node.core.ledger.outstanding()).isZero();
    }
  }

  @Test
  void theNextSessionAsksAClosedNumberAnew() {
    try (TestNet net = net(38)) {
      PmNode node = net.nodes.get(1);
      openAndClose(node, 1);
      Sender sender = new Sender(net);
      for (int i = 0; i < 3; i++) {
        sender.endpoint.send(claim(net, sender.endpoint, 1));
        net.run(5_000_000L);
        assertThat(node.core.retired(1).scantFrames).isOne();

        Arrays.fill(net.deadRail, true);
        for (int n = 0; n < 2_000 && node.core.peer(0).lanes != null; n++) {
          net.run(2_000_000L);
        }
        Arrays.fill(net.deadRail, false);
        assertThat(node.core.peer(0).laneCount).isZero();
        assertThat(node.core.retired(1).scantFrames).isZero();
        net.run(2_000_000_000L);
      }
      Receiver again = new Receiver(node, 1);
      sender.sendAll(again, 100);
    }
  }

  /**
   * What comes before its turn is kept while there is room, and else comes once more; the number
   * opens again while some waits.
   *
   * @param others endpoints that use the budget up meanwhile
   */
  @ParameterizedTest
  @CsvSource({"41, 0", "42, 0", "43, 0", "44, 40", "45, 40", "46, 40"})
  void oneFrameAtATimeHoldsNobodyUp(long seed, int others) {
    try (TestNet net = net(seed)) {
      net.loss = 0.05;
      net.jitterNs = 20_000;
      PmNode node = net.nodes.get(1);
      Sender sender = new Sender(net);
      openAndClose(node, 1);
      Receiver open = new Receiver(node, 2);
      sender.sendAll(open, 1);
      sender.endpoint.send(claim(net, sender.endpoint, 1));
      List<PmEndpoint> fillers = new ArrayList<>();
      for (int number = 3; number < 3 + others; number++) {
        fillers.add(node.open(number));
        sender.send(number, 0);
        net.run(5_000_000L);
      }
      int sent = 1;
      int last = 0;
      Receiver again = null;
      for (int i = 0; i < 1_000_000 && open.got.size() < 2_000; i++) {
        if (sender.send(1, last)) {
          last++;
        }
        if (sent < 2_000 && sender.send(2, sent)) {
          sent++;
        }
        round(net);
        open.poll();
        if (sent == 1_000 && again == null) {
          fillers.forEach(PmEndpoint::close);
          again = new Receiver(node, 1);
        }
        if (again != null) {
          again.poll();
        }
      }
      assertThat(open.got).hasSize(2_000);
      open.assertInOrder();
      assertThat(again.got).isSorted().doesNotHaveDuplicates().hasSizeGreaterThan(100);
      assertThat(node.counters().dropped(DropReason.NO_ENDPOINT)).isPositive();
    }
  }
}
