package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
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
}
