package org.pmhxb.pm;

import org.pmhxb.pm.flow.DelayWindow;

/**
 * What an acknowledgement from the peer tells of a path: that it lives, its round trips and rate. A
 * class of its own for the reason that {@link Way} names: with that, four cache lines. Owner: the
 * poll thread.
 */
abstract class PathTimes extends Way {
  private static final long RTT_MAX_NS = 1_000_000_000L;

  /** Who polls so seldom has stood still. */
  private static final long STALL_NS = 100_000_000L;

  private static final int LOSS_MEMORY_FRAMES = 64;
  private static final int GAP_MEMORY_BITS = 3;
  private static final int BEHIND_MEMORY_BITS = 5;

  /** One frame in sixteen. */
  private static final int LOSSY_SHARE = 64;

  final DelayWindow window;
  final int hops;

  // --- what the acknowledgement that is being read says, until it is entered ---
  long freshBytes;
  long freshRttNs;
  int freshFrames;

  /** All transmissions before this have arrived or are lost: the path is FIFO. */
  int settledIndex;

  /**
   * When the last frame or question was sent on it of which a round trip was taken, or when the
   * session opened.
   */
  long arrivedSentNs;

  /** The last sign of life, or when the session opened. */
  long evidenceNs;

  /** When frames last joined the path while it was empty: nothing was owed until then. */
  private long waitingFromNs;

  /** How far signs of life were apart of late, at worst. */
  long evidenceGapNs;

  /**
   * By how much what was known to have arrived over any path had been sent behind a frame of this
   * one, when that was told to have arrived: at worst of late.
   */
  long behindNs;

  // --- round trips ---
  long smoothedRttNs;
  long rttVariationNs;
  long leastRttNs = Long.MAX_VALUE;

  /** The last round trip that was looked at was of a stall, which showed first at a time. */
  private boolean stalled;

  private long stallShownNs;

  /** Bytes that took {@link #ratedNs} of late; 0: {@link #byteTime} is worked out already. */
  private long ratedBytes;

  private long ratedNs;
  private long byteTime;

  /** By how much its least round trip is longer than that of paths that are alike. */
  long longerNs;

  /** A window below one frame: no frame before this. */
  long pacedUntilNs;

  /** Share of the last hundred frames or so that were lost without a queue, in 1/1024. */
  int lossShare;

  /**
   * @param ends see {@link Way}
   * @param keySession see {@link Way}
   */
  PathTimes(
      int path, Rail rail, int hops, DelayWindow window, long nowNs, long ends, long keySession) {
    super(path, rail, ends, keySession);
    this.hops = hops;
    this.window = window;
    this.evidenceNs = nowNs;
    this.arrivedSentNs = nowNs;
    this.pacedUntilNs = nowNs;
    this.waitingFromNs = nowNs;
  }

  /**
   * Takes a measured round trip; what exceeds the limit tells of a stall, not of the path. So does
   * what is long, and by no more longer than usual than its ends stood still: by it answers would
   * be waited for for seconds, when a path died meanwhile. That is believed of what was sent before
   * it showed first: who polls as seldom all the time has round trips that are so long.
   *
   * @param longWayNs by how much the way is said to be longer than others
   * @param gapsNs between polls of its two ends, at worst of late
   */
  final boolean sampleRtt(long rttNs, long longWayNs, long gapsNs, long nowNs) {
    if (rttNs < 0 || rttNs - longWayNs > RTT_MAX_NS) {
      return false;
    }
    if (rttNs - longWayNs <= STALL_NS) {
      stalled = false;
    } else if (isOfStall(rttNs, longWayNs, gapsNs)) {
      if (!stalled) {
        stalled = true;
        stallShownNs = nowNs;
      }
      if (nowNs - rttNs - stallShownNs < 0) {
        return false;
      }
    }
    leastRttNs = Math.min(leastRttNs, rttNs);
    if (smoothedRttNs == 0) {
      smoothedRttNs = rttNs;
      rttVariationNs = rttNs / 2;
    } else {
      // RFC 6298: alpha 1/8, beta 1/4.
      rttVariationNs += (Math.abs(smoothedRttNs - rttNs) - rttVariationNs) >> 2;
      smoothedRttNs += (rttNs - smoothedRttNs) >> 3;
    }
    return true;
  }

  private boolean isOfStall(long rttNs, long longWayNs, long gapsNs) {
    // The gaps are told by an end that has polled some rounds since: they have worn off a little.
    long stillNs = gapsNs + (gapsNs >> 2);
    long longerNs = rttNs - Math.max(smoothedRttNs, longWayNs);
    return stillNs > STALL_NS && longerNs > 0 && longerNs <= stillNs;
  }

  /** Notes the path's rate: a window in a round trip. */
  final void rate() {
    ratedNs = smoothedRttNs;
    ratedBytes = window.bytes();
  }

  /** Time that a byte of this path takes, in 1/1024 ns; 0 before the first round trip. */
  final long byteTime() {
    if (ratedBytes != 0) {
      byteTime = (ratedNs << 10) / ratedBytes;
      ratedBytes = 0;
    }
    return byteTime;
  }

  final void arrived(int frames) {
    if (lossShare != 0) {
      lossShare -= lossShare * Math.min(frames, LOSS_MEMORY_FRAMES) / LOSS_MEMORY_FRAMES;
    }
  }

  final void lost(int frames) {
    for (int i = 0; i < Math.min(frames, LOSS_MEMORY_FRAMES); i++) {
      lossShare += (1_024 - lossShare) / LOSS_MEMORY_FRAMES;
    }
  }

  /** A sign of life. */
  final void evidence(long nowNs) {
    long gapNs = nowNs - owedSinceNs();
    evidenceGapNs = worstOfLate(evidenceGapNs, gapNs, GAP_MEMORY_BITS);
    evidenceNs = nowNs;
    probesUnanswered = 0;
  }

  /**
   * Something sent at {@link #arrivedSentNs} arrived.
   *
   * @param newestNs when the newest was sent that was known to have arrived over any path
   */
  final void arrivedBehind(long newestNs) {
    long laterNs = Math.max(0, newestNs - arrivedSentNs);
    behindNs = worstOfLate(behindNs, laterNs, BEHIND_MEMORY_BITS);
  }

  private static long worstOfLate(long worst, long now, int memoryBits) {
    return now > worst ? now : worst - (worst - now >> memoryBits);
  }

  /** Nothing was owed until now, but answers to the probes that were sent. */
  final void waitFrom(long nowNs) {
    waitingFromNs = nowNs;
  }

  /** Since when a sign of life is owed. */
  final long owedSinceNs() {
    return waitingFromNs - evidenceNs > 0 ? waitingFromNs : evidenceNs;
  }

  /**
   * By how much a round trip may be late by chance: where frames are lost without a queue so are
   * acknowledgements, and round trips scatter.
   */
  final long scatterNs() {
    return lossShare >= LOSSY_SHARE ? 2 * rttVariationNs : 0;
  }
}
