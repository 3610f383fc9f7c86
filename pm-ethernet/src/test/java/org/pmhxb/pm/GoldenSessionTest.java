package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.pmhxb.pm.wire.FrameHeader;
import org.pmhxb.pm.wire.GoldenFrame;

/** The engine against the layouts and rules of PROTOCOL.md: what real nodes send, and accept. */
class GoldenSessionTest {
  private static final int KEY = 0x0badcafe;
  private static final Map<String, GoldenFrame> GOLDEN = GoldenFrame.readAll();

  private static NodeConfig config() {
    return NodeConfig.defaults(KEY, 1, 128).withWindow(64).withFirstSeq(0xFFFF_FFF0L);
  }

  /** The documented handshake makes the documented session number. */
  @Test
  void sessionNumberIsThatOfTheDocument() {
    GoldenFrame open = GOLDEN.get("open");
    GoldenFrame reply = GOLDEN.get("open-reply");
    int session =
        Sessions.sessionOf(
            open.payload("incarnation"),
            open.payload("nonce"),
            reply.payload("incarnation"),
            reply.payload("nonce"));
    assertThat(session).isEqualTo(GOLDEN.get("open-confirm").get("session"));
    assertThat(reply.payload("echoedNonce")).isEqualTo(open.payload("nonce"));
    assertThat(reply.payload("echoedIncarnation")).isEqualTo(open.payload("incarnation"));
  }

  /**
   * Every frame to a node passes all checks up to its session, which is unknown there. It is
   * answered on the rail that it came by, if its path is one of this line, and on the one whose
   * turn it is.
   */
  @Test
  void goldenFramesPassValidation() {
    for (GoldenFrame golden : GOLDEN.values()) {
      int self = golden.get("dst") == FrameHeader.EVERY_NODE ? 9 : golden.get("dst");
      try (TestNet net = new TestNet(10, 2, 1, 200, config())) {
        PmNode node = net.nodes.get(self);
        List<Integer> answers = new ArrayList<>();
        int ways = isPathOfLine(golden.get("path")) ? 2 : 1;
        net.wireTap = bytes -> answers.add((int) bytes[FrameHeader.KIND_SRC]);
        net.ports[self][1].arrive(golden.bytes().clone());
        net.run(100_000);
        Map<String, Long> drops = new HashMap<>(node.counters().snapshot());
        drops.entrySet().removeIf(e -> !e.getKey().startsWith("drop.") || e.getValue() == 0);
        if ((golden.get("flags") & FrameHeader.FLAG_TAG) != 0) {
          assertThat(drops).as(golden.name()).containsOnlyKeys("drop.tag");
          assertThat(answers).isEmpty();
          continue;
        }
        switch (golden.get("kind")) {
          case FrameHeader.OPEN -> {
            assertThat(drops).isEmpty();
            assertThat(answers).containsOnly(FrameHeader.OPEN_REPLY).hasSize(ways);
          }
          case FrameHeader.OPEN_REPLY, FrameHeader.RESET, FrameHeader.DISCOVER -> {
            assertThat(drops).as(golden.name()).isEmpty();
            assertThat(answers).isEmpty();
          }
          default -> {
            assertThat(drops).as(golden.name()).containsOnlyKeys("drop.no-session");
            if (golden.get("dst") == FrameHeader.EVERY_NODE) {
              assertThat(answers).isEmpty();
            } else {
              assertThat(answers).containsOnly(FrameHeader.RESET).hasSize(ways);
            }
          }
        }
      }
    }
  }

  private static boolean isPathOfLine(int path) {
    return (path & ~0xF00) == 0;
  }

  /** What two nodes really send has the documented layouts. */
  @Test
  void realFramesHaveTheDocumentedLayouts() {
    Map<Integer, List<byte[]>> byKind = new HashMap<>();
    try (TestNet net = new TestNet(2, 2, 3, 400, config())) {
      net.wireTap =
          bytes ->
              byKind.computeIfAbsent((int) bytes[28], k -> new ArrayList<>()).add(bytes.clone());
      net.loss = 0.1;
      PmEndpoint from = net.nodes.get(0).open(7);
      PmEndpoint to = net.nodes.get(1).open(8);
      int[] got = {0};
      for (int sent = 0; got[0] < 300; ) {
        SendBuffer b = sent < 300 ? from.claim(1, 8, 100) : null;
        if (b != null) {
          from.send(b);
          sent++;
        }
        net.step();
        to.poll(m -> got[0]++, 16);
      }
      // A frame that no path delivers for a while: it takes probes to find that out.
      net.loss = 1;
      from.send(from.claim(1, 8, 100));
      net.run(20_000_000);
      net.loss = 0;
      net.run(20_000_000);
      assertThat(to.poll(m -> {}, 16)).isEqualTo(1);
    }
    checkOpenings(byKind);
    byKind.get(FrameHeader.ACK_KIND).forEach(f -> checkAcknowledgement(f, 0));
    for (byte[] reply : byKind.get(FrameHeader.PROBE_REPLY)) {
      checkAcknowledgement(reply, GOLDEN.get("probe-reply").offsetOf("highest"));
    }
    GoldenFrame probe = GOLDEN.get("probe");
    for (byte[] frame : byKind.get(FrameHeader.PROBE)) {
      assertThat(frame).hasSize(probe.bytes().length);
      assertThat(word(frame, probe.offsetOf("path"))).isBetween(0, 1);
    }
    for (byte[] frame : byKind.get(FrameHeader.DATA)) {
      assertThat(FrameHeader.length(MemorySegment.ofArray(frame), 0)).isEqualTo(100);
    }
    assertThat(byKind).containsKeys(FrameHeader.OPEN_CONFIRM, FrameHeader.CREDIT_REQUEST);
    assertThat(byKind).containsKey(FrameHeader.CLOSE);
  }

  private static void checkOpenings(Map<Integer, List<byte[]>> byKind) {
    for (String name : List.of("open", "open-reply")) {
      GoldenFrame golden = GOLDEN.get(name);
      for (byte[] frame : byKind.get(golden.get("kind"))) {
        assertThat(frame).hasSize(golden.bytes().length);
        assertThat(word(frame, golden.offsetOf("window"))).isEqualTo(64);
        assertThat(word(frame, golden.offsetOf("firstSeq"))).isEqualTo(0xFFFF_FFF0);
        // TestNet gives node n the incarnation seed + n + 1.
        int node = FrameHeader.src(MemorySegment.ofArray(frame), 0);
        assertThat(word(frame, golden.offsetOf("incarnation") + 4)).isEqualTo(3 + node + 1);
      }
    }
  }

  private static void checkAcknowledgement(byte[] frame, int at) {
    GoldenFrame golden = GOLDEN.get("ack");
    MemorySegment m = MemorySegment.ofArray(frame);
    int beyond = word(frame, at + golden.offsetOf("highest")) - FrameHeader.ack(m, 0);
    int counts = word(frame, at + golden.offsetOf("bitmapBytes"));
    int bitmapBytes = counts >>> 16;
    int credits = counts & 0xFFFF;
    assertThat(beyond).isBetween(0, 64);
    assertThat(bitmapBytes).isEqualTo((beyond + 63) / 64 * 8);
    assertThat(FrameHeader.length(m, 0)).isEqualTo(at + 16 + bitmapBytes + 8 * credits);
    if (bitmapBytes > 0) {
      long bits = FrameHeader.payloadLong(m, 0, at + golden.offsetOf("bitmap0"));
      assertThat(bits & 1).as("the number acknowledged next is missing").isZero();
      assertThat(63 - Long.numberOfLeadingZeros(bits)).as("highest").isEqualTo(beyond - 1);
    }
    for (int i = 0; i < credits; i++) {
      int credit = at + 16 + bitmapBytes + 8 * i;
      assertThat(word(frame, credit)).isEqualTo(7 << 16 | 8);
    }
  }

  private static int word(byte[] frame, int payloadOffset) {
    return FrameHeader.payloadInt(MemorySegment.ofArray(frame), 0, payloadOffset);
  }
}
