package org.pmhxb.router;

import java.util.Arrays;

/**
 * Candidate paths by rails per dimension and by the set of dimensions with a hop. All destinations
 * that differ from the source in the same dimensions share one row, so paths cost no memory per
 * peer.
 *
 * <p>A row has at most {@value #MAX_CANDIDATES} candidates. Row entry (s, j) takes rail j in the
 * first hop dimension, j + s in the second, j + 2s in the third, modulo the rails: every rail of
 * every hop dimension occurs equally often, and consecutive entries leave on different rails. Up to
 * two rails that is every combination, with three it is an orthogonal array: any two dimensions
 * meet in every pair of rails.
 *
 * <p>Behind the candidates of order XYZ stand the detours: every other order of the dimensions with
 * a hop, each with rail j in all of them. They go through other relays (docs/DECISIONS.md,
 * detours).
 */
final class PathTable {
  /** As many as the rails of one dimension can be. */
  static final int MAX_CANDIDATES = 9;

  private static final int[][][] ROWS = new int[RailLayout.MAX_PER_DIMENSION + 1][8][];
  private static final int[][][] WITH_DETOURS = new int[RailLayout.MAX_PER_DIMENSION + 1][8][];

  static {
    for (int rails = 1; rails <= RailLayout.MAX_PER_DIMENSION; rails++) {
      for (int hops = 0; hops < 8; hops++) {
        ROWS[rails][hops] = row(rails, hops);
        WITH_DETOURS[rails][hops] = withDetours(ROWS[rails][hops], rails, hops);
      }
    }
  }

  private PathTable() {}

  /** The same rows, each with its detours behind. Never to be written to. */
  static int[][] withDetours(int railsPerDimension) {
    return WITH_DETOURS[railsPerDimension];
  }

  private static int[] withDetours(int[] row, int rails, int hops) {
    int[] all = Arrays.copyOf(row, row.length + rails * (orders(hops).length - 1));
    int n = row.length;
    int[] orders = orders(hops);
    for (int i = 1; i < orders.length; i++) {
      for (int j = 0; j < rails; j++) {
        all[n++] = code(orders[i], rails, hops, 0, j);
      }
    }
    return all;
  }

  /** Orders that differ in the dimensions with a hop, XYZ first; one where there is no hop. */
  private static int[] orders(int hops) {
    return switch (Integer.bitCount(hops)) {
      case 2 -> new int[] {0, 5};
      case 3 -> new int[] {0, 1, 2, 3, 4, 5};
      default -> new int[] {0};
    };
  }

  /** Rows by mask of the dimensions with a hop. Never to be written to. */
  static int[][] rows(int railsPerDimension) {
    return ROWS[railsPerDimension];
  }

  private static int[] row(int rails, int hops) {
    int hopCount = Integer.bitCount(hops);
    if (hopCount == 0) {
      return new int[0];
    }
    int turns = turns(rails, hopCount);
    int[] row = new int[turns * rails];
    for (int s = 0; s < turns; s++) {
      for (int j = 0; j < rails; j++) {
        row[s * rails + j] = code(0, rails, hops, s, j);
      }
    }
    return row;
  }

  /** How often each rail occurs in a row. */
  private static int turns(int rails, int hopCount) {
    if (rails <= 2) {
      return hopCount == 1 || rails == 1 ? 1 : 1 << hopCount - 1;
    }
    return hopCount == 1 ? 1 : MAX_CANDIDATES / rails;
  }

  private static int code(int order, int rails, int hops, int s, int j) {
    // Two rails have no three distinct differences: count the two of them in binary instead.
    int[] turn = rails == 2 ? new int[] {0, s & 1, s >> 1} : new int[] {0, s, 2 * s};
    int[] index = new int[Dimension.COUNT];
    int place = 0;
    for (int d = 0; d < Dimension.COUNT; d++) {
      if ((hops >> d & 1) != 0) {
        index[d] = (j + turn[place++]) % rails;
      }
    }
    return PathCode.of(order, index[0], index[1], index[2]);
  }
}
