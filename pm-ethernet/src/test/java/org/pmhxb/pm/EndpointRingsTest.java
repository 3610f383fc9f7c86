package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.bufpool.Owner;

/** What credit and claims promise finds its place in the rings between program and node. */
class EndpointRingsTest {
  private static final int ENDPOINT = 7;

  /** The inbox of 2 nodes has 1,024 places for it: less than twice as many. */
  private static final int CREDIT = 950;

  private static final int EACH = 4_000;

  private static TestNet net(
      int windowFrames, int credit, int grant, int claims, int capacity, boolean inline) {
    NodeConfig config =
        new NodeConfig(
            0x1234, 1, 1, windowFrames, credit, 1, grant, claims, 16, 5_000_000_000L, 1_024, -1);
    return new TestNet(2, 1, 3, capacity, config, inline);
  }

  /** Two programs on one thread, one of which receives from both. */
  private static final class Flood implements MessageHandler {
    final TestNet net;
    final PmEndpoint[] from;
    final int[] sent = new int[2];
    final int[] got = new int[2];

    Flood(TestNet net) {
      this.net = net;
      this.from =
          new PmEndpoint[] {net.nodes.get(0).open(ENDPOINT), net.nodes.get(1).open(ENDPOINT)};
      for (PmEndpoint endpoint : from) {
        endpoint.coalesceUpTo(-1);
      }
    }

    /** All that there is credit for. */
    void send() {
      for (int node = 0; node < 2; node++) {
        SendBuffer b;
        while (sent[node] < EACH && (b = from[node].claim(1, 4)) != null) {
          b.memory().set(ValueLayout.JAVA_INT_UNALIGNED, b.offset(), sent[node]++);
          from[node].send(b);
        }
      }
      net.step();
    }

    @Override
    public void onMessage(Message m) {
      assertThat(m.memory().get(ValueLayout.JAVA_INT_UNALIGNED, m.offset()))
          .isEqualTo(got[m.source()]++);
      send();
    }
  }

  /** Asking for credit may fail, for it can be repeated; what is sent has no second chance. */
  @Test
  void whoAsksForCreditLeavesRoomForWhatIsSent() {
    try (TestNet net = net(64, 16, 16, 4, 600, false)) {
      PmEndpoint from = net.nodes.get(0).open(ENDPOINT);
      net.nodes.get(1).open(ENDPOINT);
      SendBuffer b;
      while ((b = from.claim(1, 4)) == null) {
        net.step();
      }
      int last = 2_000;
      for (int other = 1_000; other <= last; other++) {
        assertThat(from.claim(1, other, 4)).isNull();
      }
      from.send(b);
      net.run(10_000_000);
      assertThat(from.acknowledged(1)).isOne();
      int room = from.toNode.room();
      assertThat(from.claim(1, last, 4)).isNull();
      assertThat(from.toNode.room()).as("what found no room is asked again").isEqualTo(room - 1);
    }
  }

  /** More ends of sessions than the inbox has places for beside what credit promises. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void endsOfSessionsThatFoundNoRoomAreToldInOrderWhenThereIsSome(boolean inline) {
    try (TestNet net = net(64, CREDIT, 64, 4, 2_048, inline)) {
      PmEndpoint to = net.nodes.get(1).open(ENDPOINT);
      List<String> told = new ArrayList<>();
      List<String> expected = new ArrayList<>();
      MessageHandler handler = ends(told);
      // Two looks at the endpoint: the second knows that it asks for nothing.
      net.step();
      net.step();
      int places = to.inbox.room() - CREDIT;
      for (int peer = 1; peer <= places + 4; peer++) {
        to.deliverPeerDown(peer, 7);
        expected.add(peer + " of 7");
      }
      net.step();
      net.step();
      assertThat(to.inbox.size()).as("credit's places stay free").isEqualTo(places);
      assertThat(to.poll(handler, 2)).isEqualTo(2);
      // There is room again, for those that wait already; who flaps meanwhile is told of once.
      to.deliverPeerDown(places + 5, 7);
      expected.add(places + 5 + " of 7");
      to.deliverPeerDown(places + 3, 8);
      expected.remove(places + 3 + " of 7");
      expected.add(places + 3 + " of 8");
      net.step();
      assertThat(to.inbox.size()).isEqualTo(places);
      for (int i = 0; i < 10; i++) {
        to.poll(handler, 1);
        net.step();
      }
      to.poll(handler, Integer.MAX_VALUE);
      assertThat(told).isEqualTo(expected);
    }
  }

  /**
   * Unread messages take no place of an end's; ends of others may. Then what comes in the next
   * session waits for the end of the last.
   */
  @ParameterizedTest
  @CsvSource({"true, 0", "false, 0", "true, 74", "false, 74"})
  void theEndOfASessionIsToldBeforeWhatComesInTheNext(boolean inline, int others) {
    NodeConfig config =
        new NodeConfig(0x1234, 1, 1, 256, CREDIT, 1, 256, 256, 16, 5_000_000_000L, 2_048, -1);
    try (TestNet net = new TestNet(2, 1, 3, 2_048, config, inline)) {
      PmEndpoint to = net.nodes.get(1).open(ENDPOINT);
      List<String> told = new ArrayList<>();
      MessageHandler handler = inOrder(told);
      List<String> expected = new ArrayList<>();
      net.step();
      net.step();
      assertThat(to.inbox.room() - CREDIT).isEqualTo(74);
      for (int i = 0; i < others; i++) {
        to.deliverPeerDown(1, 7);
        expected.add("1 is down");
      }
      PmEndpoint from = net.nodes.get(0).open(ENDPOINT);
      from.coalesceUpTo(-1);
      for (int i = 0; i < 100; i++) {
        sendNumber(net, from, i);
        expected.add("" + i);
      }
      net.run(1_000_000);
      assertThat(to.inbox.size()).isEqualTo(others + 100);
      net.nodes.get(0).close();
      net.pools.get(0).close();
      net.start(0, 2, config, 99);
      net.run(1_000_000);

      PmEndpoint again = net.nodes.get(0).open(ENDPOINT);
      boolean sent = sends(net, again, 5_000, () -> {});
      assertThat(sent).as("while nobody polls").isEqualTo(others == 0);
      if (!sent) {
        sent = sends(net, again, 50_000, () -> to.poll(handler, 1));
      }
      assertThat(sent).isTrue();
      for (int i = 0; i < 5_000; i++) {
        to.poll(handler, 1);
        net.step();
      }
      expected.add("0 is down");
      expected.add("1000");
      assertThat(told).isEqualTo(expected);
    }
  }

  /** Whether it could be sent in so many steps. */
  private static boolean sends(TestNet net, PmEndpoint from, int steps, Runnable meanwhile) {
    for (int i = 0; i < steps; i++) {
      SendBuffer b = from.claim(1, 4);
      if (b != null) {
        b.memory().set(ValueLayout.JAVA_INT_UNALIGNED, b.offset(), 1_000);
        from.send(b);
        return true;
      }
      meanwhile.run();
      net.step();
    }
    return false;
  }

  private static void sendNumber(TestNet net, PmEndpoint from, int number) {
    SendBuffer b = from.claim(1, 4);
    while (b == null) {
      net.step();
      b = from.claim(1, 4);
    }
    b.memory().set(ValueLayout.JAVA_INT_UNALIGNED, b.offset(), number);
    from.send(b);
    net.step();
  }

  private static MessageHandler inOrder(List<String> told) {
    return new MessageHandler() {
      @Override
      public void onMessage(Message m) {
        told.add("" + m.memory().get(ValueLayout.JAVA_INT_UNALIGNED, m.offset()));
      }

      @Override
      public void onPeerDown(int node, int session) {
        told.add(node + " is down");
      }
    };
  }

  private static MessageHandler ends(List<String> told) {
    return new MessageHandler() {
      @Override
      public void onMessage(Message m) {
        throw new AssertionError("nobody sent one");
      }

      @Override
      public void onPeerDown(int node, int session) {
        told.add(node + " of " + session);
      }
    };
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void noMessageIsLostForWantOfAPlace(boolean inline) {
    try (TestNet net = net(1_024, CREDIT, 1_024, 1_024, 8_192, inline)) {
      net.delayNs = 2 * TestNet.STEP_NS;
      Flood flood = new Flood(net);
      for (int i = 0; i < 2_000; i++) {
        flood.send();
      }
      int waiting = flood.from[1].inbox.size();
      assertThat(waiting).as("the test fills the inbox").isGreaterThan(CREDIT * 3 / 4);
      for (int i = 0; i < 20_000 && flood.got[0] + flood.got[1] < 2 * EACH; i++) {
        flood.from[1].poll(flood, Integer.MAX_VALUE);
        flood.send();
      }
      net.run(10_000_000);
      assertThat(flood.got).containsExactly(EACH, EACH);
      assertThat(flood.from[0].acknowledged(1)).isEqualTo(EACH);
      assertThat(flood.from[1].acknowledged(1)).isEqualTo(EACH);
      assertThat(net.pools.get(1).ownedBy(Owner.INBOX)).isZero();
      assertThat(net.nodes.get(1).brokenBound()).isNull();
    }
  }
}
