package org.pmhxb.cli.bench;

import java.util.Collection;

/**
 * How many values of one figure lie: between the quartiles is the middle half of them. Between two
 * values a quartile is interpolated.
 */
public record Quartiles(
    double min, double lower, double median, double upper, double max, int values) {
  /** Of at least one value. */
  public static Quartiles of(Collection<Double> values) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    if (sorted.length == 0) {
      throw new IllegalArgumentException("quartiles need at least one value");
    }
    return new Quartiles(
        at(sorted, 0),
        at(sorted, 0.25),
        at(sorted, 0.5),
        at(sorted, 0.75),
        at(sorted, 1),
        sorted.length);
  }

  private static double at(double[] sorted, double part) {
    double place = part * (sorted.length - 1);
    int below = (int) place;
    int above = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
  }
}
