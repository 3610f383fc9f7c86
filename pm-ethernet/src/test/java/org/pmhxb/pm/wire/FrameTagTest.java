package org.pmhxb.pm.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Against SipHash-2-4 written as its paper does, and that against the paper's own vector. */
class FrameTagTest {
  private static final long K0 = 0x0706_0504_0302_0100L;
  private static final long K1 = 0x0f0e_0d0c_0b0a_0908L;

  private static long[] round(long[] v) {
    v[0] += v[1];
    v[1] = Long.rotateLeft(v[1], 13) ^ v[0];
    v[0] = Long.rotateLeft(v[0], 32);
    v[2] += v[3];
    v[3] = Long.rotateLeft(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = Long.rotateLeft(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = Long.rotateLeft(v[1], 17) ^ v[2];
    v[2] = Long.rotateLeft(v[2], 32);
    return v;
  }

  private static long sipHash24(byte[] message) {
    long[] v = {
      K0 ^ 0x736f6d6570736575L,
      K1 ^ 0x646f72616e646f6dL,
      K0 ^ 0x6c7967656e657261L,
      K1 ^ 0x7465646279746573L
    };
    byte[] padded = java.util.Arrays.copyOf(message, (message.length / 8 + 1) * 8);
    padded[padded.length - 1] = (byte) message.length;
    ByteBuffer words = ByteBuffer.wrap(padded).order(ByteOrder.LITTLE_ENDIAN);
    while (words.hasRemaining()) {
      long m = words.getLong();
      v[3] ^= m;
      round(round(v));
      v[0] ^= m;
    }
    v[2] ^= 0xFF;
    round(round(round(round(v))));
    return v[0] ^ v[1] ^ v[2] ^ v[3];
  }

  /** Appendix A of the paper: key 00..0f, message 00..0e. */
  @Test
  void theReferenceIsThatOfThePaper() {
    byte[] message = new byte[15];
    for (int i = 0; i < message.length; i++) {
      message[i] = (byte) i;
    }
    assertThat(sipHash24(message)).isEqualTo(0xa129ca6149be45e5L);
  }

  @Test
  void tagsAreSipHashOfHeaderCrcAndStamp() {
    Random random = new Random(1);
    FrameTag tag = new FrameTag(K0, K1);
    for (int i = 0; i < 1_000; i++) {
      int payload = random.nextInt(200);
      byte[] frame = new byte[64 + payload + FrameTag.BYTES];
      random.nextBytes(frame);
      long stamp = random.nextLong();
      MemorySegment memory = MemorySegment.ofArray(frame);
      tag.seal(memory, 0, payload, stamp);
      ByteBuffer message = ByteBuffer.allocate(48).put(frame, 24, 40).putLong(stamp);
      long written =
          ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN).getLong(64 + payload + 8);
      assertThat(written).isEqualTo(sipHash24(message.array()));
      assertThat(tag.holds(memory, 0, payload)).isTrue();
      assertThat(FrameTag.stamp(memory, 0, payload)).isEqualTo(stamp);
    }
  }

  @Test
  void everyBitUnderTheTagCounts() {
    FrameTag tag = new FrameTag(K0, K1);
    byte[] frame = new byte[64 + 8 + FrameTag.BYTES];
    MemorySegment memory = MemorySegment.ofArray(frame);
    tag.seal(memory, 0, 8, 77);
    for (int bit = 24 * 8; bit < frame.length * 8; bit++) {
      boolean payload = bit >= 64 * 8 && bit < 72 * 8;
      frame[bit / 8] ^= (byte) (1 << bit % 8);
      assertThat(tag.holds(memory, 0, 8)).as("bit %d", bit).isEqualTo(payload);
      frame[bit / 8] ^= (byte) (1 << bit % 8);
    }
    assertThat(new FrameTag(K0 ^ 1, K1).holds(memory, 0, 8)).isFalse();
  }
}
