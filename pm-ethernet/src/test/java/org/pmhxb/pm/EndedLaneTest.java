package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What an ended session left in an inbox, and the credit of the next (PROTOCOL.md section 6). */
class EndedLaneTest {
  private static final int ENDPOINT = 7;
  private static final int LEFT = 5;
  private static final long MS = 1_000_000L;
  private static final long TIMEOUT_NS = 20 * MS;
  private static final NodeConfig CONFIG =
      new NodeConfig(0x1234, 1, 1, 64, 64, 1, 32, 32, 16, TIMEOUT_NS, 1_024, -1);

  private static final class Program implements MessageHandler {
    final PmEndpoint endpoint;
    int got;
    int downs;

    Program(PmNode node) {
      endpoint = node.open(ENDPOINT);
      endpoint.coalesceUpTo(-1);
    }

    @Override
    public void onMessage(Message m) {
      got++;
    }

    @Override
    public void onPeerDown(int node, int session) {
      downs++;
    }

    void poll() {
      endpoint.poll(this, Integer.MAX_VALUE);
    }
  }

  private final TestNet net = new TestNet(2, 1, 11, 2_000, CONFIG);
  private final Program asks = new Program(net.nodes.get(0));
  private final Program replies = new Program(net.nodes.get(1));

  private void send(Program from, int to) {
    SendBuffer b = null;
    for (int i = 0; i < 100_000 && b == null; i++) {
      b = from.endpoint.claim(to, Integer.BYTES);
      net.step();
    }
    assertThat(b).as("a claim within 200 ms").isNotNull();
    b.memory().set(ValueLayout.JAVA_INT_UNALIGNED, b.offset(), to);
    from.endpoint.send(b);
    net.run(MS);
  }

  /** Who names other endpoints in each session would else be refused some day, for good. */
  @Test
  void channelsOfEndedSessionsAreForgotten() {
    try (net) {
      NodeCore node = net.nodes.get(1).core;
      Peer peer = node.peer(0);
      int buffers = node.ledger.left();
      for (int i = 0; i < 5; i++) {
        PmEndpoint other = net.nodes.get(0).open(100 + i);
        SendBuffer b = null;
        for (int j = 0; j < 100_000 && b == null; j++) {
          b = other.claim(1, ENDPOINT, Integer.BYTES);
          net.step();
        }
        other.send(b);
        send(asks, 1);
        assertThat(peer.laneCount).isEqualTo((short) 2);
        send(replies, 0);
        asks.poll();

        net.deadRail[0] = true;
        net.run(4 * TIMEOUT_NS);
        net.deadRail[0] = false;
        assertThat(peer.laneCount).as("something of both waits").isEqualTo((short) 2);
        replies.poll();
        assertThat(replies.got).isEqualTo(2 * (i + 1));
        assertThat(peer.laneCount).isZero();
        assertThat(peer.lanes).isNull();
        assertThat(node.firstLanes[0]).isNull();
        assertThat(node.ledger.left()).isEqualTo(buffers);
      }
      assertThat(asks.got).isEqualTo(5);
      assertThat(node.inLanes).as("as many tags as there were channels at a time").hasSize(16);
    }
  }

  /** The limit of a lane that the program has not emptied yet goes home when it has. */
  @Test
  void noLimitIsToldBeforeTheNewSessionAsksForCredit() {
    try (net) {
      for (int i = 0; i < LEFT; i++) {
        send(replies, 0);
      }
      net.deadRail[0] = true;
      net.run(4 * TIMEOUT_NS);
      net.deadRail[0] = false;
      replies.poll();
      assertThat(replies.downs).isOne();

      send(asks, 1);
      replies.poll();
      assertThat(replies.got).isOne();
      asks.poll();
      assertThat(asks.got).isEqualTo(LEFT);
      assertThat(asks.downs).isOne();
      send(replies, 0);
      asks.poll();
      replies.poll();

      assertThat(asks.got).isEqualTo(LEFT + 1);
      assertThat(asks.downs + replies.downs).as("no session ended since").isEqualTo(2);
    }
  }

  /** Nobody sends it a limit: what comes home to the budget has to reach it by itself. */
  @Test
  void aChannelToTheNodeItselfThatGotNothingAsksAgain() {
    NodeConfig few = new NodeConfig(0x1234, 1, 1, 64, 8, 1, 8, 32, 16, TIMEOUT_NS, 1_024, -1);
    try (TestNet small = new TestNet(2, 1, 3, 1_200, few)) {
      PmNode node = small.nodes.get(0);
      List<PmEndpoint> endpoints = new ArrayList<>();
      for (int number = 1; number <= 12; number++) {
        endpoints.add(node.open(number));
      }
      PmEndpoint stranger = small.nodes.get(1).open(ENDPOINT);
      stranger.coalesceUpTo(-1);
      for (int number = 1; number <= 12; number++) {
        for (int i = 0; i < 3_000 && !sent(stranger, 0, number); i++) {
          small.step();
        }
      }
      assertThat(node.core.ledger.left()).isZero();
      PmEndpoint own = endpoints.getFirst();
      assertThat(own.claim(0, 2, Integer.BYTES)).isNull();
      assertThat(node.counters().dropped(DropReason.CREDIT_EXHAUSTED)).isPositive();
      small.run(5 * MS);
      assertThat(own.claim(0, 2, Integer.BYTES)).as("nothing is left yet").isNull();

      endpoints.forEach(endpoint -> endpoint.poll(m -> {}, Integer.MAX_VALUE));
      small.nodes.get(1).quit();
      small.run(10 * MS);
      assertThat(node.core.ledger.left()).isPositive();
      assertThat(sent(own, 0, 2)).as("soon after credit came home").isTrue();
      assertThat(node.brokenBound()).isNull();
    }
  }

  private static boolean sent(PmEndpoint from, int node, int endpoint) {
    SendBuffer b = from.claim(node, endpoint, Integer.BYTES);
    if (b != null) {
      from.send(b);
    }
    return b != null;
  }

  /** Behind 2^32 frames the limit is 0 again, and has to be told like any other. */
  @Test
  void aLimitOfZeroIsToldAgainToWhoAsks() {
    InLane lane = new InLane(1, ENDPOINT, ENDPOINT, 0, false);
    lane.openSession();
    lane.grant(1 << 31);
    lane.grant(1 << 31); // as many frames have been granted, handled and granted again
    assertThat(lane.limit()).isZero();
    lane.advertise();
    assertThat(lane.hasNews()).isFalse();

    lane.forgetAdvertised();

    assertThat(lane.hasNews()).as("for who asks").isTrue();
    assertThat(lane.advertise()).isZero();
    assertThat(lane.hasNews()).isFalse();
  }
}
