package org.pmhxb.pm;

/** A duty cycle that a poll thread drives: a node, a cluster of them. */
public interface PollWork {
  /**
   * One bounded round.
   *
   * @param nowNs the clock, read once per round
   * @return how much was done; 0 = nothing
   */
  int doWork(long nowNs);

  /** The latest moment at which the next round must run if nothing arrives. */
  long nextDeadlineNs(long nowNs);

  /**
   * Who drives goes to sleep: the next round comes when something arrives, or at this moment.
   * Called just before, by who drives; not where an arrival would not end the sleep.
   */
  default void rests(long untilNs) {}

  /** The next round may be another thread's. Called by the one that drove so far. */
  default void handOver() {}
}
