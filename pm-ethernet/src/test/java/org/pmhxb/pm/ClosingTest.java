package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.pmhxb.pm.wire.FrameHeader;

/** How a node leaves (PROTOCOL.md section 4.4). */
class ClosingTest {
  private static final int ENDPOINT = 7;

  private static NodeConfig config() {
    return NodeConfig.defaults(0xC105E, 1, 128).withWindow(64);
  }

  /**
   * Both talk: a message each way has arrived.
   *
   * @return node 1's endpoint
   */
  private static PmEndpoint talk(TestNet net) {
    PmEndpoint a = net.nodes.get(0).open(ENDPOINT);
    PmEndpoint b = net.nodes.get(1).open(ENDPOINT);
    int[] got = {0};
    boolean askedA = false;
    boolean askedB = false;
    for (int i = 0; i < 100_000 && got[0] < 2; i++) {
      askedA = askedA || trySend(a, 1);
      askedB = askedB || trySend(b, 0);
      net.step();
      a.poll(m -> got[0]++, 16);
      b.poll(m -> got[0]++, 16);
    }
    assertThat(got[0]).isEqualTo(2);
    return b;
  }

  private static boolean trySend(PmEndpoint from, int to) {
    SendBuffer buffer = from.claim(to, 8);
    if (buffer != null) {
      from.send(buffer);
    }
    return buffer != null;
  }

  private static boolean isResetOf(byte[] frame, int node) {
    return frame[28] == FrameHeader.RESET
        && FrameHeader.src(MemorySegment.ofArray(frame), 0) == node;
  }

  private static DownReason reason(TestNet net, int at, int of) {
    assertThat(net.nodes.get(at).peerState(of)).isEqualTo(PeerState.DOWN);
    return net.nodes.get(at).peerStatus().stream()
        .filter(p -> p.node() == of)
        .findFirst()
        .orElseThrow()
        .reason();
  }

  @Test
  void thePeerAnswersAtOnce() {
    try (TestNet net = new TestNet(2, 2, 11, 600, config())) {
      talk(net);
      net.nodes.get(0).quit();
      assertThat(net.nodes.get(0).isQuitAnswered()).isFalse();
      net.run(4 * net.delayNs);
      assertThat(reason(net, 1, 0)).isEqualTo(DownReason.CLOSED);
      assertThat(net.nodes.get(0).isQuitAnswered()).isTrue();
    }
  }

  @Test
  void aLostCloseIsRepeatedUntilItIsAnswered() {
    try (TestNet net = new TestNet(2, 2, 12, 600, config())) {
      talk(net);
      net.loss = 1;
      net.nodes.get(0).quit();
      net.run(20_000_000);
      assertThat(net.nodes.get(1).peerState(0)).isEqualTo(PeerState.UP);
      assertThat(net.nodes.get(0).isQuitAnswered()).isFalse();
      net.loss = 0;
      net.run(20_000_000);
      assertThat(reason(net, 1, 0)).isEqualTo(DownReason.CLOSED);
      assertThat(net.nodes.get(0).isQuitAnswered()).isTrue();
    }
  }

  @Test
  void aLostAnswerIsAskedForAgain() {
    try (TestNet net = new TestNet(2, 2, 13, 600, config())) {
      talk(net);
      net.muteNode[0] = 1;
      net.muteNode[1] = 1;
      net.nodes.get(0).quit();
      net.run(20_000_000);
      assertThat(reason(net, 1, 0)).isEqualTo(DownReason.CLOSED);
      assertThat(net.nodes.get(0).isQuitAnswered()).isFalse();
      net.muteNode[0] = -1;
      net.muteNode[1] = -1;
      net.run(40_000_000);
      assertThat(net.nodes.get(0).isQuitAnswered()).isTrue();
    }
  }

  @Test
  void framesUnderWayDoNotTurnTheEndIntoAFault() {
    try (TestNet net = new TestNet(2, 2, 14, 600, config())) {
      PmEndpoint b = talk(net);
      // The CLOSE itself is lost; what the peer sends meanwhile finds no session any more.
      net.muteNode[0] = 0;
      net.muteNode[1] = 0;
      net.nodes.get(0).quit();
      net.step();
      net.muteNode[0] = -1;
      net.muteNode[1] = -1;
      int[] resets = {0};
      net.wireTap = bytes -> resets[0] += isResetOf(bytes, 0) ? 1 : 0;
      assertThat(trySend(b, 0)).isTrue();
      net.run(3 * net.delayNs);
      assertThat(reason(net, 1, 0)).isEqualTo(DownReason.CLOSED);
      net.run(4 * net.delayNs);
      assertThat(net.nodes.get(0).isQuitAnswered()).isTrue();
      assertThat(resets[0]).as("from the node that leaves").isZero();
    }
  }

  @Test
  void twoThatLeaveAtOnceAnswerEachOther() {
    try (TestNet net = new TestNet(2, 2, 15, 600, config())) {
      talk(net);
      net.nodes.get(0).quit();
      net.nodes.get(1).quit();
      net.run(4 * net.delayNs);
      for (int node = 0; node < 2; node++) {
        assertThat(net.nodes.get(node).isQuitAnswered()).isTrue();
        assertThat(reason(net, node, 1 - node)).isEqualTo(DownReason.LOCAL_CLOSE);
      }
    }
  }

  @Test
  void noSessionBeginsWithANodeThatLeaves() {
    for (int leaves = 0; leaves < 2; leaves++) {
      try (TestNet net = new TestNet(2, 2, 16, 600, config())) {
        talk(net);
        net.nodes.get(leaves).quit();
        net.run(4 * net.delayNs);
        PmEndpoint other = net.nodes.get(1 - leaves).open(ENDPOINT + 1);
        trySend(other, leaves);
        net.nodes.get(leaves).connect(1 - leaves);
        net.run(50_000_000);
        assertThat(net.nodes.get(leaves).peerState(1 - leaves)).isEqualTo(PeerState.DOWN);
        assertThat(net.nodes.get(1 - leaves).peerState(leaves)).isEqualTo(PeerState.OPENING);
      }
    }
  }

  /** A driver that fails to close one port is no reason to keep the others open. */
  @Test
  void aPortThatFailsToCloseKeepsNoOtherOpen() {
    try (TestNet net = new TestNet(2, 3, 16, 600, config())) {
      talk(net);
      net.ports[0][0].closeFault = new IllegalStateException("first");
      net.ports[0][1].closeFault = new IllegalStateException("second");
      assertThatThrownBy(net.nodes.set(0, null)::close)
          .hasMessage("first")
          .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
      assertThat(net.ports[0]).allSatisfy(port -> assertThat(port.closed).isTrue());
      assertThat(net.pools.get(0).available()).isEqualTo(net.pools.get(0).capacity());
    }
  }
}
