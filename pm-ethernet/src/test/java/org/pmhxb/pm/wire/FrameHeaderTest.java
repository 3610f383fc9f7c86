package org.pmhxb.pm.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;
import java.util.SplittableRandom;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;

/** Every field keeps to its bytes (PROTOCOL.md section 2), and what the hop check finds. */
class FrameHeaderTest {
  private static final long AT = 32;
  private static final int BYTES = 160;

  private final MemorySegment m = Arena.ofAuto().allocate(BYTES);
  private byte[] before;

  /** Fills the memory with noise and remembers it. */
  private void noise(long seed) {
    before = new byte[BYTES];
    new Random(seed).nextBytes(before);
    m.copyFrom(MemorySegment.ofArray(before));
  }

  /** Only the bytes of the header from..to differ from the noise. */
  private void onlyChanged(int from, int to) {
    byte[] now = m.toArray(ValueLayout.JAVA_BYTE);
    Arrays.fill(now, (int) AT + from, (int) AT + to, (byte) 0);
    byte[] expected = before.clone();
    Arrays.fill(expected, (int) AT + from, (int) AT + to, (byte) 0);
    assertThat(now).isEqualTo(expected);
  }

  @Property(tries = 200, seed = "38")
  void ethernet(
      @ForAll long seed,
      @ForAll @LongRange(min = 0, max = 0xFFFF_FFFF_FFFFL) long dst,
      @ForAll @LongRange(min = 0, max = 0xFFFF_FFFF_FFFFL) long src) {
    noise(seed);
    FrameHeader.ethernet(m, AT, dst, src);
    assertThat(FrameHeader.dstMac(m, AT)).isEqualTo(dst);
    assertThat(FrameHeader.srcMac(m, AT)).isEqualTo(src);
    assertThat(FrameHeader.etherType(m, AT)).isEqualTo(0x88B5);
    onlyChanged(0, 14);
  }

  @Property(tries = 200, seed = "61")
  void frontIsHopPartAndAddressesInOne(
      @ForAll long seed,
      @ForAll @LongRange(min = 0, max = 0xFFFF_FFFF_FFFFL) long dst,
      @ForAll @LongRange(min = 0, max = 0xFFFF_FFFF_FFFFL) long src,
      @ForAll @IntRange(min = 1, max = 255) int hopLimit,
      @ForAll @IntRange(min = 0, max = 127) int copy,
      @ForAll int path) {
    noise(seed);
    FrameHeader.hop(m, AT, hopLimit, copy, path);
    FrameHeader.ethernet(m, AT, dst, src);
    byte[] apart = m.toArray(ValueLayout.JAVA_BYTE);
    noise(seed);
    FrameHeader.front(m, AT, dst, src, hopLimit, copy, path);
    assertThat(m.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(apart);
    assertThat(FrameHeader.etherType(m, AT)).isEqualTo(FrameHeader.ETHER_TYPE);
    assertThat(FrameHeader.isOurs(m, AT)).isTrue();
    assertThat(FrameHeader.hopCheckHolds(m, AT)).isTrue();
    flip(FrameHeader.HOP_CHECK + 1);
    assertThat(FrameHeader.hopCheckHolds(m, AT)).isFalse();
  }

  @Property(tries = 20, seed = "63")
  void oursIsTheEtherTypeAndTheMajorVersionAlone(@ForAll long seed) {
    noise(seed);
    FrameHeader.front(m, AT, seed, ~seed, 3, 0, (int) seed);
    for (int bit = 0; bit < 32; bit++) {
      int at = FrameHeader.ETHER + bit / 8;
      byte was = m.get(ValueLayout.JAVA_BYTE, AT + at);
      m.set(ValueLayout.JAVA_BYTE, AT + at, (byte) (was ^ 0x80 >> bit % 8));
      assertThat(FrameHeader.isOurs(m, AT)).as("bit %d", bit).isEqualTo(bit >= 20);
      m.set(ValueLayout.JAVA_BYTE, AT + at, was);
    }
  }

  @Property(tries = 100, seed = "64")
  void wordsAsTheyLieInTheFrameCompareWithWhatWasWritten(
      @ForAll long seed, @ForAll int key, @ForAll int session, @ForAll int node) {
    noise(seed);
    FrameHeader.keySession(m, AT, key, session);
    FrameHeader.flagsDst(m, AT, seed > 0 ? FrameHeader.FLAG_CREDIT : 0, node & 0xFF_FFFF);
    FrameHeader.crc(m, AT, key);
    assertThat(FrameHeader.wireKeySession(m, AT))
        .isEqualTo(FrameHeader.wireKeySession(key, session));
    assertThat(FrameHeader.wireInt(m, AT, FrameHeader.CRC)).isEqualTo(FrameHeader.wireInt(key));
    assertThat(FrameHeader.isFor(m, AT, FrameHeader.wireInt(node & 0xFF_FFFF))).isTrue();
    flip(FrameHeader.FLAGS_DST + 3);
    assertThat(FrameHeader.isFor(m, AT, FrameHeader.wireInt(node & 0xFF_FFFF))).isFalse();
  }

  private void flip(int at) {
    byte was = m.get(ValueLayout.JAVA_BYTE, AT + at);
    m.set(ValueLayout.JAVA_BYTE, AT + at, (byte) (was ^ 1));
  }

  @Property(tries = 200, seed = "62")
  void dataIsAllFieldsInOne(
      @ForAll long seed, @ForAll int a, @ForAll int b, @ForAll int c, @ForAll int d) {
    long dst = 0x0102_0304_0506L;
    long src = 0x0708_090A_0B0CL;
    noise(seed);
    FrameHeader.front(m, AT, dst, src, 3, 0, a);
    FrameHeader.kindSrc(m, AT, a >>> 24, a & 0xFF_FFFF);
    FrameHeader.flagsDst(m, AT, b >>> 24, b & 0xFF_FFFF);
    FrameHeader.keySession(m, AT, c, d);
    FrameHeader.seqAck(m, AT, a, c);
    FrameHeader.credit(m, AT, d);
    FrameHeader.endpointsLengthBeyond(m, AT, a & 0xFFFF, b & 0xFFFF, c & 0xFFFF, d & 0xFFFF);
    byte[] apart = m.toArray(ValueLayout.JAVA_BYTE);
    long endpointWord = FrameHeader.endpointWord(m, AT);
    assertThat(FrameHeader.srcEndpointOf(endpointWord)).isEqualTo(a & 0xFFFF);
    assertThat(FrameHeader.dstEndpointOf(endpointWord)).isEqualTo(b & 0xFFFF);
    assertThat(FrameHeader.lengthOf(endpointWord)).isEqualTo(c & 0xFFFF);
    assertThat(FrameHeader.dstWord(m, AT)).isEqualTo((long) b << 32 | c & 0xFFFF_FFFFL);
    assertThat(FrameHeader.sessionWord(m, AT)).isEqualTo((long) d << 32 | a & 0xFFFF_FFFFL);
    noise(seed);
    int shared = b & (FrameHeader.FLAG_TAG << 24 | 0xFF_FFFF);
    FrameHeader.data(
        m,
        AT,
        FrameHeader.stored(FrameHeader.frontWord0(dst, src)),
        FrameHeader.stored(FrameHeader.frontWord1(src, 3)),
        FrameHeader.stored(FrameHeader.frontWord2(3, 0, a)),
        FrameHeader.stored((long) a << 32 | shared & 0xFFFF_FFFFL),
        FrameHeader.stored((long) c << 32 | d & 0xFFFF_FFFFL),
        (b ^ shared) >>> 24,
        (long) a << 32 | c & 0xFFFF_FFFFL,
        d,
        FrameHeader.storedEndpoints((int) (endpointWord >>> 32)),
        (int) endpointWord);
    assertThat(m.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(apart);
  }

  @Property(tries = 200, seed = "39")
  void hopPart(
      @ForAll long seed,
      @ForAll @IntRange(min = 2, max = 255) int hopLimit,
      @ForAll @IntRange(min = 0, max = 127) int copy,
      @ForAll int path) {
    noise(seed);
    FrameHeader.hop(m, AT, hopLimit, copy, path);
    assertThat(FrameHeader.version(m, AT)).isEqualTo(FrameHeader.VERSION);
    assertThat(FrameHeader.hopLimit(m, AT)).isEqualTo(hopLimit);
    assertThat(FrameHeader.copy(m, AT)).isEqualTo(copy);
    assertThat(FrameHeader.path(m, AT)).isEqualTo(path);
    assertThat(FrameHeader.hopCheckField(m, AT)).isEqualTo(FrameHeader.hopCheck(m, AT));
    onlyChanged(14, 24);
  }

  @Property(tries = 200, seed = "40")
  void endToEndWords(
      @ForAll long seed,
      @ForAll int crc,
      @ForAll @IntRange(min = 0, max = 255) int high,
      @ForAll @IntRange(min = 0, max = FrameHeader.EVERY_NODE) int node,
      @ForAll int a,
      @ForAll int b) {
    noise(seed);
    FrameHeader.crc(m, AT, crc);
    assertThat(FrameHeader.crc(m, AT)).isEqualTo(crc);
    onlyChanged(24, 28);
    noise(seed);
    FrameHeader.kindSrc(m, AT, high, node);
    assertThat(FrameHeader.kind(m, AT)).isEqualTo(high);
    assertThat(FrameHeader.src(m, AT)).isEqualTo(node);
    onlyChanged(28, 32);
    noise(seed);
    FrameHeader.flagsDst(m, AT, high, node);
    assertThat(FrameHeader.flags(m, AT)).isEqualTo(high);
    assertThat(FrameHeader.dst(m, AT)).isEqualTo(node);
    onlyChanged(32, 36);
    noise(seed);
    FrameHeader.keySession(m, AT, a, b);
    assertThat(FrameHeader.key(m, AT)).isEqualTo(a);
    assertThat(FrameHeader.session(m, AT)).isEqualTo(b);
    onlyChanged(36, 44);
    noise(seed);
    FrameHeader.seqAck(m, AT, a, b);
    assertThat(FrameHeader.seq(m, AT)).isEqualTo(a);
    assertThat(FrameHeader.ack(m, AT)).isEqualTo(b);
    onlyChanged(44, 52);
    noise(seed);
    FrameHeader.credit(m, AT, a);
    assertThat(FrameHeader.credit(m, AT)).isEqualTo(a);
    onlyChanged(52, 56);
  }

  @Property(tries = 200, seed = "41")
  void endpointsLengthBeyondAndPayload(
      @ForAll long seed,
      @ForAll @IntRange(min = 0, max = 65_535) int src,
      @ForAll @IntRange(min = 0, max = 65_535) int dst,
      @ForAll @IntRange(min = 0, max = 65_535) int length,
      @ForAll @IntRange(min = 0, max = 65_535) int beyond,
      @ForAll @IntRange(min = 0, max = 40) int offset,
      @ForAll long value) {
    noise(seed);
    FrameHeader.endpointsLengthBeyond(m, AT, src, dst, length, beyond);
    assertThat(FrameHeader.srcEndpoint(m, AT)).isEqualTo(src);
    assertThat(FrameHeader.dstEndpoint(m, AT)).isEqualTo(dst);
    assertThat(FrameHeader.length(m, AT)).isEqualTo(length);
    assertThat(FrameHeader.beyond(m, AT)).isEqualTo(beyond);
    onlyChanged(56, 64);
    noise(seed);
    FrameHeader.payloadLong(m, AT, offset, value);
    assertThat(FrameHeader.payloadLong(m, AT, offset)).isEqualTo(value);
    assertThat(FrameHeader.payloadInt(m, AT, offset)).isEqualTo((int) (value >>> 32));
    onlyChanged(64 + offset, 72 + offset);
    noise(seed);
    FrameHeader.payloadInt(m, AT, offset, (int) value);
    assertThat(FrameHeader.payloadInt(m, AT, offset)).isEqualTo((int) value);
    onlyChanged(64 + offset, 68 + offset);
  }

  /** All changes of one byte over 8,000 headers that occur; PROTOCOL.md 2.1 states the figure. */
  @Example
  void hopCheckMissesFewChangesOfOneByte() {
    SplittableRandom random = new SplittableRandom(42);
    int[] covered = {14, 15, 16, 17, 20, 21, 22, 23};
    int changes = 0;
    int missed = 0;
    for (int header = 0; header < 8_000; header++) {
      int path =
          random.nextInt(6) << 29
              | random.nextInt(9) << 8
              | random.nextInt(9) << 4
              | random.nextInt(9);
      FrameHeader.hop(m, 0, 1 + random.nextInt(3), random.nextInt(4), path);
      int check = FrameHeader.hopCheckField(m, 0);
      for (int at : covered) {
        byte good = m.get(ValueLayout.JAVA_BYTE, at);
        for (int change = 1; change < 256; change++) {
          m.set(ValueLayout.JAVA_BYTE, at, (byte) (good ^ change));
          changes++;
          missed += FrameHeader.hopCheck(m, 0) == check ? 1 : 0;
        }
        m.set(ValueLayout.JAVA_BYTE, at, good);
      }
    }
    assertThat(changes).isEqualTo(16_320_000);
    assertThat(missed / (double) changes).isBetween(0.8e-5, 1.4e-5);
  }
}
