package org.pmhxb.cost;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * The rounds of one placement of a scenario, and which of all placements' count: those at the
 * machine's faster speed if each placement has one and they are enough for a spread, else all. By
 * the speed alone, never by what was measured. Owner: one thread at a time.
 */
final class Rounds {
  /** Rounds that a spread needs. */
  private static final int LEAST = 3;

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

  int size() {
    return all.size();
  }

  /**
   * Whether some more might yet make a better spread at the machine's faster speed.
   *
   * @param leastNs of a step, as far as is known
   */
  boolean tooFewAreFast(double leastNs) {
    return fast(leastNs).size() < ENOUGH;
  }

  /**
   * Of a scenario's placements those that count, in the order in which they were measured. Where a
   * placement has none at the faster speed the others' would be all there is: then all count.
   */
  static List<Round> counted(List<Rounds> placements) {
    List<Round> all = placements.stream().flatMap(p -> p.all.stream()).toList();
    double leastNs = all.stream().mapToDouble(Round::stepNs).min().orElse(0);
    List<Round> fast = placements.stream().flatMap(p -> p.fast(leastNs).stream()).toList();
    boolean each = placements.stream().noneMatch(p -> p.fast(leastNs).isEmpty());
    return each && fast.size() >= LEAST ? fast : all;
  }

  private List<Round> fast(double leastNs) {
    return all.stream().filter(r -> !Pace.isSlower(r.stepNs(), leastNs)).toList();
  }

  static Spread spread(List<Round> rounds, ToDoubleFunction<Round> figure) {
    return Spread.of(rounds.stream().mapToDouble(figure).toArray());
  }
}
