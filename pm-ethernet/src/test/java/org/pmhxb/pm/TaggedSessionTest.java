package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.pmhxb.pm.wire.FrameHeader;

/** Sessions whose frames carry keyed tags (PROTOCOL.md section 2.6). */
class TaggedSessionTest {
  private static final int ENDPOINT = 7;

  private static NodeConfig config(FrameKey.Mode mode) {
    NodeConfig plain = NodeConfig.defaults(1, 1, 128).withWindow(64).withFirstSeq(0xFFFF_FFF0L);
    return mode == FrameKey.Mode.OFF
        ? plain
        : plain.withFrameKey(new FrameKey(mode, 11, 12, 1_000));
  }

  private static int send(TestNet net, PmEndpoint from, PmEndpoint to, int count) {
    int[] got = {0};
    int sent = 0;
    for (int i = 0; i < 200_000 && got[0] < count; i++) {
      SendBuffer b = sent < count ? from.claim(1, 16) : null;
      if (b != null) {
        from.send(b);
        sent++;
      }
      net.step();
      to.poll(m -> got[0]++, 16);
    }
    return got[0];
  }

  @ParameterizedTest
  @EnumSource(names = {"TAG", "REPLAY"})
  void trafficPassesThroughLossAndWraps(FrameKey.Mode mode) {
    try (TestNet net = new TestNet(2, 2, 5, 700, config(mode))) {
      PmEndpoint from = net.nodes.get(0).open(ENDPOINT);
      PmEndpoint to = net.nodes.get(1).open(ENDPOINT);
      net.loss = 0.05;
      net.duplication = 0.05;
      net.jitterNs = 20_000;
      assertThat(send(net, from, to, 2_000)).isEqualTo(2_000);
      for (PmNode node : net.nodes) {
        assertThat(node.counters().dropped(DropReason.TAG)).isZero();
        assertThat(node.counters().get(Counter.SESSIONS_OPENED)).isEqualTo(1);
      }
    }
  }

  /** All that was on the wire comes once more, to both: nothing is read twice. */
  @Test
  void recordedFramesCountOnce() {
    try (TestNet net = new TestNet(2, 1, 6, 700, config(FrameKey.Mode.REPLAY))) {
      PmEndpoint from = net.nodes.get(0).open(ENDPOINT);
      PmEndpoint to = net.nodes.get(1).open(ENDPOINT);
      List<byte[]> recorded = new ArrayList<>();
      net.wireTap = frame -> recorded.add(frame.clone());
      assertThat(send(net, from, to, 300)).isEqualTo(300);
      net.run(1_000_000);
      net.wireTap = null;
      long control = 0;
      for (byte[] frame : recorded) {
        control += frame[FrameHeader.KIND_SRC] == FrameHeader.DATA ? 0 : 1;
        net.ports[frame[FrameHeader.FLAGS_DST + 3]][0].arrive(frame);
        net.run(4_000);
      }
      net.run(1_000_000);
      int[] again = {0};
      to.poll(m -> again[0]++, 1_000);
      assertThat(again[0]).isZero();
      long replays = 0;
      for (PmNode node : net.nodes) {
        replays += node.counters().dropped(DropReason.REPLAY);
        assertThat(node.counters().get(Counter.SESSIONS_OPENED)).isEqualTo(1);
        assertThat(node.counters().get(Counter.PEERS_DOWN)).isZero();
      }
      assertThat(replays).isGreaterThanOrEqualTo(control).isPositive();
      assertThat(send(net, from, to, 100)).isEqualTo(100);
    }
  }

  @Test
  void aRightFrameWithoutATagIsNotRead() {
    List<byte[]> plain = new ArrayList<>();
    try (TestNet net = new TestNet(2, 1, 7, 700, config(FrameKey.Mode.OFF))) {
      net.wireTap = frame -> plain.add(frame.clone());
      PmEndpoint from = net.nodes.get(0).open(ENDPOINT);
      assertThat(send(net, from, net.nodes.get(1).open(ENDPOINT), 20)).isEqualTo(20);
    }
    List<byte[]> tagged = new ArrayList<>();
    try (TestNet net = new TestNet(2, 1, 7, 700, config(FrameKey.Mode.TAG))) {
      net.wireTap = frame -> tagged.add(frame.clone());
      PmEndpoint from = net.nodes.get(0).open(ENDPOINT);
      assertThat(send(net, from, net.nodes.get(1).open(ENDPOINT), 20)).isEqualTo(20);
    }
    assertThat(dropsOf(config(FrameKey.Mode.TAG), plain)).isEqualTo(plain.size());
    assertThat(dropsOf(config(FrameKey.Mode.OFF), tagged)).isEqualTo(tagged.size());
    NodeConfig other =
        config(FrameKey.Mode.OFF).withFrameKey(new FrameKey(FrameKey.Mode.TAG, 11, 13, 1));
    assertThat(dropsOf(other, tagged)).isEqualTo(tagged.size());
  }

  /** How many of the frames a lone pair of nodes counts as wrongly tagged; no state is made. */
  private static long dropsOf(NodeConfig config, List<byte[]> frames) {
    try (TestNet net = new TestNet(2, 1, 8, 700, config)) {
      for (byte[] frame : frames) {
        net.ports[frame[FrameHeader.FLAGS_DST + 3]][0].arrive(frame.clone());
        net.run(4_000);
      }
      net.run(200_000);
      long drops = 0;
      for (PmNode node : net.nodes) {
        drops += node.counters().dropped(DropReason.TAG);
        assertThat(node.peerStatus()).isEmpty();
      }
      return drops;
    }
  }

  @Test
  void aKeyIsNoSecretOfZerosAndIsNotPrinted() {
    assertThatThrownBy(() -> new FrameKey(FrameKey.Mode.TAG, 0, 0, 1))
        .hasMessageContaining("zeros");
    assertThat(new FrameKey(FrameKey.Mode.TAG, 1234, 5678, 1).toString())
        .doesNotContain("1234")
        .doesNotContain("5678");
  }
}
