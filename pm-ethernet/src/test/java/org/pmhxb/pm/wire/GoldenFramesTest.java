package org.pmhxb.pm.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The codec against PROTOCOL.md section 11: the document's bytes were made by other means. */
class GoldenFramesTest {
  private static final Map<String, GoldenFrame> FRAMES = GoldenFrame.readAll();

  static Collection<GoldenFrame> frames() {
    return FRAMES.values();
  }

  @Test
  void everyKindHasAGoldenFrame() {
    assertThat(frames())
        .extracting(f -> f.get("kind"))
        .contains(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
  }

  @ParameterizedTest
  @MethodSource("frames")
  void buildsTheDocumentedBytes(GoldenFrame golden) {
    assertThat(golden.build()).isEqualTo(golden.bytes());
  }

  @ParameterizedTest
  @MethodSource("frames")
  void readsTheDocumentedValues(GoldenFrame golden) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment m = arena.allocate(golden.bytes().length);
      m.copyFrom(MemorySegment.ofArray(golden.bytes()));
      Map<String, Long> read = new TreeMap<>();
      read.put("dstMac", FrameHeader.dstMac(m, 0));
      read.put("srcMac", FrameHeader.srcMac(m, 0));
      read.put("version", (long) FrameHeader.version(m, 0));
      read.put("hopLimit", (long) FrameHeader.hopLimit(m, 0));
      read.put("copy", (long) FrameHeader.copy(m, 0));
      read.put("mark", (long) m.get(java.lang.foreign.ValueLayout.JAVA_BYTE, FrameHeader.MARK));
      read.put("hopCheck", (long) FrameHeader.hopCheckField(m, 0));
      read.put("path", unsigned(FrameHeader.path(m, 0)));
      read.put("crc", unsigned(FrameHeader.crc(m, 0)));
      read.put("kind", (long) FrameHeader.kind(m, 0));
      read.put("src", (long) FrameHeader.src(m, 0));
      read.put("flags", (long) FrameHeader.flags(m, 0));
      read.put("dst", (long) FrameHeader.dst(m, 0));
      read.put("key", unsigned(FrameHeader.key(m, 0)));
      read.put("session", unsigned(FrameHeader.session(m, 0)));
      read.put("seq", unsigned(FrameHeader.seq(m, 0)));
      read.put("ack", unsigned(FrameHeader.ack(m, 0)));
      read.put("credit", unsigned(FrameHeader.credit(m, 0)));
      read.put("srcEndpoint", (long) FrameHeader.srcEndpoint(m, 0));
      read.put("dstEndpoint", (long) FrameHeader.dstEndpoint(m, 0));
      read.put("length", (long) FrameHeader.length(m, 0));
      read.put("beyond", (long) FrameHeader.beyond(m, 0));
      assertThat(read).isEqualTo(new TreeMap<>(golden.header()));
      assertThat(FrameHeader.etherType(m, 0)).isEqualTo(0x88B5);
      assertThat(FrameHeader.hopCheck(m, 0)).isEqualTo(golden.get("hopCheck"));
      assertThat(new FrameCrc(m).of(0, golden.get("length"))).isEqualTo(golden.get("crc"));
      boolean tagged = (golden.get("flags") & FrameHeader.FLAG_TAG) != 0;
      assertThat(golden.bytes())
          .hasSize(FrameHeader.BYTES + golden.get("length") + (tagged ? FrameTag.BYTES : 0));
      // The document's frame key: 00 01 ... 0f.
      FrameTag tag = new FrameTag(0x0706_0504_0302_0100L, 0x0f0e_0d0c_0b0a_0908L);
      assertThat(!tagged || tag.holds(m, 0, golden.get("length"))).as("tag").isTrue();
      for (GoldenFrame.Field field : golden.payload()) {
        int offset = golden.offsetOf(field.name());
        if (field.bytes().length == Integer.BYTES) {
          assertThat(FrameHeader.payloadInt(m, 0, offset)).isEqualTo((int) field.value());
        } else if (field.bytes().length == Long.BYTES) {
          assertThat(FrameHeader.payloadLong(m, 0, offset)).isEqualTo(field.value());
        }
      }
    }
  }

  @Test
  void aResendDiffersInItsHopPartAlone() {
    byte[] first = FRAMES.get("data").bytes();
    byte[] again = FRAMES.get("data-resent-via-relay").bytes();
    assertThat(Arrays.copyOfRange(again, FrameHeader.CRC, again.length))
        .isEqualTo(Arrays.copyOfRange(first, FrameHeader.CRC, first.length));
    assertThat(again).isNotEqualTo(first);
  }

  private static long unsigned(int value) {
    return value & 0xFFFF_FFFFL;
  }
}
