package org.pmhxb.sim;

import java.util.List;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.fault.Schedule;
import org.pmhxb.sim.net.LinkSpec;
import org.pmhxb.sim.net.Trunk;
import org.pmhxb.sim.work.Workload;

/**
 * One run. The same options give the same run, event by event.
 *
 * @param rails per dimension
 * @param links by dimension, 3
 * @param trunk that halves one dimension's lines, or null
 * @param schedule the faults
 * @param progressBoundNs how long after the last fault all that is on its way may take to arrive,
 *     beyond twenty times what an ideal network needs for everything
 * @param boundsEvery windows and credits are checked after every so many duty cycles of a node
 * @param keepLog whether the event log is wanted
 */
public record SimOptions(
    Shape shape,
    int rails,
    long seed,
    NodeOptions node,
    List<LinkSpec> links,
    Trunk trunk,
    Schedule schedule,
    Workload workload,
    long progressBoundNs,
    int boundsEvery,
    boolean keepLog) {
  /**
   * The stated progress bound: after an outage an opening is repeated within 0.2 s, a path probed
   * within 1 s, its time-out doubled up to six times before that.
   */
  public static final long PROGRESS_BOUND_NS = 4_000_000_000L;

  public SimOptions {
    links = List.copyOf(links);
    if (links.size() != 3) {
      throw new IllegalArgumentException(links.size() + " link kinds: one per dimension, so 3");
    }
  }

  /** Every line has one switch. */
  public SimOptions(
      Shape shape,
      int rails,
      long seed,
      NodeOptions node,
      List<LinkSpec> links,
      Schedule schedule,
      Workload workload,
      long progressBoundNs,
      int boundsEvery,
      boolean keepLog) {
    this(
        shape,
        rails,
        seed,
        node,
        links,
        null,
        schedule,
        workload,
        progressBoundNs,
        boundsEvery,
        keepLog);
  }

  public SimOptions withTrunk(Trunk between) {
    return new SimOptions(
        shape,
        rails,
        seed,
        node,
        links,
        between,
        schedule,
        workload,
        progressBoundNs,
        boundsEvery,
        keepLog);
  }

  public SimOptions withLog(boolean kept) {
    return new SimOptions(
        shape,
        rails,
        seed,
        node,
        links,
        trunk,
        schedule,
        workload,
        progressBoundNs,
        boundsEvery,
        kept);
  }
}
