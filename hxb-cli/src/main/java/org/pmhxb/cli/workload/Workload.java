package org.pmhxb.cli.workload;

import java.util.function.LongSupplier;

/**
 * A workload of one node as a duty cycle. Owner: one thread, which calls {@link #doWork} until
 * {@link #done}. Times are on the clock of that caller.
 */
public interface Workload {
  /**
   * The workload that a specification asks for.
   *
   * @param startNs when traffic begins; the link should be open on all nodes by then
   * @param clock nanoseconds, for times within one duty cycle
   */
  static Workload of(WorkloadSpec spec, MessageLink link, long startNs, LongSupplier clock) {
    spec.check(link.self(), link.nodes(), link.maxMessageBytes());
    return spec.kind() == WorkloadSpec.Kind.STREAM
        ? new StreamWorkload(spec, link, startNs, clock)
        : new PingPongWorkload(spec, link, startNs, clock);
  }

  /** One round; returns a work count, 0 when there was nothing to do. */
  int doWork(long nowNs);

  /** Nothing is left to do, or the time for it is over. */
  boolean done();

  /** What was seen; call after {@link #done}, or when breaking off. */
  WorkloadReport report();
}
