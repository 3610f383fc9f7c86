package org.pmhxb.collectives.barrier;

import java.util.Arrays;
import org.pmhxb.collectives.barrier.plan.BarrierPlan;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.barrier.plan.Participants;

/** One ARRIVE of a plan as the machine sends it: nothing is made per barrier. */
final class Outgoing {
  /** After how many of the node's own steps it was sent. */
  final int afterStep;

  /** The number under which the targets await it. */
  final int number;

  final int[] targets;

  /** Of a frame to one node: its path ({@code CollectiveFrames.send}). */
  final int way;

  /** Of a frame to a line: its rail; else -1. */
  final int rail;

  /**
   * @param barrier its number: barriers in flight at once begin with different rails
   */
  Outgoing(
      int afterStep, BarrierPlan.Send send, Participants members, BarrierSpec spec, int barrier) {
    this.afterStep = afterStep;
    this.number = send.step();
    this.targets = send.targets();
    this.way = (send.way() + barrier) % spec.rails();
    this.rail = send.line() < 0 ? -1 : members.rail(send.line(), way);
  }

  boolean reaches(int node) {
    return Arrays.binarySearch(targets, node) >= 0;
  }
}
