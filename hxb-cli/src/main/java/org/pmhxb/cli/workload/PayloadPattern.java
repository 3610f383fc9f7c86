package org.pmhxb.cli.workload;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A message whose every byte follows from (source, destination, sequence number), so that a
 * receiver can tell any change of content, and which message it holds.
 *
 * <pre>
 *  0 magic:16 | 2 kind:16 | 4 length:32      all little-endian
 *  8 source:32 | 12 destination:32
 * 16 sequence:64
 * 24 send time, ns:64
 * 32 checksum:64                             over the fields above and the words below
 * 40 words of 64 bits: word i = seed + i x odd constant; the last one is cut to the length
 * </pre>
 *
 * <p>Messages of 4 to 39 bytes are too short for that: they carry the low 32 bits of the sequence
 * number, mixed with source and destination, then the first bytes of the words. They have no send
 * time and no checksum; from 8 bytes on the words show a damage.
 *
 * <p>The words form an arithmetic sequence since the loops that write and compare them then cost
 * about as much as a copy. Static, stateless, allocation-free.
 */
public final class PayloadPattern {
  /** Smallest message, bytes. */
  public static final int MIN_BYTES = 4;

  /** From this length on a message has the full header, bytes. */
  public static final int HEADER_BYTES = 40;

  /** A short message that claims to be further than this from its turn is taken for damaged. */
  static final long MAX_SHORT_JUMP = 1L << 20;

  /** {@link #verify} found other bytes than the pattern's. */
  public static final long CORRUPT = -1;

  /** An ordinary message. */
  public static final int DATA = 1;

  /** Ends a stream: its sequence number is the count of messages before it. */
  public static final int END = 2;

  private static final int MAGIC = 0x4842;
  private static final int KIND = Short.BYTES;
  private static final int LENGTH = KIND + Short.BYTES;
  private static final int SRC = LENGTH + Integer.BYTES;
  private static final int DST = SRC + Integer.BYTES;
  private static final int SEQ = DST + Integer.BYTES;
  private static final int SENT = SEQ + Long.BYTES;
  private static final int CHECKSUM = SENT + Long.BYTES;

  private static final long ODD = 0x9E37_79B9_7F4A_7C15L;
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private PayloadPattern() {}

  /**
   * Writes a message of {@code lengthBytes}, at least {@link #MIN_BYTES}, at {@code at}. Kinds
   * other than {@link #DATA} need {@link #HEADER_BYTES}.
   */
  public static void write(
      MemorySegment memory,
      long at,
      int lengthBytes,
      int kind,
      int src,
      int dst,
      long seq,
      long sentNs) {
    long seed = seed(src, dst, seq);
    if (lengthBytes < HEADER_BYTES) {
      assert kind == DATA && lengthBytes >= MIN_BYTES : lengthBytes;
      memory.set(INT, at, (int) seq ^ (int) seed(src, dst, 0));
      fill(memory, at + Integer.BYTES, lengthBytes - Integer.BYTES, seed);
      return;
    }
    long word0 = word0(kind, lengthBytes);
    long word1 = word1(src, dst);
    memory.set(LONG, at, word0);
    memory.set(LONG, at + SRC, word1);
    memory.set(LONG, at + SEQ, seq);
    memory.set(LONG, at + SENT, sentNs);
    long sum = fill(memory, at + HEADER_BYTES, lengthBytes - HEADER_BYTES, seed);
    memory.set(LONG, at + CHECKSUM, checksum(word0, word1, seq, sentNs, sum));
  }

  private static long word0(int kind, int lengthBytes) {
    return (long) lengthBytes << 32 | (long) kind << 16 | MAGIC;
  }

  private static long word1(int src, int dst) {
    return (long) dst << 32 | src & 0xFFFF_FFFFL;
  }

  /**
   * Checks every byte of a message from {@code src} to {@code dst}.
   *
   * @param expectedSeq about which sequence number is due; completes the 32 bits of a short message
   * @return the sequence number, or {@link #CORRUPT}
   */
  public static long verify(
      MemorySegment memory, long at, int lengthBytes, int src, int dst, long expectedSeq) {
    if (lengthBytes < HEADER_BYTES) {
      return verifyShort(memory, at, lengthBytes, src, dst, expectedSeq);
    }
    long seq = memory.get(LONG, at + SEQ);
    long word0 = memory.get(LONG, at);
    long word1 = memory.get(LONG, at + SRC);
    int kind = (int) (word0 >>> 16) & 0xFFFF;
    if (word0 != word0(kind, lengthBytes) || word1 != word1(src, dst) || seq < 0) {
      return CORRUPT;
    }
    long seed = seed(src, dst, seq);
    int patternBytes = lengthBytes - HEADER_BYTES;
    if (differs(memory, at + HEADER_BYTES, patternBytes, seed)) {
      return CORRUPT;
    }
    // The words are as written, so their sum need not be formed again from memory.
    long sum = sum(patternBytes, seed);
    long checksum = checksum(word0, word1, seq, memory.get(LONG, at + SENT), sum);
    return memory.get(LONG, at + CHECKSUM) == checksum ? seq : CORRUPT;
  }

  private static long verifyShort(
      MemorySegment memory, long at, int lengthBytes, int src, int dst, long expectedSeq) {
    if (lengthBytes < MIN_BYTES) {
      return CORRUPT;
    }
    int low = memory.get(INT, at) ^ (int) seed(src, dst, 0);
    long seq = expectedSeq + (low - (int) expectedSeq);
    boolean differs =
        seq < 0
            || Math.abs(seq - expectedSeq) > MAX_SHORT_JUMP
            || differs(
                memory, at + Integer.BYTES, lengthBytes - Integer.BYTES, seed(src, dst, seq));
    return differs ? CORRUPT : seq;
  }

  /** What {@link #write} was told; {@link #DATA} for a short message. */
  public static int kind(MemorySegment memory, long at, int lengthBytes) {
    return lengthBytes < HEADER_BYTES ? DATA : memory.get(SHORT, at + KIND);
  }

  /** When the message was sent on the sender's clock; -1 for a short message. */
  public static long sentNs(MemorySegment memory, long at, int lengthBytes) {
    return lengthBytes < HEADER_BYTES ? -1 : memory.get(LONG, at + SENT);
  }

  private static long fill(MemorySegment memory, long at, int lengthBytes, long seed) {
    int words = lengthBytes >>> 3;
    for (int i = 0; i < words; i++) {
      memory.set(LONG, at + ((long) i << 3), seed + i * ODD);
    }
    int done = words << 3;
    long last = seed + words * ODD;
    for (int i = done; i < lengthBytes; i++) {
      memory.set(ValueLayout.JAVA_BYTE, at + i, (byte) (last >>> (i - done << 3)));
    }
    return sum(lengthBytes, seed);
  }

  private static boolean differs(MemorySegment memory, long at, int lengthBytes, long seed) {
    int words = lengthBytes >>> 3;
    long difference = 0;
    for (int i = 0; i < words; i++) {
      difference |= memory.get(LONG, at + ((long) i << 3)) ^ seed + i * ODD;
    }
    int done = words << 3;
    long last = seed + words * ODD;
    for (int i = done; i < lengthBytes; i++) {
      difference |= memory.get(ValueLayout.JAVA_BYTE, at + i) ^ (byte) (last >>> (i - done << 3));
    }
    return difference != 0;
  }

  /** Sum of all words, the cut one included, modulo 2^64. */
  private static long sum(int lengthBytes, long seed) {
    long words = (lengthBytes + 7L) >>> 3;
    return words * seed + words * (words - 1) / 2 * ODD;
  }

  /**
   * Each word counts with an odd factor of its own, so that a change of any one is seen for
   * certain; the products do not wait for each other.
   */
  private static long checksum(long word0, long word1, long seq, long sentNs, long sum) {
    return mix(sum + word0 * ODD + word1 * (3 * ODD) + seq * (5 * ODD) + sentNs * (7 * ODD));
  }

  private static long seed(int src, int dst, long seq) {
    return mix(mix(((long) src << 32 | dst & 0xFFFF_FFFFL) + ODD) + seq * ODD);
  }

  /**
   * Finaliser of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators).
   */
  private static long mix(long z) {
    long a = (z ^ z >>> 30) * 0xBF58_476D_1CE4_E5B9L;
    long b = (a ^ a >>> 27) * 0x94D0_49BB_1331_11EBL;
    return b ^ b >>> 31;
  }
}
