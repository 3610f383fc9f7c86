package org.pmhxb.pm.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The payload of a frame with {@link FrameHeader#FLAG_COALESCED}: small messages of one channel, in
 * order (PROTOCOL.md section 7.1).
 *
 * <pre>
 *   0 message 0, zeros up to a multiple of 8 | message 1, zeros | ... | last message, zeros
 *     length of the last:16 | ... | length of message 1:16 | length of message 0:16 | messages:16
 * </pre>
 *
 * <p>The table stands at the end and is read from there backwards: the first message lies where the
 * message of an ordinary frame lies, so that a frame needs not be changed before a second one joins
 * it. All fields are big-endian; {@code at} is the offset of the payload in {@code frames}, {@code
 * bytes} its length.
 */
public final class CoalescedPayload {
  /** Each message begins at a multiple of this from the payload's begin. */
  public static final int ALIGNMENT_BYTES = 8;

  /** Of the table, what a message takes. */
  public static final int LENGTH_BYTES = Short.BYTES;

  private static final ValueLayout.OfShort BE_SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  /** Little-endian, so that a message's first byte is the lowest. */
  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private CoalescedPayload() {}

  /** Bytes that a message takes up, the table apart. */
  public static int paddedBytes(int messageBytes) {
    return messageBytes + ALIGNMENT_BYTES - 1 & -ALIGNMENT_BYTES;
  }

  /** Bytes of the table. */
  public static int tableBytes(int messages) {
    return (messages + 1) * Short.BYTES;
  }

  // --- reading ------------------------------------------------------------------------------

  /**
   * Whether the table is complete and its messages fill the payload exactly. All other reading
   * methods need that.
   */
  public static boolean isValid(MemorySegment frames, long at, int bytes) {
    if (bytes < tableBytes(1)) {
      return false;
    }
    int messages = messages(frames, at, bytes);
    int rest = bytes - tableBytes(messages);
    if (messages == 0 || rest < 0) {
      return false;
    }
    for (int i = 0; i < messages; i++) {
      rest -= paddedBytes(length(frames, at, bytes, i));
    }
    return rest == 0;
  }

  public static int messages(MemorySegment frames, long at, int bytes) {
    return frames.get(BE_SHORT, at + bytes - Short.BYTES) & 0xFFFF;
  }

  /** Bytes of message {@code i}, which begins where those before it end, padding included. */
  public static int length(MemorySegment frames, long at, int bytes, int i) {
    return frames.get(BE_SHORT, lengthAt(at, bytes, i)) & 0xFFFF;
  }

  /** Where the table has the length of message {@code i}; that of the next is before it. */
  public static long lengthAt(long at, int bytes, int i) {
    return at + bytes - tableBytes(i + 1);
  }

  // --- writing ------------------------------------------------------------------------------

  /**
   * Whether one more message fits. While a payload grows, its table stands at the end of {@code
   * roomBytes}, all that the frame has.
   *
   * @param usedBytes of the messages so far, padding included
   * @param messages so far
   */
  public static boolean fits(int usedBytes, int messages, int moreBytes, int roomBytes) {
    return usedBytes + paddedBytes(moreBytes) + tableBytes(messages + 1) <= roomBytes;
  }

  /** The only message of an ordinary frame becomes message 0 of a payload that grows. */
  public static void begin(MemorySegment frames, long at, int roomBytes, int messageBytes) {
    enter(frames, at, roomBytes, 0, 0, messageBytes);
  }

  /**
   * Copies message {@code i} behind those before it. It may read up to 7 bytes behind the source;
   * zeros stand in their place.
   *
   * @param usedBytes of the messages before it, padding included
   */
  public static void append(
      MemorySegment frames,
      long at,
      int roomBytes,
      int i,
      int usedBytes,
      long from,
      int messageBytes) {
    long to = at + usedBytes;
    int done = 0;
    for (; done <= messageBytes - 4 * Long.BYTES; done += 4 * Long.BYTES) {
      copyFourWords(frames, from + done, to + done);
    }
    for (; done < messageBytes; done += Long.BYTES) {
      frames.set(WORD, to + done, frames.get(WORD, from + done));
    }
    enter(frames, at, roomBytes, i, usedBytes, messageBytes);
  }

  /**
   * Adds message {@code i}, whose bytes stand in their place behind those before it: what follows
   * them becomes zeros, and the table gets its length.
   *
   * @param usedBytes of the messages before it, padding included
   */
  public static void enter(
      MemorySegment frames, long at, int roomBytes, int i, int usedBytes, int messageBytes) {
    enterAt(frames, at + usedBytes, lengthAt(at, roomBytes, i), messageBytes);
  }

  /**
   * The same by places: the next message's are {@link #paddedBytes} behind and {@link
   * #LENGTH_BYTES} before these.
   *
   * @param message where it stands
   * @param lengthAt {@link #lengthAt} of it
   */
  public static void enterAt(MemorySegment frames, long message, long lengthAt, int messageBytes) {
    pad(frames, message, messageBytes);
    frames.set(BE_SHORT, lengthAt, (short) messageBytes);
  }

  private static void pad(MemorySegment frames, long message, int messageBytes) {
    int whole = messageBytes & -ALIGNMENT_BYTES;
    if (whole < messageBytes) {
      long last = frames.get(WORD, message + whole);
      frames.set(WORD, message + whole, last & tailMask(messageBytes - whole));
    }
  }

  /**
   * Copies a payload that still grows, its table included, to another frame.
   *
   * @param usedBytes of its messages, without the padding of the last
   */
  public static void copyGrowing(
      MemorySegment frames, long from, long to, int roomBytes, int messages, int usedBytes) {
    MemorySegment.copy(frames, from, frames, to, usedBytes);
    int table = tableBytes(messages);
    long tableAt = roomBytes - (long) table;
    MemorySegment.copy(frames, from + tableAt, frames, to + tableAt, table);
  }

  /** By words, not by vectors: the program wrote them just now, most often as words. */
  private static void copyFourWords(MemorySegment frames, long from, long to) {
    long word0 = frames.get(WORD, from);
    long word1 = frames.get(WORD, from + Long.BYTES);
    long word2 = frames.get(WORD, from + 2 * Long.BYTES);
    long word3 = frames.get(WORD, from + 3 * Long.BYTES);
    frames.set(WORD, to, word0);
    frames.set(WORD, to + Long.BYTES, word1);
    frames.set(WORD, to + 2 * Long.BYTES, word2);
    frames.set(WORD, to + 3 * Long.BYTES, word3);
  }

  /**
   * Moves the table behind the last message.
   *
   * @return bytes of the whole payload
   */
  public static int finish(
      MemorySegment frames, long at, int roomBytes, int messages, int usedBytes) {
    int table = tableBytes(messages);
    frames.set(BE_SHORT, at + roomBytes - Short.BYTES, (short) messages);
    MemorySegment.copy(frames, at + roomBytes - table, frames, at + usedBytes, table);
    return usedBytes + table;
  }

  private static long tailMask(int bytes) {
    return (1L << 8 * bytes) - 1;
  }
}
