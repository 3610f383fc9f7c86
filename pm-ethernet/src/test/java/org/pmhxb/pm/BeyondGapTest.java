package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.pmhxb.pm.wire.FrameHeader;

/** What a data frame says of frames that arrived behind a gap (PROTOCOL.md section 5.4). */
class BeyondGapTest {
  private static final int ENDPOINT = 7;

  private final List<byte[]> wire = new ArrayList<>();

  private static void sendTo(TestNet net, PmEndpoint from, int dst) {
    SendBuffer b = from.claim(dst, 16);
    for (int i = 0; b == null && i < 10_000; i++) {
      net.step();
      b = from.claim(dst, 16);
    }
    from.send(b);
  }

  private static long count(TestNet net, int node, Counter counter) {
    return net.nodes.get(node).counters().get(counter);
  }

  /** The acknowledgement of a frame beyond a gap is lost; data the other way shows the loss too. */
  @Test
  void dataShowsALossWhoseAcknowledgementWasLost() {
    NodeConfig config = NodeConfig.defaults(0x1234, 1, 128).withWindow(64);
    try (TestNet net = new TestNet(2, 1, 3, 600, config)) {
      net.wireTap = wire::add;
      PmEndpoint zero = net.nodes.get(0).open(ENDPOINT);
      PmEndpoint one = net.nodes.get(1).open(ENDPOINT);
      sendTo(net, zero, 1);
      sendTo(net, one, 0);
      net.run(1_000_000);
      int[] got = {0};
      one.poll(m -> got[0]++, 16);
      zero.poll(m -> got[0]++, 16);
      assertThat(got[0]).isEqualTo(2);
      long probes = count(net, 0, Counter.PROBES_SENT);
      long acks = count(net, 1, Counter.ACKS_SENT);

      net.loss = 1;
      sendTo(net, zero, 1);
      net.step();
      net.loss = 0;
      sendTo(net, zero, 1);
      net.step();
      net.loss = 1;
      net.run(20_000);
      assertThat(count(net, 1, Counter.OUT_OF_ORDER)).isEqualTo(1);
      assertThat(count(net, 1, Counter.ACKS_SENT)).isEqualTo(acks + 1);
      assertThat(count(net, 0, Counter.RESENT)).isZero();

      net.loss = 0;
      wire.clear();
      sendTo(net, one, 0);
      net.step();
      MemorySegment said = MemorySegment.ofArray(wire.getLast());
      assertThat(FrameHeader.kind(said, 0)).isEqualTo(FrameHeader.DATA);
      assertThat(FrameHeader.flags(said, 0) & FrameHeader.FLAG_BEYOND).isNotZero();
      assertThat(FrameHeader.beyond(said, 0)).isEqualTo(1);
      net.run(30_000);
      assertThat(count(net, 0, Counter.RESENT)).isEqualTo(1);
      assertThat(count(net, 0, Counter.PROBES_SENT)).isEqualTo(probes);
      one.poll(m -> got[0]++, 16);
      assertThat(got[0]).isEqualTo(4);
    }
  }
}
