package org.pmhxb.cost;

import java.util.Arrays;

/** Least, median and most of some rounds, ns per packet or a ratio. */
public record Spread(double min, double median, double max) {
  static Spread of(double[] rounds) {
    double[] sorted = rounds.clone();
    Arrays.sort(sorted);
    double median = (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    return new Spread(sorted[0], median, sorted[sorted.length - 1]);
  }
}
