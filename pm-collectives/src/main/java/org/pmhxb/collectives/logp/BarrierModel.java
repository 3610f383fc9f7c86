package org.pmhxb.collectives.logp;

import java.util.List;
import org.pmhxb.collectives.barrier.plan.BarrierPlan;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.collectives.barrier.plan.Planner;

/** Predicts what a barrier takes when all arrive at once. */
@FunctionalInterface
public interface BarrierModel {
  /**
   * Nanoseconds from the arrivals until the last has left.
   *
   * @param plans of all members, by rank
   */
  double predictNs(Participants group, List<BarrierPlan> plans);

  /** The same for the plans of an algorithm. */
  default double predictNs(Participants group, BarrierSpec spec) {
    return predictNs(group, Planner.plans(group, spec));
  }
}
