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

  /** Written when the endpoint is opened again; poll thread, before the program has it. */
  PmEndpoint endpoint;

  final int number;

  /** Application thread: the next lane of this endpoint to the same node. */
  Lane nextToNode;

  final int dst;
  final int dstEndpoint;

  /** Both endpoints, in the places of the header's last word. */
  final long endpointWord;

  // --- application thread ---
  private int epoch;
  private int used;

  /** Of {@code used}, what is claimed and neither sent nor aborted. */
  private int claimed;

  private long sent;
  private boolean wanted;

  // --- published by the poll thread ---
  /** Session epoch in the high half, in the low half the claims that may be made in it. */
  private long grant;

  private long acknowledged;

  // --- poll thread ---
  /** Index in the node's lane table; -1 until the poll thread has seen the lane. */
  int id = -1;

  /** Where it leads, once {@link #id} is known; null when that is this node itself. */
  Peer peer;

  /** The channel back, whose credit travels in this one's frames; null until it is known. */
  InLane back;

  int grantEpoch;

  /** Absolute limit in frames, as the peer granted it in this session. */
  int limit;

  /** Messages of this session that were copied into a frame with others: they took no credit. */
  private int joined;

  /** The frame that the next small message may join; 0 is none. It waits for its number. */
  int openId;

  /** Inline mode: the frame in which a claim is being written, behind what it holds; 0 is none. */
  int guestId;

  boolean creditWanted;
  long creditAskedNs;
  long creditAskIntervalNs;

  /** Tickets that are settled, in order: stored by the peer, or gone down with their session. */
  private long settled;

  Lane(PmEndpoint endpoint, int number, int dst, int dstEndpoint) {
    this(endpoint, endpoint.number(), number, dst, dstEndpoint);
  }

  Lane(PmEndpoint endpoint, int srcEndpoint, int number, int dst, int dstEndpoint) {
    this.endpoint = endpoint;
    this.number = number;
    this.dst = dst;
    this.dstEndpoint = dstEndpoint;
    this.endpointWord = (long) srcEndpoint << 48 | (long) dstEndpoint << 32;
  }

  /** Takes one frame's credit. Application thread. */
  boolean takeCredit() {
    // A2: sees the limit that R2 published, and the session it belongs to.
    long g = (long) GRANT.getAcquire(this);
    if ((int) (g >>> 32) != epoch) {
      epoch = (int) (g >>> 32);
      used = 0;
      claimed = 0;
      wanted = false;
    }
    if (used - (int) g >= 0) {
      return false;
    }
    used++;
    claimed++;
    wanted = false;
    return true;
  }

  /** Gives an aborted claim's credit back, unless its session is gone. Application thread. */
  void giveCreditBack(int claimEpoch) {
    if (claimEpoch == epoch) {
      used--;
      claimed--;
    }
  }

  /** A claim of the present session was sent. Application thread. */
  void spendCredit(int claimEpoch) {
    if (claimEpoch == epoch) {
      claimed--;
    }
  }

  /** The endpoint closes: what it had claimed was never sent. Poll thread, at its close. */
  void dropClaims() {
    used -= claimed;
    claimed = 0;
    wanted = false;
  }

  /** Whether no more was taken than granted. Only while application and poll thread are one. */
  boolean isWithinCredit() {
    return epoch != grantEpoch || used - joined - limit <= 0;
  }

  /** The session epoch that the last credit came from. Application thread. */
  int epoch() {
    return epoch;
  }

  /** The poll thread need not be asked for credit again. Application thread. */
  boolean isAsked() {
    return wanted;
  }

  /** The poll thread was asked for credit. Application thread. */
  void asked() {
    wanted = true;
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
    publishGrant();
  }

  /** The peer granted more: whoever asked for it need not ask again. Poll thread. */
  void takeLimit(int newLimit) {
    publishLimit(newLimit);
    creditWanted = false;
  }

  /** {@code srcEndpoint:16 | dstEndpoint:16}, as credit for this lane names it. */
  int endpoints() {
    return (int) (endpointWord >>> 32);
  }

  /** A claim took credit for a frame that was not needed: its message joined another. */
  void returnCredit() {
    joined++;
    publishGrant();
  }

  private void publishGrant() {
    // R2: pairs with A2 in takeCredit().
    GRANT.setRelease(this, (long) grantEpoch << 32 | limit + joined & 0xFFFF_FFFFL);
  }

  /** A session ended: no credit until the next one. Poll thread. */
  void closeSession() {
    grantEpoch++;
    creditWanted = false;
    joined = 0;
    publishLimit(0);
  }

  /** The next messages of this lane are stored by the peer. Poll thread. */
  void acknowledge(int messages) {
    settled += messages;
    // R3: pairs with A3 in acknowledged().
    ACKNOWLEDGED.setRelease(this, settled);
  }

  /** The fate of the next messages of this lane stays unknown: its session ended. Poll thread. */
  void lose(int messages) {
    settled += messages;
  }
}
