package org.pmhxb.sim;

import org.pmhxb.sim.fault.Fault;
import org.pmhxb.sim.fault.Schedule;

/**
 * Watches that what is under way moves while nothing worse than mild faults is about: a session
 * that stays up at both ends delivers something on each channel that has messages to deliver.
 * Owner: the simulation's thread.
 */
final class Progress {
  /** Between two looks. */
  private static final long LOOK_NS = 20_000_000L;

  /** How long a channel may stand still. */
  private static final long STILL_NS = 1_000_000_000L;

  private final Simulation simulation;
  private long nextLookNs;

  /** Until then the last fault that was not mild, or dead links without a way round, may tell. */
  private long harshUntilNs;

  Progress(Simulation simulation) {
    this.simulation = simulation;
  }

  void look(long nowNs) {
    if (nowNs < nextLookNs) {
      return;
    }
    nextLookNs = nowNs + LOOK_NS;
    Schedule schedule = simulation.schedule();
    for (Fault fault : schedule.faults()) {
      boolean active = fault.startNs() <= nowNs && fault.endNs() > nowNs - LOOK_NS;
      if (active && !fault.isMild() && !fault.isOfDeadLinks()) {
        harshUntilNs = nowNs + simulation.options().progressBoundNs();
      }
    }
    for (Flow flow : simulation.oracle().mayBeUnsettled()) {
      int session = simulation.sessionOf(flow);
      long seen = (long) flow.next << 32 | flow.offset;
      if (session == 0
          || session != flow.seenSession
          || seen != flow.seenNext
          || nowNs < harshUntilNs
          || flow.begun() == flow.next
          || flow.isReceiverClosed()
          || flow.isSettled()) {
        flow.seenSession = session;
        flow.seenNext = seen;
        flow.seenSinceNs = nowNs;
      } else if (nowNs - flow.seenSinceNs > STILL_NS
          && schedule.staysJoined(flow.src, flow.dst, flow.seenSinceNs, nowNs)) {
        simulation.violation(
            Violation.Kind.STILL,
            flow.src,
            flow.dst,
            "%s: nothing for %d ms of a session that is up: %s"
                .formatted(flow, (nowNs - flow.seenSinceNs) / 1_000_000, flow.describe()));
      }
    }
  }
}
