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
   *
   * @return false: not now, the last round may have left something
   */
  default boolean rests(long untilNs) {
    return true;
  }

  /**
   * From now on whatever arrives makes a descriptor readable on which who drives waits. Called
   * before the last round ahead of the wait, where there is such a descriptor for all.
   *
   * @return false: some may arrive unheard, so the wait has to be short
   */
  default boolean fallAsleep() {
    return true;
  }

  /**
   * The end of {@link #fallAsleep}, which may come again soon.
   *
   * @param rung a descriptor was readable
   */
  default void wakeUp(boolean rung) {}

  /** {@link #fallAsleep} will not come again soon. */
  default void stayAwake() {}

  /** The next round may be another thread's. Called by the one that drove so far. */
  default void handOver() {}
}
