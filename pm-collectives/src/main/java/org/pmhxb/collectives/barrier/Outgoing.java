package org.pmhxb.collectives.barrier;

import java.util.Arrays;
import org.pmhxb.collectives.barrier.plan.BarrierPlan;

/** One ARRIVE of a plan as the machine sends it: nothing is made per barrier. */
final class Outgoing {
  /** After how many of the node's own steps it was sent. */
  final int afterStep;

  /** The number under which the targets await it. */
  final int number;

  final int[] targets;
  final int way;

  /** Of a frame to a line: its rail; else -1. */
  final int rail;

  Outgoing(int afterStep, BarrierPlan.Send send) {
    this.afterStep = afterStep;
    this.number = send.step();
    this.targets = send.targets();
    this.way = send.way();
    this.rail = send.rail();
  }

  boolean reaches(int node) {
    return Arrays.binarySearch(targets, node) >= 0;
  }
}
