package org.pmhxb.collectives;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Element-wise combination of two ranges of memory: plain counted loops over unaligned loads. One
 * operand is a received frame where it lies. Both operands and the target may be on or off the
 * heap.
 */
final class Kernels {
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;
  private static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE_UNALIGNED;

  /** {@code to = a op b}; the target may be one of the operands, and overlaps neither otherwise. */
  @FunctionalInterface
  interface Kernel {
    void combine(
        MemorySegment a, long aAt, MemorySegment b, long bAt, MemorySegment to, long at, int bytes);
  }

  private static final Kernel[] WHOLE_INTS = {
    Kernels::sumInts, Kernels::minInts, Kernels::maxInts, Kernels::and, Kernels::or, Kernels::xor
  };
  private static final Kernel[] WHOLE_LONGS = {
    Kernels::sumLongs, Kernels::minLongs, Kernels::maxLongs, Kernels::and, Kernels::or, Kernels::xor
  };
  private static final Kernel[] FLOATS = {
    Kernels::sumFloats, Kernels::minFloats, Kernels::maxFloats
  };
  private static final Kernel[] DOUBLES = {
    Kernels::sumDoubles, Kernels::minDoubles, Kernels::maxDoubles
  };

  private Kernels() {}

  /**
   * The loop for a type and an operation.
   *
   * @throws IllegalArgumentException a bitwise operation of floating-point numbers
   */
  static Kernel of(ElementType type, ReduceOp op) {
    if (type.isFloating() && op.isBitwise()) {
      throw new IllegalArgumentException(
          op + " of " + type + ": bitwise operations are for int and long");
    }
    Kernel[] kernels =
        switch (type) {
          case INT -> WHOLE_INTS;
          case LONG -> WHOLE_LONGS;
          case FLOAT -> FLOATS;
          case DOUBLE -> DOUBLES;
        };
    return kernels[op.ordinal()];
  }

  private static void sumInts(
      MemorySegment a, long aAt, MemorySegment b, long bAt, MemorySegment to, long at, int bytes) {
    for (int i = 0; i < bytes; i += Integer.BYTES) {
      to.set(INT, at + i, a.get(INT, aAt + i) + b.get(INT, bAt + i));
    }
  }

  private static void minInts(
      MemorySegment a, long aAt, MemorySegment b, long bAt, MemorySegment to, long at, int bytes) {
    for (int i = 0; i < bytes; i += Integer.BYTES) {
      to.set(INT, at + i, Math.min(a.get(INT, aAt + i), b.get(INT, bAt + i)));
    }
  }

  private static void maxInts(
      MemorySegment a, long aAt, MemorySegment b, long bAt, MemorySegment to, long at, int bytes) {
    for (int i = 0; i < bytes; i += Integer.BYTES) {
      to.set(INT, at + i, Math.max(a.get(INT, aAt + i), b.get(INT, bAt + i)));
    }
  }

  private static void sumLongs(
      MemorySegment a, long aAt, MemorySegment b, long bAt, MemorySegment to, long at, int bytes) {
    for (int i = 0; i < bytes; i += Long.BYTES) {
      to.set(LONG, at + i, a.get(LONG, aAt + i) + b.get(LONG, bAt + i));
    }
  }

  private static void minLongs(
      MemorySegment a, long aAt, MemorySegment b, long bAt, MemorySegment to, long at, int bytes) {
    for (int i = 0; i < bytes; i += Long.BYTES) {
      to.set(LONG, at + i, Math.min(a.get(LONG, aAt + i), b.get(LONG, bAt + i)));
    }
  }

  private static void maxLongs(
      MemorySegment a, long aAt, MemorySegment b, long bAt, MemorySegment to, long at, int bytes) {
    for (int i = 0; i < bytes; i += Long.BYTES) {
      to.set(LONG, at + i, Math.max(a.get(LONG, aAt + i), b.get(LONG, bAt + i)));
    }
  }

  private static void sumFloats(
      MemorySegment a, long aAt, MemorySegment b, long bAt, MemorySegment to, long at, int bytes) {
    for (int i = 0; i < bytes; i += Float.BYTES) {
      to.set(FLOAT, at + i, a.get(FLOAT, aAt + i) + b.get(FLOAT, bAt + i));
    }
  }

  private static void minFloats(
      MemorySegment a, long aAt, MemorySegment b, long bAt, MemorySegment to, long at, int bytes) {
    for (int i = 0; i < bytes; i += Float.BYTES) {
      to.set(FLOAT, at + i, Math.min(a.get(FLOAT, aAt + i), b.get(FLOAT, bAt + i)));
    }
  }

  private static void maxFloats(
      MemorySegment a, long aAt, MemorySegment b, long bAt, MemorySegment to, long at, int bytes) {
    for (int i = 0; i < bytes; i += Float.BYTES) {
      to.set(FLOAT, at + i, Math.max(a.get(FLOAT, aAt + i), b.get(FLOAT, bAt + i)));
    }
  }

  private static void sumDoubles(
      MemorySegment a, long aAt, MemorySegment b, long bAt, MemorySegment to, long at, int bytes) {
    for (int i = 0; i < bytes; i += Double.BYTES) {
      to.set(DOUBLE, at + i, a.get(DOUBLE, aAt + i) + b.get(DOUBLE, bAt + i));
    }
  }

  private static void minDoubles(
      MemorySegment a, long aAt, MemorySegment b, long bAt, MemorySegment to, long at, int bytes) {
    for (int i = 0; i < bytes; i += Double.BYTES) {
      to.set(DOUBLE, at + i, Math.min(a.get(DOUBLE, aAt + i), b.get(DOUBLE, bAt + i)));
    }
  }

  private static void maxDoubles(
      MemorySegment a, long aAt, MemorySegment b, long bAt, MemorySegment to, long at, int bytes) {
    for (int i = 0; i < bytes; i += Double.BYTES) {
      to.set(DOUBLE, at + i, Math.max(a.get(DOUBLE, aAt + i), b.get(DOUBLE, bAt + i)));
    }
  }

  // Bits do not know where elements end: by longs, and one int at the end.

  private static void and(
      MemorySegment a, long aAt, MemorySegment b, long bAt, MemorySegment to, long at, int bytes) {
    int longs = bytes & -Long.BYTES;
    for (int i = 0; i < longs; i += Long.BYTES) {
      to.set(LONG, at + i, a.get(LONG, aAt + i) & b.get(LONG, bAt + i));
    }
    if (longs < bytes) {
      to.set(INT, at + longs, a.get(INT, aAt + longs) & b.get(INT, bAt + longs));
    }
  }

  private static void or(
      MemorySegment a, long aAt, MemorySegment b, long bAt, MemorySegment to, long at, int bytes) {
    int longs = bytes & -Long.BYTES;
    for (int i = 0; i < longs; i += Long.BYTES) {
      to.set(LONG, at + i, a.get(LONG, aAt + i) | b.get(LONG, bAt + i));
    }
    if (longs < bytes) {
      to.set(INT, at + longs, a.get(INT, aAt + longs) | b.get(INT, bAt + longs));
    }
  }

  private static void xor(
      MemorySegment a, long aAt, MemorySegment b, long bAt, MemorySegment to, long at, int bytes) {
    int longs = bytes & -Long.BYTES;
    for (int i = 0; i < longs; i += Long.BYTES) {
      to.set(LONG, at + i, a.get(LONG, aAt + i) ^ b.get(LONG, bAt + i));
    }
    if (longs < bytes) {
      to.set(INT, at + longs, a.get(INT, aAt + longs) ^ b.get(INT, bAt + longs));
    }
  }
}
