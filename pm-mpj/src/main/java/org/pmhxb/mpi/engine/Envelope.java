package org.pmhxb.mpi.engine;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The frames of the MPI layer, read and written in place (docs/MPI.md, frames). All fields are
 * big-endian; {@code at} is where the frame's payload begins.
 *
 * <pre>
 *  every frame
 *   0 kind:8 | 1 flags:8 | 2 epoch:16 | 4 handle:32
 *  EAGER, RENDEZVOUS (the envelope; the first bytes of the message follow)
 *   8 context:32 | 12 tag:32 | 16 elements:32 | 20 type:8 | 21 reserved:24
 *  24 staticBytes:32 | 28 dynamicBytes:32 | 32 headBytes:32 | 36 reserved:32 | 40 freed:64
 *  48 bytes
 *  HEAD, DATA (further bytes)
 *   8 offset:64
 *  16 bytes
 *  GRANT, MATCHED, FREED
 *   8 freed:64 | 16 toHandle:32 | 20 reserved:32
 * </pre>
 */
final class Envelope {
  /** The whole message comes at once. */
  static final int EAGER = 1;

  /** What does not fit into the head waits for a GRANT. */
  static final int RENDEZVOUS = 2;

  /** Goes on with the head of the message whose envelope came last. */
  static final int HEAD = 3;

  /** A receive has matched a RENDEZVOUS: send the rest to {@code toHandle}. */
  static final int GRANT = 4;

  /** The rest of a message, to the receiver's handle. */
  static final int DATA = 5;

  /** A receive has matched an EAGER message that asked to be told. */
  static final int MATCHED = 6;

  /** Room for heads has become free. */
  static final int FREED = 7;

  /** EAGER: tell when a receive has matched (synchronous mode). */
  static final int FLAG_SYNCHRONOUS = 1;

  /** GRANT: the receive was too short for the message; send nothing more. */
  static final int FLAG_DISCARD = 2;

  /** MPJ's mpjbuf.Type has the codes 0 to 17, and looks them up in an array. */
  static final int TYPES = 18;

  static final int FIRST_BYTES = 48;
  static final int NEXT_BYTES = 16;
  static final int CONTROL_BYTES = 24;

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private Envelope() {}

  static void common(MemorySegment m, long at, int kind, int flags, int epoch, int handle) {
    m.set(ValueLayout.JAVA_BYTE, at, (byte) kind);
    m.set(ValueLayout.JAVA_BYTE, at + 1, (byte) flags);
    m.set(SHORT, at + 2, (short) epoch);
    m.set(INT, at + 4, handle);
  }

  static void first(MemorySegment m, long at, SendOperation op, long freed) {
    m.set(INT, at + 8, op.context);
    m.set(INT, at + 12, op.tag);
    m.set(INT, at + 16, op.elements);
    m.set(INT, at + 20, op.type << 24);
    m.set(INT, at + 24, op.payload.firstBytes());
    m.set(INT, at + 28, op.payload.secondBytes());
    m.set(INT, at + 32, op.headBytes);
    m.set(INT, at + 36, 0);
    m.set(LONG, at + 40, freed);
  }

  static void next(MemorySegment m, long at, long offset) {
    m.set(LONG, at + 8, offset);
  }

  static void control(MemorySegment m, long at, long freed, int toHandle) {
    m.set(LONG, at + 8, freed);
    m.set(INT, at + 16, toHandle);
    m.set(INT, at + 20, 0);
  }

  static int kind(MemorySegment m, long at) {
    return m.get(ValueLayout.JAVA_BYTE, at);
  }

  static int flags(MemorySegment m, long at) {
    return m.get(ValueLayout.JAVA_BYTE, at + 1);
  }

  static int epoch(MemorySegment m, long at) {
    return m.get(SHORT, at + 2) & 0xFFFF;
  }

  static int handle(MemorySegment m, long at) {
    return m.get(INT, at + 4);
  }

  static int context(MemorySegment m, long at) {
    return m.get(INT, at + 8);
  }

  static int tag(MemorySegment m, long at) {
    return m.get(INT, at + 12);
  }

  static int elements(MemorySegment m, long at) {
    return m.get(INT, at + 16);
  }

  static int type(MemorySegment m, long at) {
    return m.get(ValueLayout.JAVA_BYTE, at + 20);
  }

  static int staticBytes(MemorySegment m, long at) {
    return m.get(INT, at + 24);
  }

  static int dynamicBytes(MemorySegment m, long at) {
    return m.get(INT, at + 28);
  }

  static int headBytes(MemorySegment m, long at) {
    return m.get(INT, at + 32);
  }

  static long freedByFirst(MemorySegment m, long at) {
    return m.get(LONG, at + 40);
  }

  static long offset(MemorySegment m, long at) {
    return m.get(LONG, at + 8);
  }

  static long freedByControl(MemorySegment m, long at) {
    return m.get(LONG, at + 8);
  }

  static int toHandle(MemorySegment m, long at) {
    return m.get(INT, at + 16);
  }
}
