package org.pmhxb.collectives.probe;

import java.util.Arrays;

/** A bounded number of measured values, nanoseconds. Owner: one thread. */
final class Samples {
  /** Where one takes long, fewer do: as many as come in that time, but {@link #LEAST}. */
  static final long LIMIT_NS = 500_000_000L;

  private static final int LEAST = 10;

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

  /** Full, or as many as the time allows in which they were measured. */
  boolean suffice(long tookNs) {
    return isFull() || count >= LEAST && tookNs > LIMIT_NS;
  }

  void clear() {
    count = 0;
  }

  /** The middle one: what a descheduled thread adds now and then does not move it. */
  double median() {
    double[] sorted = Arrays.copyOf(values, count);
    Arrays.sort(sorted);
    return count == 0 ? 0 : sorted[count / 2];
  }
}
