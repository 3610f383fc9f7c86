package org.pmhxb.router;

import java.util.Arrays;

/**
 * What a relay found out about the flows that pass it, so that the next frame of one costs two
 * comparisons instead of the arithmetic of {@link DimensionOrderRouting}. Direct-mapped: a flow
 * that finds its place taken takes it over. Owner: the node's poll thread.
 *
 * <pre>
 * 0 ingress rail:8 | src:24 | 0:8 | dst:24       what a frame must say: all that its way depends on
 * 1 egress rail:32 | path:32
 * 2, 3                                           its first 16 bytes then, without the hop limit
 * </pre>
 *
 * <p>The neighbours' addresses change when {@link Discovery} learns: {@link #keepOnly}.
 */
final class TransitCache {
  static final int MISS = -1;

  /** 8 KB: flows beyond that are found by arithmetic, as all were. */
  private static final int ENTRIES_LOG2 = 8;

  private static final int WORDS_LOG2 = 2;

  /** No rail has this number. */
  private static final long EMPTY = -1L;

  /** 2^64 divided by the golden ratio: the high bits of a product depend on all of the factor. */
  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

  private final long[] words = new long[1 << ENTRIES_LOG2 + WORDS_LOG2];

  /** State of the neighbour table that all entries were found with. */
  private int neighbours;

  TransitCache() {
    Arrays.fill(words, EMPTY);
  }

  /**
   * Forgets what was found with another state of the neighbour table.
   *
   * @param changes the count of its changes
   */
  void keepOnly(int changes) {
    if (neighbours != changes) {
      neighbours = changes;
      Arrays.fill(words, EMPTY);
    }
  }

  /**
   * @param ends {@code src:24 | 0:8 | dst:24}
   */
  static long key(long ends, int ingressRail) {
    return (long) ingressRail << 56 | ends;
  }

  /** Where the frame's entry is, or {@link #MISS}. */
  int find(long key, int path) {
    int at = placeOf(key, path);
    return words[at] == key && (int) words[at + 1] == path ? at : MISS;
  }

  /** Enters a frame's way; where its entry is. */
  int put(long key, int path, int egressRail, long word0, long word1) {
    int at = placeOf(key, path);
    words[at] = key;
    words[at + 1] = (long) egressRail << 32 | path & 0xFFFF_FFFFL;
    words[at + 2] = word0;
    words[at + 3] = word1;
    return at;
  }

  int egressRail(int at) {
    return (int) (words[at + 1] >>> 32);
  }

  long word0(int at) {
    return words[at + 2];
  }

  long word1(int at) {
    return words[at + 3];
  }

  private static int placeOf(long key, int path) {
    return (int) ((key + path * MIX) * MIX >>> 64 - ENTRIES_LOG2) << WORDS_LOG2;
  }
}
