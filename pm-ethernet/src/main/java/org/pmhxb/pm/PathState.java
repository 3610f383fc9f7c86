package org.pmhxb.pm;

/** What a node knows of one candidate path to a peer. Owner: the poll thread. */
final class PathState {
  private static final long RTT_MAX_NS = 1_000_000_000L;
  private static final long PROBE_TIMEOUT_MAX_NS = 1_000_000_000L;

  /** Routing's constants for this path: the first hop's rail, the path code, Ethernet hops. */
  final Rail rail;

  final int code;
  final int hops;

  boolean evicted;

  /** Number of the next transmission on this path. */
  int nextIndex;

  /** All transmissions before this have arrived or are lost: the path is FIFO. */
  int settledIndex;

  /** Since when no sign of life is owed: the last evidence, or when waiting began. */
  long evidenceNs;

  long probeSentNs;
  int probesUnanswered;
  long firstProbeNs;

  long smoothedRttNs;
  long rttVariationNs;
  long leastRttNs = Long.MAX_VALUE;

  PathState(Rail rail, int code, int hops) {
    this.rail = rail;
    this.code = code;
    this.hops = hops;
  }

  /** Takes a measured round trip; what exceeds the limit tells of a stall, not of the path. */
  void sampleRtt(long rttNs) {
    if (rttNs < 0 || rttNs > RTT_MAX_NS) {
      return;
    }
    leastRttNs = Math.min(leastRttNs, rttNs);
    if (smoothedRttNs == 0) {
      smoothedRttNs = rttNs;
      rttVariationNs = rttNs / 2;
      return;
    }
    // RFC 6298: alpha 1/8, beta 1/4.
    rttVariationNs += (Math.abs(smoothedRttNs - rttNs) - rttVariationNs) >> 2;
    smoothedRttNs += (rttNs - smoothedRttNs) >> 3;
  }

  /** Waiting time after which a path that owes a sign of life is probed. */
  long probeTimeoutNs(long floorNs) {
    long base = smoothedRttNs == 0 ? 5_000_000L : smoothedRttNs + 4 * rttVariationNs;
    return Math.min(Math.max(floorNs, base) << Math.min(probesUnanswered, 6), PROBE_TIMEOUT_MAX_NS);
  }
}
