package org.pmhxb.router;

/**
 * The 32-bit path of a frame (PROTOCOL.md section 2.5): which dimension comes first, and which rail
 * is taken in each.
 *
 * <pre>
 *  31-29 order: 0 XYZ, 1 XZY, 2 YXZ, 3 YZX, 4 ZXY, 5 ZYX
 *  28-12 zero
 *  11-8 rail index in X | 7-4 in Y | 3-0 in Z; 0 where the frame does not travel
 * </pre>
 *
 * <p>A path is FIFO: each relay forwards on exactly the rail named here, or drops.
 */
public final class PathCode {
  /** Dimension orders that exist. */
  public static final int ORDERS = 6;

  static final int STEP_COUNT = ORDERS << 6;
  static final int ORDER_SHIFT = 29;
  static final int RESERVED = 0x1FFF_F000;

  private static final int[][] DIMENSIONS = {
    {0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}
  };

  /** By order, that with the same dimensions from the last to the first. */
  private static final int[] REVERSED = {5, 3, 4, 1, 2, 0};

  /** Bits of the rail indices of dimensions without a hop, by mask of the dimensions with one. */
  private static final int[] IDLE_RAILS = new int[8];

  /**
   * What a relay does, by order, hops of the whole path and hops that remain: ingress dimension x 4
   * + egress dimension, or -1 where the path does not pass such a place.
   */
  private static final byte[] STEPS = new byte[STEP_COUNT];

  /** First dimension with a hop, by order and hops. */
  private static final byte[] FIRST = new byte[ORDERS << 3];

  static {
    for (int i = 0; i < FIRST.length; i++) {
      FIRST[i] = Dimension.COUNT;
      for (int place = Dimension.COUNT - 1; place >= 0; place--) {
        int d = DIMENSIONS[i >> 3][place];
        FIRST[i] = (i >> d & 1) != 0 ? (byte) d : FIRST[i];
      }
    }
    for (int hops = 0; hops < 8; hops++) {
      for (int d = 0; d < Dimension.COUNT; d++) {
        IDLE_RAILS[hops] |= (hops >> d & 1) == 0 ? 0xF << railShift(d) : 0;
      }
    }
    for (int i = 0; i < STEPS.length; i++) {
      STEPS[i] = (byte) findStep(i >> 6, i >> 3 & 7, i & 7);
    }
  }

  private PathCode() {}

  /** Builds a code; indices 0 to 8, and 0 in dimensions without a hop. */
  public static int of(int order, int indexX, int indexY, int indexZ) {
    return order << ORDER_SHIFT | indexX << 8 | indexY << 4 | indexZ;
  }

  /** 0 to 5, or 6 and 7, which no valid code has. */
  public static int order(int path) {
    return path >>> ORDER_SHIFT;
  }

  /** Rail index taken in a dimension. */
  public static int railIndex(int path, int dimension) {
    return path >>> railShift(dimension) & 0xF;
  }

  /** The dimension, 0 to 2, that an order travels as its first, second or third. */
  public static int dimension(int order, int place) {
    return DIMENSIONS[order][place];
  }

  /** Order and rail indices for people, as in {@code xyz:0,1,0}. */
  public static String format(int path) {
    StringBuilder text = new StringBuilder();
    int order = order(path);
    for (int place = 0; place < Dimension.COUNT && order < ORDERS; place++) {
      text.append(Dimension.of(DIMENSIONS[order][place]));
    }
    return text.append(order < ORDERS ? ":" : "order " + order + ":")
        .append(railIndex(path, 0))
        .append(',')
        .append(railIndex(path, 1))
        .append(',')
        .append(railIndex(path, 2))
        .toString();
  }

  /** The same rails in the opposite order of dimensions: the way back over the same relays. */
  static int reversed(int path) {
    return path & ~(0x7 << ORDER_SHIFT) | REVERSED[order(path)] << ORDER_SHIFT;
  }

  /**
   * Whether a code is that of a path between two nodes.
   *
   * @param hops mask of the dimensions in which they differ
   * @param rails per dimension
   */
  static boolean isOf(int hops, int rails, int path) {
    return hops != 0
        && order(path) < ORDERS
        && (path & (RESERVED | IDLE_RAILS[hops])) == 0
        && railIndex(path, 0) < rails
        && railIndex(path, 1) < rails
        && railIndex(path, 2) < rails;
  }

  /** The dimension that an order travels first, of those with a hop; 3 where there is none. */
  static int firstDimension(int order, int hops) {
    return FIRST[order << 3 | hops];
  }

  static int idleRails(int hops) {
    return IDLE_RAILS[hops];
  }

  /** See {@link #STEPS}; masks have bit d for dimension d. */
  static int step(int order, int hops, int remaining) {
    return STEPS[stepIndex(order, hops, remaining)];
  }

  /** Where a table by order, hops and remaining hops has its entry; {@link #STEP_COUNT} in all. */
  static int stepIndex(int order, int hops, int remaining) {
    return order << 6 | hops << 3 | remaining;
  }

  static int railShift(int dimension) {
    return 8 - 4 * dimension;
  }

  private static int findStep(int order, int hops, int remaining) {
    int done = hops & ~remaining;
    if (remaining == 0 || done == 0 || (remaining & ~hops) != 0) {
      return -1;
    }
    int ingress = -1;
    for (int d : DIMENSIONS[order]) {
      if ((remaining >> d & 1) != 0) {
        // The first that remains; those done must all have come before it.
        return done == 0 ? ingress << 2 | d : -1;
      }
      if ((done >> d & 1) != 0) {
        ingress = d;
        done &= ~(1 << d);
      }
    }
    return -1;
  }
}
