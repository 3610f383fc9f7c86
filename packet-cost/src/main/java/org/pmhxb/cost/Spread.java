package org.pmhxb.cost;

import java.util.Comparator;
import java.util.List;

/** Least, median and most, ns per packet or a ratio. */
public record Spread(double min, double median, double max) {
  /** Of the weights' sum: less is rounding. */
  private static final double ROUNDING = 1e-9;

  /** One value, and how much it weighs in the median. */
  record Weighted(double value, double weight) {}

  /**
   * Of one or more. Where just half weighs as much as one value and less, the mean with the next.
   */
  static Spread of(List<Weighted> values) {
    List<Weighted> sorted =
        values.stream().sorted(Comparator.comparingDouble(Weighted::value)).toList();
    double half = sorted.stream().mapToDouble(Weighted::weight).sum() / 2;
    double below = 0;
    int middle = -1;
    do {
      middle++;
      below += sorted.get(middle).weight();
    } while (below < half * (1 - ROUNDING));
    int next = below < half * (1 + ROUNDING) ? middle + 1 : middle;
    double median = (sorted.get(middle).value() + sorted.get(next).value()) / 2;
    return new Spread(sorted.getFirst().value(), median, sorted.getLast().value());
  }
}
