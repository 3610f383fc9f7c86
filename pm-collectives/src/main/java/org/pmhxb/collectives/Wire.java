package org.pmhxb.collectives;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The messages of collectives, read and written in place (PROTOCOL.md section 12). Each is one PM
 * message of at most a frame. Fields are big-endian, the bytes that follow are the program's.
 *
 * <pre>
 *  every message
 *   0 kind:8 | 1 use:8 | 2 group:16 | 4 call:32 | 8 consumed:64
 *  16 bytes: CREDIT and ASK end here
 *  DATA (bytes of a step follow)
 *  16 signature:32 | 20 ordinal:32 | 24 offset:64
 *  32 bytes
 *  ABORT
 *  16 node:32 | 20 reason:32
 *  24 bytes
 * </pre>
 */
final class Wire {
  /** Bytes of a step. */
  static final int DATA = 1;

  /** Tells what was consumed, where no DATA goes that way. */
  static final int CREDIT = 2;

  /** The group is broken. */
  static final int ABORT = 3;

  /** Its sender waits, and asks whether what it waits for was lost with a session. */
  static final int ASK = 4;

  static final int COMMON_BYTES = 16;
  static final int ABORT_BYTES = 24;
  static final int DATA_BYTES = 32;

  /** What a message counts for in a window beside its bytes: also empty ones must end somewhere. */
  static final int COST_BYTES = 64;

  /** Reasons of ABORT: the node named is down. */
  static final int REASON_PEER_DOWN = 1;

  /** The node named made another call than its partner. */
  static final int REASON_MISMATCH = 2;

  /** The node named has left the group. */
  static final int REASON_LEFT = 3;

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private Wire() {}

  /** What a message of so many bytes counts for, where it waits as in a window. */
  static int cost(int lengthBytes) {
    return Math.max(0, lengthBytes - DATA_BYTES) + COST_BYTES;
  }

  static void common(
      MemorySegment m, long at, int kind, int use, int group, int call, long consumed) {
    m.set(SHORT, at, (short) (kind << 8 | use));
    m.set(SHORT, at + 2, (short) group);
    m.set(INT, at + 4, call);
    m.set(LONG, at + 8, consumed);
  }

  static void data(MemorySegment m, long at, int signature, int ordinal, long offset) {
    m.set(INT, at + 16, signature);
    m.set(INT, at + 20, ordinal);
    m.set(LONG, at + 24, offset);
  }

  static void abort(MemorySegment m, long at, int node, int reason) {
    m.set(INT, at + 16, node);
    m.set(INT, at + 20, reason);
  }

  static int kind(MemorySegment m, long at) {
    return m.get(SHORT, at) >> 8;
  }

  /** Which use of the group's number it is of, 0 to 255. */
  static int use(MemorySegment m, long at) {
    return m.get(SHORT, at) & 0xFF;
  }

  static int group(MemorySegment m, long at) {
    return m.get(SHORT, at + 2) & 0xFFFF;
  }

  static int call(MemorySegment m, long at) {
    return m.get(INT, at + 4);
  }

  static long consumed(MemorySegment m, long at) {
    return m.get(LONG, at + 8);
  }

  static int signature(MemorySegment m, long at) {
    return m.get(INT, at + 16);
  }

  static int ordinal(MemorySegment m, long at) {
    return m.get(INT, at + 20);
  }

  static long offset(MemorySegment m, long at) {
    return m.get(LONG, at + 24);
  }

  static int abortNode(MemorySegment m, long at) {
    return m.get(INT, at + 16);
  }

  static int abortReason(MemorySegment m, long at) {
    return m.get(INT, at + 20);
  }

  /** Whether a message is long enough for its kind. */
  static boolean isComplete(MemorySegment m, long at, int bytes) {
    if (bytes < COMMON_BYTES) {
      return false;
    }
    return switch (kind(m, at)) {
      case DATA -> bytes > DATA_BYTES;
      case CREDIT, ASK -> bytes == COMMON_BYTES;
      case ABORT -> bytes == ABORT_BYTES;
      default -> false;
    };
  }
}
