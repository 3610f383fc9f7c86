package org.pmhxb.cli.workload;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;
import org.pmhxb.bufpool.Memory;

/**
 * Messages of one stream, from a source to a destination, whose every byte follows from (source,
 * destination, sequence number), so that a receiver can tell any change of content, and which
 * message it holds.
 *
 * <pre>
 *  0 magic:16 | 2 kind:16 | 4 length:32      all little-endian
 *  8 source:32 | 12 destination:32
 * 16 sequence:64
 * 24 send time, ns:64
 * 32 checksum:64                             of kind, sequence and send time
 * 40 words of 64 bits: word i = seed + i x odd constant; the last one is cut to the length
 * </pre>
 *
 * <p>Messages of 4 to 39 bytes are too short for that: they carry the low 32 bits of the sequence
 * number, mixed with source and destination, then the first bytes of the words. They have no send
 * time and no checksum; from 8 bytes on the words show a damage.
 *
 * <p>Writing and judging a message is part of what a benchmark measures, so both cost little more
 * than a copy: all fields but the send time are compared with what they must be, the words form an
 * arithmetic sequence, and seeds of different sequence numbers differ for certain.
 *
 * <p>Immutable, allocation-free. The methods take addresses ({@link #addressOf}): a message's
 * memory is checked once, not at each field.
 */
public final class PayloadPattern {
  /** Smallest message, bytes. */
  public static final int MIN_BYTES = 4;

  /** From this length on a message has the full header, bytes. */
  public static final int HEADER_BYTES = 40;

  /** Up to here words are written and judged where they are met: a call costs more than they do. */
  private static final int FEW_WORDS = 16;

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

  // Odd, and without a simple relation to each other.
  private static final long OF_SEQ = 0x9E37_79B9_7F4A_7C15L;
  private static final long OF_WORD = 0xD1B5_4A32_D192_ED03L;
  private static final long OF_TIME = 0xBF58_476D_1CE4_E5B9L;

  private static final MemorySegment ALL = Memory.ALL;
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** Both nodes, as in the header. */
  private final long nodes;

  /** What the seeds of all messages begin with. */
  private final long base;

  /**
   * @param src node that sends
   * @param dst node that receives
   */
  public PayloadPattern(int src, int dst) {
    nodes = (long) dst << 32 | src & 0xFFFF_FFFFL;
    base = mix(nodes + OF_SEQ);
  }

  /**
   * Where a message lies.
   *
   * @throws IndexOutOfBoundsException it is not all in that memory
   * @throws IllegalArgumentException the memory is on the Java heap
   */
  public static long addressOf(MemorySegment memory, long at, int lengthBytes) {
    if (!memory.isNative()) {
      throw new IllegalArgumentException("a message of a stream lies in native memory");
    }
    Objects.checkFromIndexSize(at, lengthBytes, memory.byteSize());
    return Memory.known(memory.address() + at);
  }

  /**
   * Writes a message of {@code lengthBytes}, at least {@link #MIN_BYTES}. Kinds other than {@link
   * #DATA} need {@link #HEADER_BYTES}.
   */
  public void write(long address, int lengthBytes, int kind, long seq, long sentNs) {
    long to = Memory.known(address);
    long seed = seed(seq);
    if (lengthBytes < HEADER_BYTES) {
      writeShort(to, lengthBytes, kind, seq, seed);
      return;
    }
    ALL.set(LONG, to, word0(kind, lengthBytes));
    ALL.set(LONG, to + SRC, nodes);
    ALL.set(LONG, to + SEQ, seq);
    ALL.set(LONG, to + SENT, sentNs);
    ALL.set(LONG, to + CHECKSUM, checksum(kind, seed, sentNs));
    fill(to + HEADER_BYTES, lengthBytes - HEADER_BYTES, seed);
  }

  private void writeShort(long to, int lengthBytes, int kind, long seq, long seed) {
    if (kind != DATA || lengthBytes < MIN_BYTES) {
      throw new IllegalArgumentException(
          "message of %d bytes, kind %d: has at least %d bytes, %d if it is no data"
              .formatted(lengthBytes, kind, MIN_BYTES, HEADER_BYTES));
    }
    ALL.set(INT, to, (int) (seq ^ base));
    fill(to + Integer.BYTES, lengthBytes - Integer.BYTES, seed);
  }

  private static long word0(int kind, int lengthBytes) {
    return (long) lengthBytes << 32 | (long) kind << 16 | MAGIC;
  }

  /**
   * Checks every byte of a message.
   *
   * @param expectedSeq about which sequence number is due; completes the 32 bits of a short message
   * @return the sequence number, or {@link #CORRUPT}
   */
  public long verify(long address, int lengthBytes, long expectedSeq) {
    long from = Memory.known(address);
    if (lengthBytes < HEADER_BYTES) {
      return verifyShort(from, lengthBytes, expectedSeq);
    }
    long word0 = ALL.get(LONG, from);
    long seq = ALL.get(LONG, from + SEQ);
    long seed = seed(seq);
    int kind = (int) (word0 >>> 16) & 0xFFFF;
    long difference = word0 ^ word0(kind, lengthBytes);
    difference |= ALL.get(LONG, from + SRC) ^ nodes;
    difference |= ALL.get(LONG, from + CHECKSUM) ^ checksum(kind, seed, ALL.get(LONG, from + SENT));
    difference |= difference(from + HEADER_BYTES, lengthBytes - HEADER_BYTES, seed);
    return difference == 0 && seq >= 0 ? seq : CORRUPT;
  }

  private long verifyShort(long from, int lengthBytes, long expectedSeq) {
    if (lengthBytes < MIN_BYTES) {
      return CORRUPT;
    }
    int low = ALL.get(INT, from) ^ (int) base;
    long seq = expectedSeq + (low - (int) expectedSeq);
    boolean differs =
        seq < 0
            || Math.abs(seq - expectedSeq) > MAX_SHORT_JUMP
            || difference(from + Integer.BYTES, lengthBytes - Integer.BYTES, seed(seq)) != 0;
    return differs ? CORRUPT : seq;
  }

  /** What {@link #write} was told; {@link #DATA} for a short message. */
  public static int kind(long address, int lengthBytes) {
    return lengthBytes < HEADER_BYTES ? DATA : ALL.get(SHORT, Memory.known(address) + KIND);
  }

  /** When the message was sent on the sender's clock; -1 for a short message. */
  public static long sentNs(long address, int lengthBytes) {
    return lengthBytes < HEADER_BYTES ? -1 : ALL.get(LONG, Memory.known(address) + SENT);
  }

  private static void fill(long to, int lengthBytes, long seed) {
    int words = lengthBytes >>> 3;
    if (words > FEW_WORDS) {
      fillWords(to, words, seed);
    } else {
      for (int i = 0; i < words; i++) {
        ALL.set(LONG, Memory.known(to) + ((long) i << 3), seed + i * OF_WORD);
      }
    }
    int done = words << 3;
    long last = seed + words * OF_WORD;
    for (int i = done; i < lengthBytes; i++) {
      ALL.set(ValueLayout.JAVA_BYTE, to + i, (byte) (last >>> (i - done << 3)));
    }
  }

  /**
   * Compiled by itself (scripts/jvm.args): a stream of short messages never comes here, and what
   * then inlined it as something rare would call at each word of the long ones that follow.
   */
  private static void fillWords(long to, int words, long seed) {
    for (int i = 0; i < words; i++) {
      ALL.set(LONG, Memory.known(to) + ((long) i << 3), seed + i * OF_WORD);
    }
  }

  /** 0 when the words are as {@link #fill} writes them. */
  private static long difference(long from, int lengthBytes, long seed) {
    int words = lengthBytes >>> 3;
    long difference = 0;
    if (words > FEW_WORDS) {
      difference = differenceOfWords(from, words, seed);
    } else {
      for (int i = 0; i < words; i++) {
        difference |= ALL.get(LONG, Memory.known(from) + ((long) i << 3)) ^ seed + i * OF_WORD;
      }
    }
    int done = words << 3;
    long last = seed + words * OF_WORD;
    for (int i = done; i < lengthBytes; i++) {
      difference |= ALL.get(ValueLayout.JAVA_BYTE, from + i) ^ (byte) (last >>> (i - done << 3));
    }
    return difference;
  }

  /** Compiled by itself, as {@link #fillWords} is. */
  private static long differenceOfWords(long from, int words, long seed) {
    long difference = 0;
    for (int i = 0; i < words; i++) {
      difference |= ALL.get(LONG, Memory.known(from) + ((long) i << 3)) ^ seed + i * OF_WORD;
    }
    return difference;
  }

  /** A change of any one of them is seen for certain: an odd factor loses nothing. */
  private static long checksum(int kind, long seed, long sentNs) {
    return seed + kind + sentNs * OF_TIME;
  }

  /** One to one; the high half is folded in so that also the low bytes are slow to repeat. */
  private long seed(long seq) {
    long s = base + seq * OF_SEQ;
    return s ^ s >>> 32;
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
