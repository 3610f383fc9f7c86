package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.pmhxb.pm.wire.FrameHeader;

/** Late OPENs amid a handshake, and late first frames (PROTOCOL.md section 4.2). */
class CandidateTest {
  private static final int ENDPOINT = 7;
  private static final long MS = 1_000_000L;
  private static final long TIMEOUT_NS = 50 * MS;
  private static final NodeConfig CONFIG =
      NodeConfig.defaults(0x1234, 1, 128).withWindow(64).withPeerTimeoutNs(TIMEOUT_NS);

  private final TestNet net = new TestNet(2, 1, 1, 600, CONFIG);

  /** What the programs of both nodes hear of sessions. */
  private final List<String> heard = new ArrayList<>();

  @BeforeEach
  void listen() {
    listen(0);
    listen(1);
    net.nodes.get(1).open(ENDPOINT);
  }

  private void listen(int node) {
    net.nodes
        .get(node)
        .peerListener(
            new PeerListener() {
              @Override
              public void onPeerUp(int peer, int session) {
                heard.add(node + " up");
              }

              @Override
              public void onPeerDown(int peer, int session, DownReason reason, int last) {
                heard.add(node + " " + reason);
              }
            });
  }

  private static int kind(byte[] frame) {
    return FrameHeader.kind(MemorySegment.ofArray(frame), 0);
  }

  private void send(PmEndpoint from) {
    SendBuffer b = from.claim(1, Long.BYTES);
    for (int i = 0; b == null && i < 100_000; i++) {
      net.step();
      b = from.claim(1, Long.BYTES);
    }
    assertThat(b).as("a claim within 200 ms").isNotNull();
    from.send(b);
    net.run(MS);
  }

  private void breakAndMend() {
    net.deadRail[0] = true;
    net.run(3 * TIMEOUT_NS);
    net.deadRail[0] = false;
    heard.clear();
  }

  /** It comes behind the OPEN_REPLY of another handshake, which its sender has not seen yet. */
  @Test
  void aLateOpenAmidAHandshakeCostsNoSession() {
    try (net) {
      byte[][] old = {null};
      net.wireTap =
          frame ->
              old[0] = old[0] == null && kind(frame) == FrameHeader.OPEN ? frame.clone() : old[0];
      PmEndpoint from = net.nodes.get(0).open(ENDPOINT);
      send(from);
      breakAndMend();
      int[] late = {0};
      net.wireTap =
          frame -> {
            if (kind(frame) == FrameHeader.OPEN_REPLY && late[0]++ == 0) {
              net.ports[1][0].arrive(old[0].clone());
            }
          };
      send(from);
      net.run(2 * TIMEOUT_NS);

      assertThat(late[0]).as("replies, the late OPEN's among them").isEqualTo(2);
      assertThat(heard).containsExactly("0 up", "1 up");
    }
  }

  /** The late first frame of a handshake before makes a session, which the new one's then ends. */
  @Test
  void aLateFirstFrameDoesNotCostTheNewerCandidate() {
    try (net) {
      List<byte[]> confirmations = new ArrayList<>();
      List<byte[]> opens = new ArrayList<>();
      PmEndpoint from = net.nodes.get(0).open(ENDPOINT);
      net.wireTap =
          frame -> {
            if (kind(frame) == FrameHeader.OPEN) {
              opens.add(frame.clone());
            }
            // Whatever names the session is held up on its way.
            if (FrameHeader.session(MemorySegment.ofArray(frame), 0) != 0
                && FrameHeader.src(MemorySegment.ofArray(frame), 0) == 0) {
              confirmations.add(frame.clone());
              net.muteNode[0] = 0;
            }
          };
      SendBuffer none = from.claim(1, Long.BYTES);
      assertThat(none).isNull();
      net.muteNode[0] = -1;
      for (int i = 0; confirmations.isEmpty() && i < 100_000; i++) {
        net.step();
      }
      net.run(3 * TIMEOUT_NS);
      assertThat(heard).containsExactly("0 up", "0 SILENCE");
      heard.clear();
      byte[] first = confirmations.getFirst();
      int[] late = {0};
      net.wireTap =
          frame -> {
            if (kind(frame) == FrameHeader.OPEN_REPLY && late[0]++ == 0) {
              net.ports[1][0].arrive(first.clone());
            }
          };
      net.muteNode[0] = -1;
      send(from);
      net.run(2 * TIMEOUT_NS);

      assertThat(late[0]).isPositive();
      assertThat(heard).filteredOn(what -> what.startsWith("0")).containsExactly("0 up");
      assertThat(net.nodes.get(1).peerState(0)).isEqualTo(PeerState.UP);
      assertThat(net.nodes.get(1).core.peer(0).session)
          .isEqualTo(net.nodes.get(0).core.peer(1).session);
    }
  }
}
