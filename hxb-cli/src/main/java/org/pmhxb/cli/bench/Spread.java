package org.pmhxb.cli.bench;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.function.DoubleUnaryOperator;
import java.util.function.ToDoubleFunction;

/** Least, middle and largest of several runs. */
public record Spread(double min, double median, double max, int runs) {
  /**
   * Of at least one value; of an even number the middle is halfway between the two there, for
   * neither the better nor the worse is to decide.
   */
  public static Spread of(Collection<Double> values) {
    Quartiles q = Quartiles.of(values);
    return new Spread(q.min(), q.median(), q.max(), q.values());
  }

  /** Of a figure of each of at least one run. */
  public static <T> Spread of(List<T> runs, ToDoubleFunction<T> figure) {
    return of(runs.stream().mapToDouble(figure).boxed().toList());
  }

  /** In another unit; {@code unit} may turn the order round, as from a rate to a time. */
  public Spread map(DoubleUnaryOperator unit) {
    double[] ends = {unit.applyAsDouble(min), unit.applyAsDouble(max)};
    Arrays.sort(ends);
    return new Spread(ends[0], unit.applyAsDouble(median), ends[1], runs);
  }
}
