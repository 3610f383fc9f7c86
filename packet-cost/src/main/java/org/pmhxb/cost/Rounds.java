package org.pmhxb.cost;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * The rounds of one placement of a scenario, and what of all placements' counts: batches at the
 * machine's faster speed, if most placements have a round with enough of them. By the speed alone,
 * never by what was measured. Owner: one thread at a time.
 */
final class Rounds {
  /**
   * What one round of both sides took, ns per packet, in the batches that count.
   *
   * @param stepNs how slow the machine was in these ({@link Pace#stepNs}), of the slower side
   * @param part of the batches that count, 0 to 1
   */
  record Round(double stepNs, Sides part, Sides path, Sides withAcks, double generatorNs) {}

  /** The same of Java and of C. */
  record Sides(double java, double c) {
    double ratio() {
      return java / c;
    }
  }

  /** All batches of a round. */
  private record Times(PhaseTimes java, PhaseTimes c) {
    boolean isFast(double mostStepNs) {
      return java.isFast(mostStepNs) && c.isFast(mostStepNs);
    }

    double leastStepNs() {
      return Math.max(java.leastStepNs(), c.leastStepNs());
    }

    /** In the batches in which a step took no longer. */
    Round round(double mostStepNs) {
      return new Round(
          Math.max(java.stepNs(mostStepNs), c.stepNs(mostStepNs)),
          new Sides(java.part(mostStepNs), c.part(mostStepNs)),
          new Sides(java.pathNs(mostStepNs), c.pathNs(mostStepNs)),
          new Sides(java.withAcksNs(mostStepNs), c.withAcksNs(mostStepNs)),
          java.generatorNs(mostStepNs));
    }
  }

  private final List<Times> all = new ArrayList<>();

  /** What either did between two {@link PhaseTimes#begin}, one batch at least. */
  void add(PhaseTimes java, PhaseTimes c) {
    all.add(new Times(java.copy(), c.copy()));
  }

  /**
   * Whether one was at the machine's faster speed.
   *
   * @param leastNs of a step, as far as is known
   */
  boolean hasFast(double leastNs) {
    return all.stream().anyMatch(t -> t.isFast(Pace.mostNs(leastNs)));
  }

  /**
   * Of a scenario's placements those that count, and of these the rounds, in the order in which
   * they were measured: at the machine's faster speed. Which placements met that is chance, so the
   * others may be missing, but not most of them: then those at the faster speed among the
   * scenario's own, as where the machine has become slower for good, and if most have none of these
   * either, all.
   *
   * @param leastNs of a step, as far as is known
   */
  static List<List<Round>> counted(List<Rounds> placements, double leastNs) {
    double ownNs =
        placements.stream()
            .flatMap(p -> p.all.stream())
            .mapToDouble(Times::leastStepNs)
            .min()
            .orElse(leastNs);
    for (double ns : new double[] {leastNs, ownNs}) {
      if (mostAreFast(placements, ns)) {
        return placements.stream()
            .filter(p -> p.hasFast(ns))
            .map(p -> p.fast(Pace.mostNs(ns)))
            .toList();
      }
    }
    return placements.stream().map(Rounds::whole).toList();
  }

  /**
   * Whether more than half of them have a round at the machine's faster speed.
   *
   * @param leastNs of a step, as far as is known
   */
  static boolean mostAreFast(List<Rounds> placements, double leastNs) {
    return 2 * placements.stream().filter(p -> p.hasFast(leastNs)).count() > placements.size();
  }

  private List<Round> fast(double mostStepNs) {
    return all.stream().filter(t -> t.isFast(mostStepNs)).map(t -> t.round(mostStepNs)).toList();
  }

  private List<Round> whole() {
    return all.stream().map(t -> t.round(Double.MAX_VALUE)).toList();
  }

  /**
   * Of all rounds; in the median each placement's together weigh alike, for it does not matter how
   * many of each count.
   */
  static Spread spread(List<List<Round>> placements, ToDoubleFunction<Round> figure) {
    List<Spread.Weighted> values = new ArrayList<>();
    for (List<Round> rounds : placements) {
      for (Round round : rounds) {
        values.add(new Spread.Weighted(figure.applyAsDouble(round), 1.0 / rounds.size()));
      }
    }
    return Spread.of(values);
  }
}
