package org.pmhxb.pm.flow;

/**
 * Which stamps of one sender were seen: the highest, and a bit for each of the {@value #SIZE}
 * before it, as in RFC 4303 section 3.4.3 (PROTOCOL.md section 2.6). Owner: the poll thread.
 */
public final class ReplayWindow {
  /** How far a frame may come behind one that overtook it. */
  public static final int SIZE = 4_096;

  private static final int MASK = SIZE - 1;

  private final long[] seen = new long[SIZE >> 6];
  private long highest;
  private boolean started;

  /** Notes a stamp; false when it was seen before, or is too old to tell. */
  public boolean accept(long stamp) {
    if (!started || stamp - highest > 0) {
      advance(stamp);
    } else if (highest - stamp >= SIZE || (seen[word(stamp)] & bit(stamp)) != 0) {
      return false;
    }
    seen[word(stamp)] |= bit(stamp);
    return true;
  }

  private void advance(long stamp) {
    long steps = started ? stamp - highest : SIZE;
    started = true;
    if (steps < 0 || steps >= SIZE) {
      java.util.Arrays.fill(seen, 0);
    } else {
      for (long s = highest + 1; s - stamp <= 0; s++) {
        seen[word(s)] &= ~bit(s);
      }
    }
    highest = stamp;
  }

  private static int word(long stamp) {
    return ((int) stamp & MASK) >>> 6;
  }

  private static long bit(long stamp) {
    return 1L << stamp;
  }
}
