package org.pmhxb.pm;

/**
 * How often a rail asks over paths whether they live (PROTOCOL.md section 5.5). A node with many
 * peers has thousands of paths; when a queue in front of many of them grows, or a rail dies, all
 * would be asked at once, and again, until the questions were the queue. So those for which nobody
 * waits keep to a pace, and the evicted paths of a rail share it. Owner: the poll thread.
 */
final class ProbePace {
  /** As many at once. */
  private static final int AT_ONCE = 16;

  private int evicted;

  /** Until then the time is used up of what was asked so far, at the price of the last look. */
  private long usedUntilNs;

  /**
   * What one question takes at least: as long as a full frame on the rail's link, so a fifteenth of
   * it on links of 1,500 B; and half the worst recent gap between polls, for a node that comes to
   * its work so seldom has no time for more.
   *
   * @param frameNs of a full frame; 0: not known
   */
  static long eachNs(long frameNs, long pollGapNs) {
    return Math.max(frameNs, pollGapNs >> 1);
  }

  /** Whether one more may be asked for which nobody waits. */
  boolean hasRoom(long nowNs, long eachNs) {
    return roomAtNs(nowNs, eachNs) - nowNs <= 0;
  }

  /** When one more may be asked for which nobody waits, if none is asked until then. */
  long roomAtNs(long nowNs, long eachNs) {
    // Questions were dear while the node had stood still, or its port was blocked; nobody waits for
    // that later: what was asked counts as what may be asked at once at today's price, at most.
    if (usedUntilNs - nowNs > AT_ONCE * eachNs) {
      usedUntilNs = nowNs + AT_ONCE * eachNs;
    }
    return usedUntilNs - (AT_ONCE - 1) * eachNs;
  }

  /** One was asked, by whatever reason. */
  void asked(long nowNs, long eachNs) {
    long fromNs = Math.min(usedUntilNs - nowNs, (AT_ONCE - 1) * eachNs);
    usedUntilNs = nowNs + Math.max(fromNs, 0) + eachNs;
  }

  /** A path whose first hop is by this rail was evicted. */
  void evicted() {
    evicted++;
  }

  /** One of them is used again, or its session ended. */
  void ended() {
    assert evicted > 0 : "more paths came back than were evicted";
    evicted--;
  }

  /** How often each of the evicted paths is asked at most: together they take half of the pace. */
  long evictedIntervalNs(long eachNs) {
    return 2L * evicted * eachNs;
  }
}
