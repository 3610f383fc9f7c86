package org.pmhxb.sim;

import java.util.List;
import java.util.Map;
import org.pmhxb.sim.fault.Schedule;

/**
 * What a run came to.
 *
 * @param violation the first thing that must not happen, or null
 * @param messages that were sent, and of these:
 * @param delivered exactly once, in order and intact
 * @param excused lost with a session whose end was reported
 * @param lost neither of both when the run ended
 * @param goodputRatio the time that an ideal network needs for the same messages by the time needed
 * @param counters of all nodes together
 * @param log the event log if it was wanted
 */
public record SimResult(
    long seed,
    Schedule schedule,
    Violation violation,
    long messages,
    long delivered,
    long excused,
    long lost,
    int peerDowns,
    int leakedBuffers,
    long virtualNs,
    double goodputRatio,
    long events,
    long framesSent,
    Map<String, Long> counters,
    EventLog log) {
  public boolean ok() {
    return violation == null;
  }

  /** The last events of the flow concerned, if the log was kept. */
  public List<String> lastEvents(int limit) {
    return violation == null ? List.of() : log.lastOf(violation.src(), violation.dst(), limit);
  }
}
