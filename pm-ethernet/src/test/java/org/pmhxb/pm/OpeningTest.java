package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
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
}
