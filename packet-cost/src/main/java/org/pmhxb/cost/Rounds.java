package org.pmhxb.cost;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * The rounds of one placement of a scenario, and which of all placements' count: those at the
 * machine's faster speed if each placement has one. By the speed alone, never by what was measured.
 * Owner: one thread at a time.
 */
final class Rounds {
  /**
   * A placement's rounds at the faster speed from which on no more are wanted: of one, in whose
   * middle the machine may have been slower, nothing would remain.
   */
  private static final int ENOUGH = 2;

  /**
   * What one round of both sides took, ns per packet.
   *
   * @param stepNs how slow the machine was in it ({@link Pace#stepNs})
   */
  record Round(double stepNs, Sides path, Sides withAcks, double generatorNs) {}

  /** The same of Java and of C. */
  record Sides(double javaNs, double cNs) {
    double ratio() {
      return javaNs / cNs;
    }
  }

  private final List<Round> all = new ArrayList<>();

  void add(Round round) {
    all.add(round);
  }

  /**
   * Whether one was at the machine's faster speed.
   *
   * @param leastNs of a step, as far as is known
   */
  boolean hasFast(double leastNs) {
    return !fast(leastNs).isEmpty();
  }

  /** Whether no more are wanted. */
  boolean enoughAreFast(double leastNs) {
    return fast(leastNs).size() >= ENOUGH;
  }

  /** Whether some were and some were not, and more would make a better spread. */
  boolean fastAreFew(double leastNs) {
    int fast = fast(leastNs).size();
    return fast > 0 && fast < all.size() && fast < ENOUGH;
  }

  /**
   * Of each of a scenario's placements those that count, in the order in which they were measured:
   * those at the machine's faster speed. Where a placement has none, those at the faster speed
   * among the scenario's own, as where the machine has become slower for good. Where a placement
   * has none of these either, all: those of the others would be all there is.
   *
   * @param leastNs of a step, as far as is known
   */
  static List<List<Round>> counted(List<Rounds> placements, double leastNs) {
    double ownNs =
        placements.stream()
            .flatMap(p -> p.all.stream())
            .mapToDouble(Round::stepNs)
            .min()
            .orElse(leastNs);
    for (double ns : new double[] {leastNs, ownNs}) {
      if (placements.stream().allMatch(p -> p.hasFast(ns))) {
        return placements.stream().map(p -> p.fast(ns)).toList();
      }
    }
    return placements.stream().map(p -> List.copyOf(p.all)).toList();
  }

  private List<Round> fast(double leastNs) {
    return all.stream().filter(r -> !Pace.isSlower(r.stepNs(), leastNs)).toList();
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
