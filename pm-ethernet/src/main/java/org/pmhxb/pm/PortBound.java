package org.pmhxb.pm;

/**
 * How much a port may have in front of the wire: what leaves it between two polls, and a few
 * frames. The rest waits in the rail's queues, where acknowledgements and relayed frames overtake.
 * The rate is measured while the port is never empty. A port that cannot tell its backlog reports 0
 * and is not bound. Owner: the poll thread.
 */
final class PortBound {
  private static final int FRAMES = 4;

  /** Half of them. */
  private static final int REFILL_FRAMES = FRAMES / 2;

  /** Before the first measurement, and at most. */
  private static final long BYTES_MAX = 192 * 1024;

  private static final long INTERVAL_NS = 1_000_000L;

  /** A longer one was a stall in which the port ran dry. */
  private static final long INTERVAL_NS_MAX = 50_000_000L;

  private final int frameBytes;
  private long handedBytes;
  private long backlogBytes;
  private long boundBytes = BYTES_MAX;

  // One measurement: from a moment with a backlog to another, without an empty moment between.
  private boolean measuring;
  private long beganNs;
  private long beganGoneBytes;

  /** Bytes in 1,048,576 ns; 0 until measured. */
  private long rate;

  private long frameNs;

  /**
   * @param frameBytes of the port's longest frame
   */
  PortBound(int frameBytes) {
    this.frameBytes = Math.min(frameBytes, 9_216);
  }

  /** What the port had when it was last asked. */
  long backlogBytes() {
    return backlogBytes;
  }

  /** Time of the longest frame; 0 while no rate was measured. */
  long frameNs() {
    return frameNs;
  }

  /** All that the port took. */
  long handedBytes() {
    return handedBytes;
  }

  /** What has left the port, when it was last asked. */
  long goneBytes() {
    return handedBytes - backlogBytes;
  }

  /** The port took frames of so many bytes. */
  void handedOver(long lengthBytes) {
    handedBytes += lengthBytes;
  }

  /**
   * Takes what the port says; returns the bytes that may follow.
   *
   * @param pollGapNs for how long the port may have to live on what it has
   */
  long spareBytes(long portBacklogBytes, long nowNs, long pollGapNs) {
    if ((portBacklogBytes | backlogBytes | rate) == 0) {
      // Nothing was ever measured.
      return Long.MAX_VALUE;
    }
    backlogBytes = portBacklogBytes;
    if (portBacklogBytes == 0) {
      measuring = false;
      return rate == 0 ? Long.MAX_VALUE : boundBytes;
    }
    measure(handedBytes - portBacklogBytes, nowNs);
    if (rate > 0) {
      long between = rate * Math.min(pollGapNs, INTERVAL_NS_MAX) >> 20;
      boundBytes = Math.min(BYTES_MAX, (long) FRAMES * frameBytes + between);
    }
    return boundBytes - portBacklogBytes;
  }

  /**
   * Time until the backlog, as it was when the port was last asked, lies {@link #REFILL_FRAMES}
   * frames below the bound: so many may follow at once then, and as many at least are left, so that
   * who comes late by their time still finds the port at work. 0 while no rate is known.
   */
  long untilRoomNs() {
    if (rate == 0 || backlogBytes == 0) {
      return 0;
    }
    long overBytes = backlogBytes - boundBytes + (long) REFILL_FRAMES * frameBytes;
    return Math.max(0, (overBytes << 20) / rate);
  }

  private void measure(long goneBytes, long nowNs) {
    if (!measuring) {
      measuring = true;
      beganNs = nowNs;
      beganGoneBytes = goneBytes;
      return;
    }
    long elapsedNs = nowNs - beganNs;
    // Where nothing leaves the port waits for a frame's time, or is held up: no rate of its own.
    if (elapsedNs < (goneBytes == beganGoneBytes ? INTERVAL_NS_MAX : INTERVAL_NS)) {
      return;
    }
    if (elapsedNs < INTERVAL_NS_MAX) {
      long sample = (goneBytes - beganGoneBytes << 20) / elapsedNs;
      rate += rate == 0 ? sample : sample - rate >> 3;
      frameNs = rate == 0 ? 0 : ((long) frameBytes << 20) / rate;
    }
    beganNs = nowNs;
    beganGoneBytes = goneBytes;
  }
}
