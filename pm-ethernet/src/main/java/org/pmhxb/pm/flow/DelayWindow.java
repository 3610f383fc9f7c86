package org.pmhxb.pm.flow;

/**
 * How many bytes one path may have on its way: additive increase while the round trip shows a short
 * queue, a decrease in proportion to the excess once a round trip when it does not (Swift: Kumar et
 * al., "Delay is Simple and Effective for Congestion Control in the Datacenter", SIGCOMM 2020,
 * algorithm 1). The target differs in two points:
 *
 * <ul>
 *   <li>The queue allowed is {@value #QUEUE_FRAMES} frames at the path's own rate, as in TCP Vegas
 *       (Brakmo and Peterson 1994), so that it needs no table of link speeds; but at most {@value
 *       #QUEUE_NS_MAX} ns, so that it does not grow with the number of senders.
 *   <li>The worst recent poll gaps of both hosts are added, and what round trips scatter widely by:
 *       a host that stood still is no queue, and neither is a lost acknowledgement. Of more than
 *       {@value #NOISE_NS_MAX} ns as much counts as round trips are longer on the average: a stall
 *       shows in one of them, a host that polls seldom in all.
 * </ul>
 *
 * <p>Where a switch drops at a shorter queue than that, five eighths of the queue at which it did
 * become the most allowed, and that creeps up again.
 *
 * <p>A loss without a queue halves nothing (TCP Veno: Fu and Liew 2003). A window falls below one
 * frame only where frames were lost of late, and is spaced in time then by the owner of the path:
 * senders whose windows did so because a host was slow would be left far behind the others. Owner:
 * the poll thread.
 */
public final class DelayWindow {
  static final int QUEUE_FRAMES = 6;

  /** Frames at the rate of the links that may wait however slow they are. */
  static final int QUEUE_FRAMES_LEAST = 3;

  static final long QUEUE_NS_MIN = 100_000L;
  static final long QUEUE_NS_MAX = 2_000_000L;

  /** What hosts may add to the target in any case: beyond it a stall is a queue to others. */
  static final long NOISE_NS_MAX = 8_000_000L;

  private static final int FIRST_FRAMES = 2;
  private static final long BYTES_MAX = 4L << 20;

  /** A window is never less than a frame in so many round trips. */
  private static final int LEAST_SHARE = 64;

  /** Round trips after a loss, by a queue, until a window below one frame is not needed. */
  private static final int CROWDED_ROUNDS = 1_024;

  /** The same, at most: where round trips are long a host may be the reason. */
  private static final long CROWDED_NS_MAX = 250_000_000L;

  /** As many senders as a link takes frames in this time share it without losses. */
  private static final long SPACING_NS_MAX = 64_000_000L;

  private final int frameBytes;

  /** Least window on a path whose queue was too short of late for a frame of each sender. */
  private final int leastBytes;

  /** Least window on any other: a long round trip alone may be a host that is slow. */
  private final int leastUnlostBytes;

  private long bytes;
  private boolean starting = true;
  private boolean used;
  private long cutNs;
  private long roundNs;

  /** The longest queue allowed at present. */
  private long limitNs = QUEUE_NS_MAX;

  /** The window may be below one frame, until a moment. */
  private boolean isCrowded;

  private long crowdedUntilNs;

  private long noiseNs;
  private long toleratedNs;
  private long linkFrameNs;
  private long queueNs;

  /** The queue that was allowed; less than it where the queue was even shorter. */
  private long allowedNs = QUEUE_NS_MIN;

  /**
   * @param frameBytes of the longest frame, 64 to 65,535
   * @param leastBytes that the window never falls below; 0 for what congestion may need
   */
  public DelayWindow(int frameBytes, int leastBytes) {
    this.frameBytes = frameBytes;
    this.leastBytes = Math.max(Math.max(1, frameBytes / LEAST_SHARE), leastBytes);
    this.leastUnlostBytes = Math.max(frameBytes, leastBytes);
    this.bytes = Math.max((long) FIRST_FRAMES * frameBytes, leastBytes);
  }

  /** Bytes that may be unacknowledged: another frame may go while fewer are. */
  public long bytes() {
    return bytes;
  }

  /** Half of the window or more is in use: what is not used is not made larger. */
  public void used() {
    used = true;
  }

  /**
   * The peer has frames of this path.
   *
   * @param ackedBytes of frames that were sent once
   * @param rttNs of the last of them
   * @param smoothedNs smoothed round trip
   * @param leastNs least round trip ever
   * @param linkFrameNs time of the longest frame on the links of the path; 0: not known
   * @param bothWays the peer sends data too: what it acknowledges waits in its queues
   * @param noiseNs by how much it may be late without a queue: the hosts' poll gaps, and as much as
   *     round trips scatter
   */
  public void onAcknowledged(
      long ackedBytes,
      long rttNs,
      long smoothedNs,
      long leastNs,
      long linkFrameNs,
      boolean bothWays,
      long noiseNs,
      long nowNs) {
    this.linkFrameNs = linkFrameNs;
    this.noiseNs = noiseNs;
    toleratedNs =
        noiseNs <= NOISE_NS_MAX
            ? noiseNs
            : Math.min(noiseNs, Math.max(NOISE_NS_MAX, smoothedNs - leastNs));
    queueNs = rttNs - leastNs;
    long leastAllowedNs = QUEUE_NS_MIN + toleratedNs;
    // A queue that no window makes too long takes no division, unless a small window asks how far
    // it is from that.
    allowedNs =
        queueNs <= leastAllowedNs && bytes >= frameBytes
            ? leastAllowedNs
            : allowedNs(smoothedNs, bothWays);
    if (nowNs - roundNs >= smoothedNs) {
      roundNs = nowNs;
      long mostNs = Math.max(QUEUE_NS_MAX, QUEUE_FRAMES_LEAST * linkFrameNs);
      // By time rather than by frames: a window below a frame has a round in many round trips.
      long roundTrips = bytes >= frameBytes ? 1 : Math.min(frameBytes / bytes, 32);
      limitNs = Math.min(limitNs + (limitNs >> 7) * roundTrips, mostNs);
      isCrowded = isCrowded && nowNs - crowdedUntilNs < 0;
    }
    if (queueNs <= allowedNs) {
      if (used && ackedBytes > 0) {
        used = false;
        grow(ackedBytes);
      }
    } else {
      shrink(rttNs, smoothedNs, nowNs);
    }
  }

  /** The queue is longer than allowed. */
  private void shrink(long rttNs, long smoothedNs, long nowNs) {
    starting = false;
    if (nowNs - cutNs >= smoothedNs) {
      cutNs = nowNs;
      // Swift: 1 - 0.8 (delay - target) / delay, at least one half.
      long cut = 4 * bytes * (queueNs - allowedNs) / (5 * rttNs);
      long least = least(smoothedNs);
      // What less than a frame meets is no queue of this sender's, and perhaps none at all.
      bytes =
          bytes < least
              ? Math.min(least, bytes + (bytes + 1 >> 1))
              : Math.max(least, bytes - Math.min(cut, bytes >> 1));
    }
  }

  /**
   * Less than a frame behind a loss that a queue explains, but never so little that frames are
   * farther apart than {@value #SPACING_NS_MAX} ns.
   */
  private long least(long smoothedNs) {
    return isCrowded
        ? Math.clamp(frameBytes * smoothedNs / SPACING_NS_MAX, leastBytes, leastUnlostBytes)
        : leastUnlostBytes;
  }

  private long allowedNs(long smoothedNs, boolean bothWays) {
    long framesNs = QUEUE_FRAMES * frameBytes * smoothedNs / bytes;
    // Swift's flow scaling: of many senders those with the larger windows give way first.
    long shareNs = Math.clamp(limitNs * frameBytes / bytes, limitNs >> 1, limitNs);
    long oneWayNs = Math.clamp(framesNs, QUEUE_NS_MIN, Math.max(QUEUE_NS_MIN, shareNs));
    return (bothWays ? 2 * oneWayNs : oneWayNs) + toleratedNs;
  }

  private void grow(long ackedBytes) {
    if (starting) {
      bytes += ackedBytes;
    } else if (bytes >= frameBytes) {
      // Half a frame a round trip.
      bytes += Math.max(1, ackedBytes * frameBytes / (2 * bytes));
    } else {
      // One frame comes back in several round trips: an eighth of the window each time, or all of
      // it while there is next to no queue.
      bytes += Math.max(1, queueNs < allowedNs >> 2 ? bytes : bytes >> 3);
    }
    bytes = Math.min(bytes, BYTES_MAX);
  }

  /**
   * Frames of this path were lost.
   *
   * @return whether a queue explains it: the last round trip showed one longer than allowed, or
   *     than what the next one will be allowed
   */
  public boolean onLoss(long smoothedNs, long nowNs) {
    starting = false;
    long leastNs = Math.max(QUEUE_NS_MIN, QUEUE_FRAMES_LEAST * linkFrameNs);
    // What hosts may be the cause of is no sign of a queue, not even where it is not tolerated.
    long fullNs = Math.max(leastNs, 5 * (queueNs - noiseNs) >> 3);
    long unsureNs = noiseNs - toleratedNs;
    boolean queued = queueNs > allowedNs + unsureNs || fullNs < limitNs && fullNs > leastNs;
    if (queued) {
      isCrowded = true;
      crowdedUntilNs = nowNs + Math.min(CROWDED_ROUNDS * smoothedNs, CROWDED_NS_MAX);
    }
    if (nowNs - cutNs >= smoothedNs) {
      cutNs = nowNs;
      if (queued || queueNs - noiseNs >= leastNs) {
        limitNs = Math.min(limitNs, fullNs);
      }
      long least = queued || unsureNs > 0 ? Math.min(bytes, least(smoothedNs)) : leastBytes;
      bytes = Math.max(least, bytes - (queued ? bytes >> 2 : bytes >> 4));
    }
    return queued;
  }
}
