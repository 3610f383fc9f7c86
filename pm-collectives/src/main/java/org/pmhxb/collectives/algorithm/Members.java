package org.pmhxb.collectives.algorithm;

import java.util.Arrays;

/**
 * Ranks that take part in a pattern, in its order, and where this rank stands among them. Patterns
 * with a root have it at place 0.
 */
final class Members {
  private final int[] ranks;
  private final int place;

  private Members(int[] ranks, int self) {
    this.ranks = ranks;
    int found = -1;
    for (int i = 0; i < ranks.length; i++) {
      found = ranks[i] == self ? i : found;
    }
    this.place = found;
  }

  /** All ranks, in a circle from the first one. */
  static Members circle(int size, int first, int self) {
    int[] ranks = new int[size];
    Arrays.setAll(ranks, i -> (first + i) % size);
    return new Members(ranks, self);
  }

  static Members of(int self, int... ranks) {
    return new Members(ranks.clone(), self);
  }

  int size() {
    return ranks.length;
  }

  int rank(int at) {
    return ranks[at];
  }

  /** The rank so many places on in the circle. */
  int circular(int at) {
    return ranks[Math.floorMod(at, ranks.length)];
  }

  /** This rank's place, or -1. */
  int place() {
    return place;
  }

  int[] toArray() {
    return ranks.clone();
  }
}
