package org.pmhxb.collectives.probe;

import java.util.Arrays;

/** A bounded number of measured values, nanoseconds. Owner: one thread. */
final class Samples {
  private final double[] values;
  private int count;

  Samples(int size) {
    values = new double[size];
  }

  void add(double value) {
    values[count++] = value;
  }

  boolean isFull() {
    return count == values.length;
  }

  void clear() {
    count = 0;
  }

  int size() {
    return count;
  }

  /** The middle one: what a descheduled thread adds now and then does not move it. */
  double median() {
    double[] sorted = Arrays.copyOf(values, count);
    Arrays.sort(sorted);
    return count == 0 ? 0 : sorted[count / 2];
  }
}
