package org.pmhxb.pm;

/** What a poll thread does when a round found nothing. */
public enum PollIdle {
  /** Polls on; for a core of its own. */
  SPIN,
  /** Gives the core to others that want it. */
  YIELD,
  /**
   * Spins while the core is its own, yields while other pollers want it too, then sleeps until a
   * frame or the doorbell wakes it; while a yield takes longer than 100 us, others compute there,
   * and it sleeps at once.
   */
  BACKOFF,
  /** Sleeps at once. */
  PARK
}
