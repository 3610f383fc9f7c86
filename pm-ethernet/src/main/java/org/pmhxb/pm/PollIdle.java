package org.pmhxb.pm;

/** What a poll thread does when a round found nothing (DESIGN section 5, waiting). */
public enum PollIdle {
  /** Polls on; for a core of its own. */
  SPIN,
  /** Gives the core to others that want it. */
  YIELD,
  /**
   * Spins, yields, then sleeps until a frame or the doorbell wakes it. Where a yield takes longer
   * than 100 us others need the core: it sleeps at once for the next 16 times, or up to 1,024 if
   * yields go on being slow.
   */
  BACKOFF,
  /** Sleeps at once. */
  PARK
}
