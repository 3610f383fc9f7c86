package org.pmhxb.sim;

/** One node's clock: it starts somewhere of its own, and may run too fast or too slow. */
final class NodeClock {
  private final long startNs;
  private long sinceNs;
  private long localNs;
  private double rate = 1;

  NodeClock(long startNs, long nowNs) {
    this.startNs = startNs;
    this.sinceNs = nowNs;
    this.localNs = startNs;
  }

  long startNs() {
    return startNs;
  }

  /** The node's time at a virtual time that is not before the last change. */
  long localNs(long nowNs) {
    return localNs + (long) ((nowNs - sinceNs) * rate);
  }

  /** From now on the clock runs so much faster; it jumps ahead, never back. */
  void change(long nowNs, double skew, long aheadNs) {
    localNs = localNs(nowNs) + aheadNs;
    sinceNs = nowNs;
    rate = 1 + skew;
  }

  /** How long until the node's clock shows a time. */
  long untilNs(long nowNs, long thenLocalNs) {
    return (long) ((thenLocalNs - localNs(nowNs)) / rate);
  }
}
