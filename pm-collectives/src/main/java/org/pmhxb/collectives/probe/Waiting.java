package org.pmhxb.collectives.probe;

/**
 * How long something is waited for. Between two looks no more than 50 ms count: who was held up has
 * not waited. Owner: the poll thread.
 */
final class Waiting {
  private static final long LOOK_NS_MAX = 50_000_000L;

  private long lookedNs;
  private long waitedNs;

  void begin(long nowNs) {
    lookedNs = nowNs;
    waitedNs = 0;
  }

  /** A look; how long it is now. */
  long lookNs(long nowNs) {
    waitedNs += Math.min(nowNs - lookedNs, LOOK_NS_MAX);
    lookedNs = nowNs;
    return waitedNs;
  }
}
