package org.pmhxb.pm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The sending side of one (destination node, destination endpoint) of an endpoint: its credit and
 * its completions.
 *
 * <p>The application thread owns {@code epoch}, {@code used}, {@code sent}; the poll thread
 * publishes {@code grant} and {@code acknowledged}.
 */
final class Lane {
  private static final VarHandle GRANT;
  private static final VarHandle ACKNOWLEDGED;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      GRANT = lookup.findVarHandle(Lane.class, "grant", long.class);
      ACKNOWLEDGED = lookup.findVarHandle(Lane.class, "acknowledged", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  final PmEndpoint endpoint;
  final int number;
  final int dst;
  final int dstEndpoint;

  // --- application thread ---
  private int epoch;
  private int used;
  private long sent;
  private boolean wanted;

  // --- published by the poll thread ---
  /** Session epoch in the high half, absolute credit limit in the low half. */
  private long grant;

  private long acknowledged;

  // --- poll thread ---
  /** Index in the node's lane table; -1 until the poll thread has seen the lane. */
  int id = -1;

  int grantEpoch;
  int limit;
  boolean creditWanted;
  long creditAskedNs;
  long creditAskIntervalNs;

  /** Frames of this session that the poll thread took from the endpoint. */
  int accepted;

  /** Of these, how many the peer has stored. */
  int stored;

  /** What {@link #succeed} took over; written before R2, read after A2. */
  private int inheritedEpoch = -1;

  private int inheritedUsed;

  Lane(PmEndpoint endpoint, int number, int dst, int dstEndpoint) {
    this.endpoint = endpoint;
    this.number = number;
    this.dst = dst;
    this.dstEndpoint = dstEndpoint;
  }

  /** Takes one frame's credit. Application thread. */
  boolean takeCredit() {
    // A2: sees the limit that R2 published, and the session it belongs to.
    long g = (long) GRANT.getAcquire(this);
    if ((int) (g >>> 32) != epoch) {
      epoch = (int) (g >>> 32);
      used = epoch == inheritedEpoch ? inheritedUsed : 0;
      wanted = false;
    }
    if (used - (int) g >= 0) {
      return false;
    }
    used++;
    wanted = false;
    return true;
  }

  /** Gives an aborted claim's credit back, unless its session is gone. Application thread. */
  void giveCreditBack(int claimEpoch) {
    if (claimEpoch == epoch) {
      used--;
    }
  }

  /** The session epoch that the last credit came from. Application thread. */
  int epoch() {
    return epoch;
  }

  /** True once per shortage: the caller asks the poll thread for credit. Application thread. */
  boolean wantsAsking() {
    if (wanted) {
      return false;
    }
    wanted = true;
    return true;
  }

  /** The next ticket. Application thread. */
  long nextTicket() {
    return ++sent;
  }

  long acknowledged() {
    // A3: pairs with R3.
    return (long) ACKNOWLEDGED.getAcquire(this);
  }

  /** Raises the limit; it never moves back within a session. Poll thread. */
  void publishLimit(int newLimit) {
    limit = newLimit;
    // R2: pairs with A2 in takeCredit().
    GRANT.setRelease(this, (long) grantEpoch << 32 | newLimit & 0xFFFF_FFFFL);
  }

  /**
   * Goes on where the lane of a closed endpoint with the same number and destination stopped: the
   * peer counts credit per pair of endpoint numbers, not per object. Claims that were never sent
   * give their credit back here; tickets begin anew. Poll thread, before the first credit.
   */
  void succeed(Lane former) {
    id = former.id;
    accepted = former.accepted;
    stored = former.stored;
    inheritedEpoch = former.grantEpoch + 1;
    inheritedUsed = former.accepted;
    grantEpoch = inheritedEpoch;
    acknowledged = former.stored - former.accepted;
    publishLimit(former.limit);
  }

  /** Whether there is credit for what the endpoint may send next. Poll thread. */
  boolean hasCredit() {
    return limit - accepted > 0;
  }

  /** A session ended: no credit until the next one. Poll thread. */
  void closeSession() {
    grantEpoch++;
    creditWanted = false;
    accepted = 0;
    stored = 0;
    publishLimit(0);
  }

  /** One more frame is stored by the peer. Poll thread. */
  void acknowledge() {
    stored++;
    // R3: pairs with A3 in acknowledged().
    ACKNOWLEDGED.setRelease(this, acknowledged + 1);
  }
}
