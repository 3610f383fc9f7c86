package org.pmhxb.collectives.algorithm;

import java.util.Arrays;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

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

  /** Those ranks of a circle from the first one that a condition holds for. */
  static Members some(int size, int first, int self, IntPredicate wanted) {
    return new Members(
        IntStream.range(0, size).map(i -> (first + i) % size).filter(wanted).toArray(), self);
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

  boolean hasSelf() {
    return place >= 0;
  }

  /** The same in a circle that begins elsewhere. */
  Members from(int first, int self) {
    int[] turned = new int[ranks.length];
    Arrays.setAll(turned, i -> ranks[(first + i) % ranks.length]);
    return new Members(turned, self);
  }

  int[] toArray() {
    return ranks.clone();
  }
}
