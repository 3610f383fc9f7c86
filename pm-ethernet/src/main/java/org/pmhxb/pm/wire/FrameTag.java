package org.pmhxb.pm.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The keyed tag of a frame (PROTOCOL.md section 2.6): SipHash-2-4 with 64 bits of output (Aumasson
 * and Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012) over bytes 24 to 63, CRC and
 * header, and the stamp.
 *
 * <pre>
 *   64 + length      stamp:64 (big-endian) | 8 tag: 8 bytes in SipHash's own order
 * </pre>
 *
 * <p>Immutable; any thread. No allocation.
 */
public final class FrameTag {
  /** What follows the payload, and is not counted in {@code length}. */
  public static final int BYTES = 16;

  private static final int TAG = Long.BYTES;
  private static final int WORDS = (FrameHeader.BYTES - FrameHeader.CRC) / Long.BYTES;
  private static final long LAST_WORD = (long) (FrameHeader.BYTES - FrameHeader.CRC + 8) << 56;

  private static final ValueLayout.OfLong LE_LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong BE_LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private final long v0;
  private final long v1;
  private final long v2;
  private final long v3;

  /** The key's 16 bytes as two little-endian words, as SipHash reads them. */
  public FrameTag(long k0, long k1) {
    v0 = k0 ^ 0x736f6d6570736575L;
    v1 = k1 ^ 0x646f72616e646f6dL;
    v2 = k0 ^ 0x6c7967656e657261L;
    v3 = k1 ^ 0x7465646279746573L;
  }

  /** Writes stamp and tag behind the payload; header and CRC are complete. */
  public void seal(MemorySegment frames, long at, int payloadBytes, long stamp) {
    long trailer = at + FrameHeader.BYTES + payloadBytes;
    frames.set(BE_LONG, trailer, stamp);
    frames.set(LE_LONG, trailer + TAG, hash(frames, at, Long.reverseBytes(stamp)));
  }

  /** Whether the tag is right; the caller has found the trailer to lie within the frame. */
  public boolean holds(MemorySegment frames, long at, int payloadBytes) {
    long trailer = at + FrameHeader.BYTES + payloadBytes;
    return frames.get(LE_LONG, trailer + TAG) == hash(frames, at, frames.get(LE_LONG, trailer));
  }

  /** The stamp behind the payload. */
  public static long stamp(MemorySegment frames, long at, int payloadBytes) {
    return frames.get(BE_LONG, at + FrameHeader.BYTES + payloadBytes);
  }

  /** SipHash-2-4 of 48 bytes: five words of the frame, the stamp, then the word of the length. */
  private long hash(MemorySegment frames, long at, long stampWord) {
    long a = v0;
    long b = v1;
    long c = v2;
    long d = v3;
    for (int i = 0; i < WORDS + 2; i++) {
      long m =
          i < WORDS
              ? frames.get(LE_LONG, at + FrameHeader.CRC + ((long) i << 3))
              : i == WORDS ? stampWord : LAST_WORD;
      d ^= m;
      for (int round = 0; round < 2; round++) {
        a += b;
        c += d;
        b = Long.rotateLeft(b, 13) ^ a;
        d = Long.rotateLeft(d, 16) ^ c;
        a = Long.rotateLeft(a, 32);
        c += b;
        a += d;
        b = Long.rotateLeft(b, 17) ^ c;
        d = Long.rotateLeft(d, 21) ^ a;
        c = Long.rotateLeft(c, 32);
      }
      a ^= m;
    }
    c ^= 0xFF;
    for (int round = 0; round < 4; round++) {
      a += b;
      c += d;
      b = Long.rotateLeft(b, 13) ^ a;
      d = Long.rotateLeft(d, 16) ^ c;
      a = Long.rotateLeft(a, 32);
      c += b;
      a += d;
      b = Long.rotateLeft(b, 17) ^ c;
      d = Long.rotateLeft(d, 21) ^ a;
      c = Long.rotateLeft(c, 32);
    }
    return a ^ b ^ c ^ d;
  }
}
