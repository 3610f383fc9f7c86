package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.pm.wire.FrameHeader;

/** Who goes on asking for a session that does not come about (PROTOCOL.md section 4). */
class OpeningTest {
  private static final int ENDPOINT = 7;
  private static final long MS = 1_000_000L;

  /** PROTOCOL.md section 4: it keeps on while it was asked less than a peer timeout ago. */
  @Test
  void theLowerGivesUpOpeningOnceTheHigherAsksNoMore() {
    NodeConfig config =
        NodeConfig.defaults(0x1234, 1, 128).withWindow(64).withPeerTimeoutNs(20 * MS);
    try (TestNet net = new TestNet(2, 1, 3, 800, config)) {
      PmNode lower = net.nodes.get(0);
      PmNode higher = net.nodes.get(1);
      net.muteNode[0] = 0; // nothing reaches the higher node
      PmEndpoint wants = lower.open(ENDPOINT);
      assertThat(wants.claim(1, 8)).isNull();
      net.run(100 * MS);
      assertThat(lower.peerState(1)).isEqualTo(PeerState.OPENING);

      // The higher one asks, and dies; the lower one's program ends.
      higher.connect(0);
      net.run(5 * MS);
      net.nodes.set(1, null);
      wants.close();
      net.run(200 * MS);
      int[] opens = {0};
      net.wireTap = bytes -> opens[0] += bytes[28] == FrameHeader.OPEN ? 1 : 0;
      net.run(2_000 * MS);
      net.nodes.set(1, higher);
      assertThat(lower.peerState(1)).as("nobody wants it").isEqualTo(PeerState.DOWN);
      assertThat(opens[0]).isZero();
    }
  }

  private static final class Told implements PeerListener, MessageHandler {
    final List<String> node = new ArrayList<>();
    final List<String> program = new ArrayList<>();

    @Override
    public void onPeerUp(int peer, int session) {}

    @Override
    public void onPeerDown(int peer, int session, DownReason reason, int lastAcknowledgedSeq) {
      node.add(peer + " of " + session + " " + reason.name());
    }

    @Override
    public void onMessage(Message m) {
      throw new AssertionError("nobody sends this way");
    }

    @Override
    public void onPeerDown(int peer, int session) {
      program.add(peer + " of " + session);
    }
  }

  /** It had a session before, so that the one that does not come about is seen to be none. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whoWaitsForAPeerThatDoesNotAnswerIsToldOnceAndItIsTriedOn(boolean inline) {
    NodeConfig config =
        NodeConfig.defaults(0x1234, 1, 128).withWindow(64).withPeerTimeoutNs(20 * MS);
    try (TestNet net = new TestNet(2, 1, 4, 800, config, inline)) {
      PmNode node = net.nodes.get(0);
      Told told = new Told();
      node.peerListener(told);
      PmEndpoint endpoint = node.open(ENDPOINT);
      net.nodes.get(1).open(ENDPOINT);
      node.connect(1);
      net.run(5 * MS);
      assertThat(node.peerState(1)).isEqualTo(PeerState.UP);
      net.deadRail[0] = true;
      net.run(50 * MS);
      endpoint.poll(told, 16);
      told.node.clear();
      told.program.clear();
      long downs = node.counters().get(Counter.PEERS_DOWN);
      assertThat(node.peerStatus().getFirst().reason()).isEqualTo(DownReason.SILENCE);

      assertThat(endpoint.claim(1, 8)).isNull();
      net.run(10 * MS);
      assertThat(told.node).isEmpty();
      net.run(15 * MS);
      endpoint.poll(told, 16);
      assertThat(told.node).containsExactly("1 of 0 UNREACHABLE");
      assertThat(told.program).containsExactly("1 of 0");
      assertThat(node.counters().get(Counter.PEERS_DOWN)).isEqualTo(downs + 1);
      assertThat(node.peerStatus().getFirst().reason()).isEqualTo(DownReason.UNREACHABLE);
      assertThat(node.peerStatus().getFirst().session()).isZero();

      net.run(1_500 * MS);
      endpoint.poll(told, 16);
      assertThat(told.node).as("once").hasSize(1);
      assertThat(told.program).as("once").hasSize(1);
      assertThat(node.peerState(1)).isEqualTo(PeerState.OPENING);
      net.deadRail[0] = false;
      net.run(1_100 * MS);
      assertThat(node.peerState(1)).as("the program asked before").isEqualTo(PeerState.UP);
      assertThat(endpoint.claim(1, 8)).isNotNull();
    }
  }

  /** Somebody wanted the session before, and was told when no program was there. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whoBeginsToWaitForAPeerThatDoesNotAnswerIsToldToo(boolean inline) {
    NodeConfig config =
        NodeConfig.defaults(0x1234, 1, 128).withWindow(64).withPeerTimeoutNs(20 * MS);
    try (TestNet net = new TestNet(2, 1, 4, 800, config, inline)) {
      PmNode node = net.nodes.get(0);
      Told told = new Told();
      node.peerListener(told);
      net.deadRail[0] = true;
      for (int i = 0; i < 100; i++) {
        node.connect(1);
        net.run(MS);
      }
      assertThat(told.node).as("who asks on has heard").containsExactly("1 of 0 UNREACHABLE");

      PmEndpoint endpoint = node.open(ENDPOINT);
      assertThat(endpoint.claim(1, 8)).isNull();
      net.run(15 * MS);
      endpoint.poll(told, 16);
      assertThat(told.program).isEmpty();
      net.run(10 * MS);
      endpoint.poll(told, 16);
      assertThat(told.program).containsExactly("1 of 0");
      assertThat(told.node).hasSize(2);

      // It heard, and asks again.
      assertThat(endpoint.claim(1, 8)).isNull();
      net.run(25 * MS);
      endpoint.poll(told, 16);
      assertThat(told.program).containsExactly("1 of 0", "1 of 0");
      net.deadRail[0] = false;
      net.run(1_100 * MS);
      assertThat(node.peerState(1)).isEqualTo(PeerState.UP);
    }
  }

  /** It hears nothing of the answers, asks each second, and nobody here waits for it. */
  @Test
  void aPeerThatAsksOnAndIsNotReachedIsToldOfOnce() {
    NodeConfig config =
        NodeConfig.defaults(0x1234, 1, 128).withWindow(64).withPeerTimeoutNs(1_500 * MS);
    try (TestNet net = new TestNet(2, 1, 5, 800, config)) {
      PmNode lower = net.nodes.get(0);
      Told told = new Told();
      lower.peerListener(told);
      net.muteNode[0] = 0; // nothing reaches the higher node
      net.nodes.get(1).connect(0);
      net.run(10_000 * MS);
      assertThat(told.node).containsExactly("1 of 0 UNREACHABLE");
      net.muteNode[0] = -1;
      net.run(1_100 * MS);
      assertThat(lower.peerState(1)).isEqualTo(PeerState.UP);
    }
  }

  /** Else it would be kept opening for as long as the last question is young. */
  @Test
  void aPeerThatAskedAndIsNotReachedHasToAskAgain() {
    NodeConfig config =
        NodeConfig.defaults(0x1234, 1, 128).withWindow(64).withPeerTimeoutNs(20 * MS);
    try (TestNet net = new TestNet(2, 1, 5, 800, config)) {
      PmNode lower = net.nodes.get(0);
      PmNode higher = net.nodes.get(1);
      net.muteNode[0] = 0; // nothing reaches the higher node
      higher.connect(0);
      net.run(15 * MS);
      assertThat(lower.peerState(1)).isEqualTo(PeerState.OPENING);
      net.nodes.set(1, null);
      net.run(8 * MS);
      assertThat(lower.peerState(1)).isEqualTo(PeerState.DOWN);
      assertThat(lower.peerStatus().getFirst().reason()).isEqualTo(DownReason.UNREACHABLE);
      net.nodes.set(1, higher);
      net.muteNode[0] = -1;
      net.run(1_100 * MS);
      assertThat(lower.peerState(1)).isEqualTo(PeerState.UP);
      assertThat(higher.peerState(0)).isEqualTo(PeerState.UP);
    }
  }
}
