package org.pmhxb.collectives.barrier;

import java.util.Arrays;

/**
 * Who has to arrive at one step, and who did, in two colours: of the epoch in work and of the next
 * one. What the SCMD paper calls mask and reach. Owner: the poll thread.
 */
final class Awaited {
  /** By which frames name the step. */
  final int number;

  /** Ascending. */
  final int[] sources;

  private final long[][] reached = new long[2][];
  private final int[] missing = new int[2];

  Awaited(int number, int[] sources) {
    this.number = number;
    this.sources = sources;
    for (int colour = 0; colour < 2; colour++) {
      reached[colour] = new long[sources.length + 63 >> 6];
      missing[colour] = sources.length;
    }
  }

  /** Nobody is missing in this colour. */
  boolean isComplete(int colour) {
    return missing[colour] == 0;
  }

  int missing(int colour) {
    return missing[colour];
  }

  /** Notes an arrival; false when the source is not awaited here, or was noted before. */
  boolean note(int source, int colour) {
    int i = sources.length == 1 && sources[0] == source ? 0 : Arrays.binarySearch(sources, source);
    if (i < 0) {
      return false;
    }
    long bit = 1L << i;
    if ((reached[colour][i >> 6] & bit) != 0) {
      return false;
    }
    reached[colour][i >> 6] |= bit;
    missing[colour]--;
    return true;
  }

  boolean isMissing(int index, int colour) {
    return (reached[colour][index >> 6] & 1L << index) == 0;
  }

  /** The colour's epoch is over: it is the next but one's now. */
  void clear(int colour) {
    Arrays.fill(reached[colour], 0);
    missing[colour] = sources.length;
  }
}
