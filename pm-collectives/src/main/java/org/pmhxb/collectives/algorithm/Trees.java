package org.pmhxb.collectives.algorithm;

import org.pmhxb.collectives.Accumulator;
import org.pmhxb.collectives.Span;

/**
 * Binomial trees and chains among members whose root is at place 0. In a binomial tree the distance
 * of the first messages is the largest: {@code ceil(log2 n)} rounds.
 */
final class Trees {
  private Trees() {}

  /** The greatest power of two below n; 0 for 1. */
  static int topBit(int n) {
    return n <= 1 ? 0 : Integer.highestOneBit(n - 1);
  }

  /** Rounds of a binomial tree. */
  static int rounds(int n) {
    return n <= 1 ? 0 : Integer.SIZE - Integer.numberOfLeadingZeros(n - 1);
  }

  static void broadcast(Members m, Span span, long offset, long bytes) {
    int p = m.place();
    if (p < 0) {
      return;
    }
    int low = p == 0 ? topBit(m.size()) << 1 : Integer.lowestOneBit(p);
    if (p > 0) {
      span.receive(m.rank(p - low), offset, bytes);
    }
    for (int step = low >> 1; step > 0; step >>= 1) {
      if (p + step < m.size()) {
        span.send(m.rank(p + step), offset, bytes);
      }
    }
  }

  static void reduce(Members m, Accumulator vector, long offset, long bytes) {
    int p = m.place();
    if (p < 0) {
      return;
    }
    for (int step = 1; step < m.size(); step <<= 1) {
      if ((p & step) != 0) {
        vector.send(m.rank(p - step), offset, bytes);
        return;
      }
      if (p + step < m.size()) {
        vector.combine(m.rank(p + step), offset, bytes);
      }
    }
  }

  static void chainBroadcast(Members m, Span span, long offset, long bytes) {
    int p = m.place();
    if (p > 0) {
      span.receive(m.rank(p - 1), offset, bytes);
    }
    if (p >= 0 && p < m.size() - 1) {
      span.send(m.rank(p + 1), offset, bytes);
    }
  }

  static void chainReduce(Members m, Accumulator vector, long offset, long bytes) {
    int p = m.place();
    if (p >= 0 && p < m.size() - 1) {
      vector.combine(m.rank(p + 1), offset, bytes);
    }
    if (p > 0) {
      vector.send(m.rank(p - 1), offset, bytes);
    }
  }
}
