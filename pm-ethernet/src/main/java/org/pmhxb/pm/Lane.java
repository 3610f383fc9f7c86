package org.pmhxb.pm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;

/**
 * The sending side of one (destination node, destination endpoint) of an endpoint: its credit and
 * its completions.
 *
 * <p>The application thread owns {@code used} and {@code sent}; the poll thread publishes {@code
 * grant}, {@code acknowledged} and {@code lost}.
 */
final class Lane extends LaneState {
  /** No {@link #used}: it has a bit that is 0 there. */
  private static final long NOT_ASKED = -1;

  private static final VarHandle ACKNOWLEDGED;
  private static final VarHandle LOST;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      ACKNOWLEDGED = lookup.findVarHandle(Lane.class, "acknowledged", long.class);
      LOST = lookup.findVarHandle(Lane.class, "lost", LostTickets.class);
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

  private final int endpoints;

  /** Application thread: null until the first message that goes as fragments. */
  private FragmentOrder fragments;

  /**
   * Application thread: {@link #used} when the poll thread was asked for credit, all of which was
   * taken then. A session's credit never shrinks: whoever finds none with the same {@link #used}
   * finds none for the same reason, and with another has to ask anew.
   */
  private long askedAt = NOT_ASKED;

  /** Application thread: tickets up to this are of sessions before the one it claims in. */
  private long ticketsBefore;

  // --- published by the poll thread ---
  private long acknowledged;

  private LostTickets lost = LostTickets.NONE;

  // --- poll thread ---
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

  /** The first ticket behind the end of the last session. */
  private long presentFrom = 1;

  /** Of {@link #lost}, tickets behind others that are on their way, in order; null: none. */
  private ArrayDeque<Long> lostAhead;

  Lane(PmEndpoint endpoint, int number, int dst, int dstEndpoint) {
    this(endpoint, endpoint.number(), number, dst, dstEndpoint);
  }

  Lane(PmEndpoint endpoint, int srcEndpoint, int number, int dst, int dstEndpoint) {
    super(dstEndpoint, srcEndpoint << 16 | dstEndpoint);
    this.endpoints = srcEndpoint << 16 | dstEndpoint;
    this.endpoint = endpoint;
    this.number = number;
    this.dst = dst;
  }

  /** Takes one frame's credit. Application thread. */
  boolean takeCredit() {
    // A2: sees the limit that R2 published, and the session it belongs to.
    long g = (long) GRANT.getAcquire(this);
    if (epochOf(g) != epoch()) {
      used = word(epochOf(g), 0);
      ticketsBefore = sent;
    }
    if ((int) used - (int) g >= 0) {
      return false;
    }
    used = word(epoch(), (int) used + 1);
    return true;
  }

  /**
   * Whether there is credit, of the session that the last came from. While application and poll
   * thread are one: there is no order to be kept between them. May say no when the claims are about
   * to pass 2^32.
   */
  boolean hasCreditInline() {
    return grant - used - 1 >>> 31 == 0;
  }

  /** Takes what {@link #hasCreditInline} has found. */
  void useCredit() {
    used++;
  }

  /**
   * Gives a claim's credit back that is not sent, unless its session is gone. Application thread.
   */
  void giveCreditBack(int claimEpoch) {
    if (claimEpoch == epoch()) {
      used = word(claimEpoch, (int) used - 1);
    }
  }

  private static long word(int epoch, int claims) {
    return (long) epoch << EPOCH_SHIFT | claims & 0xFFFF_FFFFL;
  }

  private static int epochOf(long word) {
    return (int) (word >>> EPOCH_SHIFT);
  }

  /** Another endpoint object asks and sends anew. Poll thread, before it is used. */
  void beginAnew() {
    askedAt = NOT_ASKED;
    fragments = null;
  }

  /** Application thread. */
  FragmentOrder fragments() {
    if (fragments == null) {
      fragments = new FragmentOrder(dst, dstEndpoint);
    }
    return fragments;
  }

  /** Whether no more was taken than granted. Only while application and poll thread are one. */
  boolean isWithinCredit() {
    return epoch() != grantEpoch() || (int) used - joined - limit <= 0;
  }

  /** Whether who had made these claims, and found no credit, finds some now. Poll thread. */
  boolean grantsBeyond(long claims) {
    int made = epochOf(claims) == grantEpoch() ? (int) claims : 0;
    return (int) grant - made > 0;
  }

  /** The session epoch that grants are of. Poll thread. */
  int grantEpoch() {
    return epochOf(grant);
  }

  /** The session epoch that the last credit came from. Application thread. */
  int epoch() {
    return epochOf(used);
  }

  /** The poll thread need not be asked for credit again. Application thread. */
  boolean isAsked() {
    return askedAt == used;
  }

  /** The poll thread was asked for credit. Application thread. */
  void asked() {
    askedAt = used;
  }

  /** The next ticket. Application thread. */
  long nextTicket() {
    return ++sent;
  }

  long acknowledged() {
    // A3: pairs with R3.
    return (long) ACKNOWLEDGED.getAcquire(this);
  }

  /** What became of a ticket that was given out. Application thread. */
  Fate fate(long ticket) {
    // A2: of a session that is over, all that was stored or lost is seen below.
    boolean over = ticket <= ticketsBefore || epochOf((long) GRANT.getAcquire(this)) != epoch();
    boolean done = ticket <= acknowledged();
    // A4: pairs with R4. Behind A3: what was passed as lost is seen to be.
    boolean isLost = ((LostTickets) LOST.getAcquire(this)).has(ticket);
    if (done && !isLost) {
      return Fate.STORED;
    }
    return isLost || over ? Fate.UNKNOWN : Fate.PENDING;
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
    return endpoints;
  }

  /** A claim took credit for a frame that was not needed: its message joined another. */
  void returnCredit() {
    joined++;
    publishGrant();
  }

  private void publishGrant() {
    publishGrant(grantEpoch());
  }

  private void publishGrant(int epoch) {
    // R2: pairs with A2 in takeCredit().
    GRANT.setRelease(this, word(epoch, limit + joined));
  }

  /** A session ended: no credit until the next one. Poll thread. */
  void closeSession() {
    settleLostAhead();
    presentFrom = settled + 1;
    creditWanted = false;
    joined = 0;
    limit = 0;
    publishGrant(grantEpoch() + 1);
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
    addLost(settled - messages + 1, settled);
  }

  /**
   * The same of one that was claimed in an ended session and sent behind others of this one. Poll
   * thread.
   *
   * @param onTheirWay messages that were sent before it, and are neither stored nor lost
   */
  void loseBehind(int onTheirWay) {
    passLost();
    if (onTheirWay == 0) {
      settleLostAhead();
      lose(1);
      return;
    }
    if (lostAhead == null) {
      lostAhead = new ArrayDeque<>();
    }
    long ticket = settled + onTheirWay + lostAhead.size() + 1;
    lostAhead.add(ticket);
    addLost(ticket, ticket);
  }

  /** Whether the timer has to look after it: {@link AckState#lanesWait}. Poll thread. */
  boolean waits() {
    return creditWanted || lostAhead != null;
  }

  /** Settles what {@link #loseBehind} lost, once one that was sent later is stored. Poll thread. */
  void passLost() {
    if (lostAhead != null) {
      passLostAhead();
    }
  }

  private void passLostAhead() {
    while (!lostAhead.isEmpty() && settled >= lostAhead.peek()) {
      lostAhead.remove();
      acknowledge(1);
    }
    if (lostAhead.isEmpty()) {
      lostAhead = null;
    }
  }

  /** All that was sent before is settled. */
  private void settleLostAhead() {
    if (lostAhead != null) {
      lose(lostAhead.size());
      lostAhead = null;
    }
  }

  private void addLost(long first, long last) {
    // R4: pairs with A4 in fate(). Before R3, which passes these tickets.
    LOST.setRelease(this, lost.and(first, last, presentFrom));
  }
}
