package org.pmhxb.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Finds the fewest faults of a failing schedule that still fail: leaves out what may be. */
public final class Shrinker {
  private final Scenario scenario;
  private final long seed;
  private final Violation.Kind kind;

  /**
   * @param kind of violation that must stay
   */
  public Shrinker(Scenario scenario, long seed, Violation.Kind kind) {
    this.scenario = scenario;
    this.seed = seed;
    this.kind = kind;
  }

  /**
   * Places of the faults that are needed, in the whole schedule. No fault can be left out alone.
   */
  public List<Integer> shrink() {
    int count = scenario.withOnly(null).options(seed).schedule().faults().size();
    List<Integer> kept =
        scenario.only() == null
            ? new ArrayList<>(IntStream.range(0, count).boxed().toList())
            : new ArrayList<>(scenario.only());
    boolean smaller = true;
    while (smaller) {
      smaller = false;
      for (int i = kept.size() - 1; i >= 0; i--) {
        List<Integer> fewer = new ArrayList<>(kept);
        fewer.remove(i);
        if (stillFails(fewer)) {
          kept = fewer;
          smaller = true;
        }
      }
    }
    return kept;
  }

  private boolean stillFails(List<Integer> faults) {
    Violation violation = Simulation.run(scenario.withOnly(faults).options(seed)).violation();
    return violation != null && violation.kind() == kind;
  }
}
