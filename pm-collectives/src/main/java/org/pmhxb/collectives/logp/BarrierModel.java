package org.pmhxb.collectives.logp;

import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.barrier.plan.Participants;

/** Predicts what a barrier takes when all arrive at once. */
@FunctionalInterface
public interface BarrierModel {
  /** Nanoseconds from the arrivals until the last has left. */
  double predictNs(Participants group, BarrierSpec spec);
}
