package org.pmhxb.cost;

import java.util.Arrays;

/**
 * Least, median and most, ns per packet or a ratio. The median of an even number is the mean of the
 * two in the middle.
 */
public record Spread(double min, double median, double max) {
  static Spread of(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    double median = (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    return new Spread(sorted[0], median, sorted[sorted.length - 1]);
  }
}
