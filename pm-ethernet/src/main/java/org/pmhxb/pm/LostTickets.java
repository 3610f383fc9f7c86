package org.pmhxb.pm;

import java.util.Arrays;

/**
 * Tickets of a lane that went down with their sessions, as ranges. Immutable.
 *
 * <p>Their number is bounded: beyond {@value #RANGES_MAX} the two oldest become one, with the
 * tickets between; but for those of the present session, of which others may be on their way.
 */
final class LostTickets {
  static final int RANGES_MAX = 16;

  static final LostTickets NONE = new LostTickets(new long[0]);

  /** First and last ticket of each, ascending; they do not touch. */
  private final long[] bounds;

  private LostTickets(long[] bounds) {
    this.bounds = bounds;
  }

  boolean has(long ticket) {
    for (int i = bounds.length - 2; i >= 0; i -= 2) {
      if (ticket >= bounds[i]) {
        return ticket <= bounds[i + 1];
      }
    }
    return false;
  }

  /**
   * These and the tickets from {@code first} to {@code last}.
   *
   * @param presentFrom the first ticket of the present session
   */
  LostTickets and(long first, long last, long presentFrom) {
    long[] all = new long[bounds.length + 2];
    long from = first;
    long to = last;
    int n = 0;
    int i = 0;
    for (; i < bounds.length && bounds[i + 1] < from - 1; i += 2) {
      all[n++] = bounds[i];
      all[n++] = bounds[i + 1];
    }
    for (; i < bounds.length && bounds[i] <= to + 1; i += 2) {
      from = Math.min(from, bounds[i]);
      to = Math.max(to, bounds[i + 1]);
    }
    all[n++] = from;
    all[n++] = to;
    for (; i < bounds.length; i++) {
      all[n++] = bounds[i];
    }
    int merged = 0;
    while (n - merged > 2 * RANGES_MAX && all[merged + 2] < presentFrom) {
      merged += 2;
    }
    long[] fewer = Arrays.copyOfRange(all, merged, n);
    fewer[0] = all[0];
    return new LostTickets(fewer);
  }
}
