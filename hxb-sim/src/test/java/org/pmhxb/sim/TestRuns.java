package org.pmhxb.sim;

import org.pmhxb.router.Shape;
import org.pmhxb.sim.fault.Profile;
import org.pmhxb.sim.work.Workloads;

/** Runs as tests want them. */
final class TestRuns {
  private TestRuns() {}

  static SimOptions of(String shape, int rails, long seed, Profile profile, Workloads work, int n) {
    return Scenario.of(Shape.parse(shape), rails, profile, work, n).options(seed);
  }
}
