package org.pmhxb.pm;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Arrays;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.Descriptor;
import org.pmhxb.bufpool.LoanBudget;
import org.pmhxb.bufpool.Memory;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.bufpool.SpscDescriptorRing;
import org.pmhxb.pm.wire.CoalescedPayload;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * Where a program sends and receives: PMv2's context in today's Java.
 *
 * <p>Owner: one application thread, bound at first use and checked at every call. Between it and
 * the node's poll thread stand two rings of descriptors; in inline mode both are one thread and
 * releases take the short way.
 *
 * <p>Sending: {@link #claim} takes a buffer and credit, the program writes, {@link #send} fixes the
 * order. Receiving: {@link #poll} hands each message to a handler in its receive buffer; nothing is
 * copied.
 */
public final class PmEndpoint implements AutoCloseable {
  // Descriptor operations, application -> node.
  static final int OP_SEND = 1;
  static final int OP_CONSUMED = 2;
  static final int OP_ABORT = 3;
  static final int OP_ASK = 4;

  // Descriptor operations, node -> application.
  static final int OP_MESSAGE = 1;
  static final int OP_PEER_DOWN = 2;
  static final int OP_BUFFER = 3;

  /** In the flags of OP_CONSUMED: the buffer went on loan. */
  static final int FLAG_RETAINED = 0x80;

  /** Of a descriptor's first word, what tells a frame that is one whole message. */
  private static final long WHOLE = Descriptor.lo(OP_MESSAGE, 0, 0, 0, 0);

  private static final long NOT_WHOLE =
      Descriptor.lo(0xFF, FrameHeader.FLAG_COALESCED | FrameHeader.FLAG_FRAGMENT, 0, 0, 0);

  /** Messages after which their buffers and credit go back, if their handlers just return. */
  private static final int SETTLE_AT = 32;

  /** Longest message that shares a frame by itself: see docs/performance/messages.md. */
  public static final int COALESCE_BYTES = 1_024;

  /** Longest message that may be made to. */
  public static final int COALESCE_BYTES_MAX = 2_048;

  private final PmNode node;
  private final NodeCore core;
  private final Sender sender;
  private final BufferPool pool;
  private final MemorySegment frames;
  private final int number;
  private final boolean inline;

  /** What one frame carries. */
  private final int payloadBytesMax;

  /** Written by the poll thread, read by the application thread. */
  final SpscDescriptorRing inbox;

  /** Free buffers for claims; unused in inline mode. */
  final SpscDescriptorRing supply;

  /** Written by the application thread, read by the poll thread. */
  final SpscDescriptorRing toNode;

  /** Of {@link #toNode}, for messages that are consumed and claims that are sent or aborted. */
  private final int placesPromised;

  /**
   * Set before the program has this endpoint: new, or taken over with the endpoint's number. Null
   * once it is closed and none is out.
   */
  LoanBudget loans;

  /** Claims that may be out, so that all endpoints together keep to the node's budget. */
  volatile int claimLimit;

  final int inboxOwner;
  final int claimOwner;
  private final long claimedSolely;

  /** Poll thread: buffers in the supply ring or claimed. */
  int supplied;

  /** Poll thread: its program has claimed something. */
  boolean claims;

  /** Poll thread: ends of sessions that are still to be told. */
  private final ArrayDeque<Long> downsWaiting = new ArrayDeque<>();

  /** Poll thread: those that it put into the inbox. */
  private int downsOffered;

  /** Application thread: those that it took out. Volatile: the poll thread may use their places. */
  private volatile int downsPolled;

  // --- application thread ---
  /** Volatile for a node that another thread closes: null then, so that each call looks why. */
  private volatile Thread user;

  private boolean closed;
  private boolean polling;

  /** Only added to. Volatile: the poll thread that sees a longer array sees its contents. */
  private volatile Lane[] lanes = new Lane[8];

  private int laneCount;
  private final Lane[] laneOfNode;

  /** The one that a program takes which sends each claim before it makes the next. */
  private final SendBuffer usual;

  /** Those beside it, claimed or not, and of them the ones that are not. */
  private SendBuffer[] several = new SendBuffer[8];

  private int severalCount;
  private SendBuffer[] idle = new SendBuffer[8];
  private int idleCount;
  private int claimed;
  private int coalesceUpTo;

  /**
   * Longer messages have a frame of their own, which the program's thread itself sends; {@link
   * Integer#MAX_VALUE} where it is not the poll thread.
   */
  private int aloneAbove;

  /** Inline mode: a buffer of the claim owner's that no claim has; 0 is none. */
  private int spareId;

  /**
   * A claim is being written in a frame that waits (Lane.guestId), and {@link #spareId} is kept for
   * it: whichever of the two has to move finds a buffer. One at a time.
   */
  private boolean guestOut;

  /** The frame that waits and that the last message joined. Inline mode. */
  final OpenFrame openFrame;

  /** Where the next message in the frame at the head of the inbox is, when it holds several. */
  private int partNext;

  private int partAt;

  /** Of this poll, frames at the head of the inbox whose handlers have returned. */
  private int polled;

  /** Of those, the ones whose buffers were given back. */
  private int settled;

  /** Of those, the ones whose credit was given back too. */
  private int credited;

  /** The handler has had all of the frame behind those. */
  private boolean headFinished;

  /**
   * Closed: frames granted since to lanes that asked only then, one each, in sessions that are up.
   * Poll thread.
   */
  int scantFrames;

  private long claimsRefused;
  private long loansCopied;
  private final Message message;
  private Loan[] loanHandles;

  PmEndpoint(PmNode node, NodeCore core, int number, boolean inline) {
    this.node = node;
    this.core = core;
    this.sender = node.sender;
    this.pool = core.pool;
    this.frames = core.frames;
    this.number = number;
    this.inline = inline;
    NodeConfig config = core.config;
    payloadBytesMax = config.maxPayloadBytes();
    int events = 64 + 2 * Math.min(core.routing.nodes(), 4_096);
    int inboxCapacity = powerOfTwoFrom(config.creditBuffers() + events);
    inbox = SpscDescriptorRing.create(inboxCapacity);
    supply = SpscDescriptorRing.create(config.claimBuffers());
    toNode =
        SpscDescriptorRing.create(powerOfTwoFrom(inboxCapacity + 2 * config.claimBuffers() + 256));
    placesPromised = config.creditBuffers() + config.claimBuffers();
    inboxOwner = Owner.of(Owner.INBOX, number);
    claimOwner = Owner.of(Owner.APPLICATION, number);
    claimedSolely = BufferPool.solely(claimOwner);
    laneOfNode = new Lane[core.routing.nodes()];
    message = new Message(this, frames);
    usual = new SendBuffer(this, frames, true);
    openFrame = new OpenFrame(core.pending, frames.address(), config.maxPayloadBytes());
    limitCoalescing(COALESCE_BYTES);
  }

  private void limitCoalescing(int bytes) {
    coalesceUpTo = Math.clamp(bytes, -1, coalesceBytesMax());
    aloneAbove = inline ? coalesceUpTo : Integer.MAX_VALUE;
  }

  private static int powerOfTwoFrom(int least) {
    return Integer.highestOneBit(Math.max(2, least) * 2 - 1);
  }

  /** This endpoint's number, 1 to 65,534. Any thread. */
  public int number() {
    return number;
  }

  // --- sending ------------------------------------------------------------------------------

  /** {@link #claim(int, int, int)} towards the endpoint of the same number. */
  public SendBuffer claim(int dst, int lengthBytes) {
    return claim(dst, number, lengthBytes);
  }

  /**
   * Takes a buffer for a message of one frame, and the credit to send it. Never blocks.
   *
   * @param dst node number
   * @param dstEndpoint endpoint at that node, 1 to 65,534
   * @param lengthBytes payload, 0 to {@link PmNode#maxFramePayloadBytes()}
   * @return null when out of credit or buffers; there is more once the peer's program consumes, or
   *     acknowledgements arrive, or a session is open. With a poll thread, an endpoint that has
   *     claimed nothing yet has buffers for 4 claims at once, fewer where many are open
   * @throws IllegalArgumentException a value is out of range
   * @throws IllegalStateException the endpoint is closed, or this is another thread
   */
  public SendBuffer claim(int dst, int dstEndpoint, int lengthBytes) {
    checkUse();
    boolean isAlone = lengthBytes > aloneAbove;
    if (!isAlone && claimed == 0 && spareId != 0) {
      OpenFrame open = openFrame;
      if (open.takes(dst, dstEndpoint, lengthBytes)) {
        claimed = 1;
        guestOut = true;
        open.claim(usual, lengthBytes);
        return usual;
      }
    }
    if (Integer.compareUnsigned(lengthBytes, payloadBytesMax) > 0) {
      throw badLength(lengthBytes);
    }
    Lane lane = lane(dst, dstEndpoint);
    return isAlone && isUsualClaim(lane)
        ? takeUsual(lane, lengthBytes)
        : take(lane, lengthBytes, 0);
  }

  /** {@link #take} of what {@link #isUsualClaim}. */
  private SendBuffer takeUsual(Lane lane, int lengthBytes) {
    int id = pool.takeStashed(claimedSolely);
    lane.useCredit();
    claimed = 1;
    usual.bindUsual(lane, id, lengthBytes, pool.frameAt(id));
    return usual;
  }

  /**
   * Whether {@link #take} of a frame of its own would find nothing to be done but the usual: no
   * other claim is out, credit and a buffer are at hand. Inline mode.
   */
  private boolean isUsualClaim(Lane lane) {
    return claimed == 0
        && sender.mayHoldMore()
        && !openFrame.isOf(lane)
        && pool.hasStashed()
        && lane.hasCreditInline();
  }

  /**
   * Messages sent from now on share a frame when one of their channel waits (PROTOCOL.md section
   * 7.1) and they are not longer than this. They never wait for it. A claim is written there at
   * once when it can be (inline mode), else its message is copied there when it is sent.
   *
   * @param bytes 0 to {@value #COALESCE_BYTES_MAX}; below 0: every message has a frame of its own.
   *     At first {@value #COALESCE_BYTES}; a frame always holds two of that
   */
  public void coalesceUpTo(int bytes) {
    checkUse();
    if (bytes > COALESCE_BYTES_MAX) {
      throw new IllegalArgumentException(
          "messages of up to " + bytes + " bytes to coalesce: the limit is " + COALESCE_BYTES_MAX);
    }
    limitCoalescing(bytes);
    usual.mayShare();
    openFrame.close();
  }

  /** What is copied must be a small part of a frame. */
  private int coalesceBytesMax() {
    return Math.max(0, core.config.maxPayloadBytes() / 4);
  }

  /**
   * {@link #claim(int, int, int)} for one fragment of a longer message (PROTOCOL.md section 7).
   * Fragments are sent from offset 0 to the message's end with no fragment of another message to
   * that endpoint in between, though whole ones may go: {@link #send} refuses another fragment,
   * which is claimed still. What was begun has to be finished, unless the session ends before or
   * this endpoint is closed: then the message is lost, and the next one begins.
   *
   * @param messageBytes of the whole message, 0 to 2^32 - 1
   * @param offsetBytes where the fragment belongs in it
   * @param partBytes of the fragment, 0 to {@link #maxFragmentBytes()}
   * @return null when out of credit or buffers
   * @throws IllegalArgumentException a value is out of range, or the part outside the message
   * @throws IllegalStateException within a {@link #sendLarge} to that endpoint; or as {@link
   *     #claim(int, int, int)}
   */
  public SendBuffer claimFragment(
      int dst, int dstEndpoint, long messageBytes, long offsetBytes, int partBytes) {
    checkUse();
    int partMost = maxFragmentBytes();
    if (messageBytes < 0
        || messageBytes > 0xFFFF_FFFFL
        || partBytes < 0
        || partBytes > partMost
        || offsetBytes < 0
        || offsetBytes > messageBytes - partBytes) {
      throw new IllegalArgumentException(
          "part of %d bytes at %d of a message of %d: parts are 0..%d bytes within 0..4294967295"
              .formatted(partBytes, offsetBytes, messageBytes, partMost));
    }
    Lane lane = lane(dst, dstEndpoint);
    lane.fragments().refuseWithinLarge(messageBytes);
    SendBuffer buffer = take(lane, partBytes, FrameHeader.FLAG_FRAGMENT);
    if (buffer != null) {
      buffer.fragmentHeader(messageBytes, offsetBytes);
    }
    return buffer;
  }

  /** What of a longer message one frame carries: 8 less than a frame's payload. Any thread. */
  public int maxFragmentBytes() {
    return core.config.maxPayloadBytes() - SendBuffer.FRAGMENT_HEADER_BYTES;
  }

  private SendBuffer take(Lane lane, int lengthBytes, int flags) {
    // What it has of the lane's credit may be the last.
    openFrame.closeFor(lane);
    if (claimed >= claimLimit) {
      return refuse();
    }
    if (!lane.takeCredit()) {
      if (!lane.isAsked()) {
        ask(lane);
      }
      return refuse();
    }
    if (lengthBytes <= coalesceUpTo && flags == 0 && inline) {
      int at = placeBehindOthers(lane, lengthBytes);
      if (at >= 0) {
        SendBuffer buffer = takeIdle();
        long payload = pool.frameAt(lane.guestId) + FrameHeader.BYTES;
        buffer.bindInPlace(lane, lane.guestId, lengthBytes, lane.epoch(), payload + at);
        return buffer;
      }
    }
    int id = takeBuffer();
    if (id == 0) {
      lane.giveCreditBack(lane.epoch());
      return refuse();
    }
    SendBuffer buffer = takeIdle();
    buffer.bind(lane, id, lengthBytes, flags, pool.frameAt(id));
    return buffer;
  }

  private SendBuffer takeIdle() {
    claimed++;
    SendBuffer buffer = usual;
    if (!buffer.isClaimed()) {
      return buffer;
    }
    return idleCount > 0 ? idle[--idleCount] : another();
  }

  private SendBuffer another() {
    if (severalCount == several.length) {
      several = Arrays.copyOf(several, severalCount * 2);
    }
    SendBuffer buffer = new SendBuffer(this, frames, false);
    several[severalCount++] = buffer;
    return buffer;
  }

  /** What is claimed is never sent: its credit is there for the next endpoint of this number. */
  private void giveBackCredit() {
    usual.giveBackCredit();
    for (int i = 0; i < severalCount; i++) {
      several[i].giveBackCredit();
    }
  }

  /** Whose claims are out: none of them is to be written any more, since their buffers go home. */
  void voidClaims() {
    usual.unbind();
    for (int i = 0; i < severalCount; i++) {
      several[i].unbind();
    }
  }

  /**
   * A place in the frame that waits, so that the message needs no buffer and is not copied.
   *
   * @return offset in the frame's payload, or -1
   */
  private int placeBehindOthers(Lane lane, int lengthBytes) {
    if (lane.openId == 0 || guestOut) {
      return -1;
    }
    if (spareId == 0) {
      spareId = pool.allocate(claimOwner);
      if (spareId == 0) {
        return -1;
      }
    }
    int at = node.invite(lane, lengthBytes);
    guestOut = at >= 0;
    return at;
  }

  /** The buffer that was kept for the claim in a frame; it needs none any more. Inline mode. */
  int reserveForGuest() {
    guestOut = false;
    int id = spareId;
    spareId = 0;
    return id;
  }

  /** The frame that a claim lay in is no more: the claim has the buffer for itself. Inline mode. */
  void guestIsAlone() {
    guestOut = false;
  }

  /** The endpoint closes with a claim in a frame that waits: the frame goes without it. */
  void dropGuest() {
    openFrame.close();
    if (guestOut) {
      guestOut = false;
      for (int i = 0; i < laneCount; i++) {
        lanes[i].guestId = 0;
      }
    }
  }

  private SendBuffer refuse() {
    claimsRefused++;
    return null;
  }

  /** Claims answered with null so far. Application thread. */
  public long claimsRefused() {
    return claimsRefused;
  }

  /**
   * Retained messages that were copied: they shared a frame, or the loan budget was used up.
   * Application thread.
   */
  public long loansCopied() {
    return loansCopied;
  }

  private int takeBuffer() {
    if (inline) {
      if (!sender.mayHoldMore()) {
        return 0;
      }
      int id = spareId;
      if (id == 0 || guestOut) {
        return pool.allocate(claimOwner);
      }
      spareId = 0;
      return id;
    }
    return supply.poll() ? Descriptor.bufferId(supply.hi()) : 0;
  }

  private void ask(Lane lane) {
    if (inline) {
      lane.asked();
      node.wantCredit(lane, lane.used);
    } else if (toNode.room() > placesPromised
        && toNode.offer(Descriptor.lo(OP_ASK, 0, lane.number, 0, 0), lane.used)) {
      lane.asked();
      node.ring();
    }
  }

  private Lane lane(int dst, int dstEndpoint) {
    if (dst < 0 || dst >= laneOfNode.length) {
      throw new IllegalArgumentException(
          "destination node " + dst + " is unknown: nodes are 0.." + (laneOfNode.length - 1));
    }
    Lane lane = laneOfNode[dst];
    if (lane != null && lane.dstEndpoint == dstEndpoint) {
      return lane;
    }
    return otherLane(dst, dstEndpoint);
  }

  private Lane otherLane(int dst, int dstEndpoint) {
    if (dstEndpoint < 1 || dstEndpoint > 65_534) {
      throw new IllegalArgumentException(
          "destination endpoint " + dstEndpoint + " is out of range 1..65534");
    }
    for (Lane known = laneOfNode[dst]; known != null; known = known.nextToNode) {
      if (known.dstEndpoint == dstEndpoint) {
        return known;
      }
    }
    if (laneCount == 0xFFFF) {
      throw new IllegalStateException("endpoint " + number + " has 65535 destinations already");
    }
    if (laneCount == lanes.length) {
      // The old array stays valid for a poll thread that reads it: lanes are only added.
      lanes = Arrays.copyOf(lanes, laneCount * 2);
    }
    Lane lane = new Lane(this, laneCount, dst, dstEndpoint);
    lanes[laneCount++] = lane;
    lane.nextToNode = laneOfNode[dst];
    laneOfNode[dst] = lane;
    return lane;
  }

  /**
   * The endpoint of this number was closed before: its lanes go on, because credit limits and
   * tickets count over the life of a session. Poll thread, before the program has this endpoint.
   */
  void adopt(PmEndpoint before) {
    Lane[] adopted = before.lanes;
    laneCount = before.laneCount;
    for (int i = 0; i < laneCount; i++) {
      Lane lane = adopted[i];
      lane.endpoint = this;
      lane.beginAnew();
      lane.nextToNode = laneOfNode[lane.dst];
      laneOfNode[lane.dst] = lane;
    }
    lanes = adopted;
  }

  /** Loans of the one before are out still. Poll thread, before the program has this endpoint. */
  void lendOn(PmEndpoint before) {
    loans = before.loans;
    loanHandles = before.loanHandles;
  }

  /** Closed, and none of its loans is out: they, and the room for copies, go. Poll thread. */
  void lendNoMore() {
    loans = null;
    loanHandles = null;
  }

  /** Poll thread, before the program has this endpoint. */
  void lendUpTo(int loanBuffers) {
    int copies = core.config.loanBuffers() / 4;
    loans = new LoanBudget(pool, Owner.of(Owner.LOAN, number), loanBuffers, copies);
    loanHandles = new Loan[loanBuffers + copies];
  }

  /** Closed: it waits for no credit, and for no session, any more. Poll thread. */
  void forgetWishes() {
    for (int i = 0; i < laneCount; i++) {
      lanes[i].creditWanted = false;
    }
  }

  /** Poll thread: after it took a descriptor that names the lane. */
  Lane laneOf(int laneNumber) {
    return lanes[laneNumber];
  }

  /**
   * Sends a claimed buffer: its place in the order is fixed now.
   *
   * @return the ticket, one more than that of the message before to the same endpoint: {@link
   *     #fate} tells by it whether the message is on its way, stored by its destination's node, or
   *     went down with its session. {@link #acknowledged} alone does not pass one that went down
   * @throws IllegalStateException the buffer was sent or aborted before, or it is another thread's
   *     turn
   * @throws IllegalArgumentException the buffer is another endpoint's
   */
  public long send(SendBuffer buffer) {
    checkUse();
    if (buffer == usual) {
      if (buffer.isUsual()) {
        buffer.unbindUsual();
        return sendAlone(buffer);
      }
      if (openFrame.isClaimed()) {
        claimed--;
        guestOut = false;
        buffer.unbind();
        return openFrame.enter(buffer.lengthBytes()).nextTicket();
      }
    }
    return sendClaimed(buffer);
  }

  /** {@link #send} of what is not the usual claim, or was found to be none. */
  private long sendClaimed(SendBuffer buffer) {
    Lane lane = buffer.takeForSend(this);
    if (buffer.lengthBytes() > aloneAbove && buffer.isAlone()) {
      putIdle(buffer);
      return sendAlone(buffer);
    }
    if (buffer.isInPlace() && joinInPlace(lane, buffer)) {
      claimed--;
      putIdle(buffer);
      return lane.nextTicket();
    }
    return sendOther(lane, buffer);
  }

  /**
   * One whole message in a frame of its own. What can be looked at is looked at before anything is
   * done: see {@link Sender#sendUsual}. Inline mode.
   */
  private long sendAlone(SendBuffer buffer) {
    claimed--;
    if (!sender.sendUsual(buffer, claimedSolely)) {
      acceptAlone(buffer);
    }
    return buffer.lane().nextTicket();
  }

  private void acceptAlone(SendBuffer buffer) {
    int id = buffer.bufferId();
    int length = buffer.lengthBytes();
    boolean taken = node.accept(this, buffer.lane(), id, length, 0, buffer.claimEpoch());
    assert taken : "a frame of its own joined another";
  }

  /** What does not lie alone in its frame, or may be joined there by others. */
  private long sendOther(Lane lane, SendBuffer buffer) {
    int id = buffer.bufferId();
    int length = buffer.lengthBytes();
    int flags = buffer.flags();
    if (flags != 0) {
      enterFragment(lane, buffer);
      length += SendBuffer.FRAGMENT_HEADER_BYTES;
    } else if (length <= coalesceUpTo) {
      flags = FrameHeader.FLAG_COALESCED;
    }
    claimed--;
    if (buffer.isInPlace()) {
      id = moveOut(lane, buffer);
    }
    if (inline) {
      if (!node.accept(this, lane, id, length, flags, buffer.claimEpoch())) {
        keepSpare(id);
      }
    } else {
      boolean taken =
          toNode.offer(
              Descriptor.lo(OP_SEND, flags, lane.number, buffer.claimEpoch(), FrameHeader.BYTES),
              Descriptor.hi(id, lane.dst, length));
      assert taken : "send ring full: it holds every claim";
      node.ring();
    }
    putIdle(buffer);
    return lane.nextTicket();
  }

  private static void enterFragment(Lane lane, SendBuffer buffer) {
    if (buffer.claimEpoch() != lane.epoch()) {
      // Its session ended: it never leaves.
      return;
    }
    FragmentOrder order = lane.fragments();
    long of = buffer.fragmentedBytes();
    long at = buffer.fragmentOffset();
    order.check(buffer.claimEpoch(), of, at);
    order.sent(buffer.claimEpoch(), of, at, buffer.lengthBytes());
  }

  /**
   * The message of a claim in a frame that waits becomes one of the frame's.
   *
   * @return false when it can no longer join it
   */
  private boolean joinInPlace(Lane lane, SendBuffer buffer) {
    int id = buffer.bufferId();
    if (lane.guestId != id || lane.openId != id) {
      return false;
    }
    node.open(openFrame, lane, coalesceUpTo, buffer.claimEpoch());
    guestOut = false;
    openFrame.enter(buffer.lengthBytes());
    return true;
  }

  /**
   * A message was written in a frame that it can no longer join: another message went first, or the
   * frame went without it. It moves to where the payload of a frame of its own begins.
   *
   * @return the buffer of that frame
   */
  private int moveOut(Lane lane, SendBuffer buffer) {
    int id = buffer.bufferId();
    int own = id;
    if (lane.guestId == id) {
      lane.guestId = 0;
      own = reserveForGuest();
    }
    MemorySegment.copy(
        frames, buffer.offset(), frames, frameAt(own) + FrameHeader.BYTES, buffer.lengthBytes());
    return own;
  }

  /** A message was copied out of its buffer: the next claim can have that. Inline mode. */
  private void keepSpare(int id) {
    if (spareId == 0) {
      spareId = id;
    } else {
      pool.release(id, claimOwner);
    }
  }

  void abort(SendBuffer buffer) {
    checkUse();
    Lane lane = buffer.takeForSend(this);
    lane.giveCreditBack(buffer.claimEpoch());
    claimed--;
    if (buffer.isInPlace() && lane.guestId == buffer.bufferId()) {
      openFrame.closeFor(lane);
      lane.guestId = 0;
      guestOut = false;
    } else if (inline) {
      pool.release(buffer.bufferId(), claimOwner);
    } else {
      toNode.offer(Descriptor.lo(OP_ABORT, 0, 0, 0, 0), Descriptor.hi(buffer.bufferId(), 0, 0));
      node.ring();
    }
    putIdle(buffer);
  }

  /** The buffer was sent or aborted. */
  private void putIdle(SendBuffer buffer) {
    buffer.unbind();
    if (!buffer.isOneOfSeveral()) {
      return;
    }
    if (idleCount == idle.length) {
      idle = Arrays.copyOf(idle, idleCount * 2);
    }
    idle[idleCount++] = buffer;
  }

  /** {@link #acknowledged(int, int)} of the endpoint of the same number. */
  public long acknowledged(int dst) {
    return acknowledged(dst, number);
  }

  /**
   * The ticket up to which all that was sent to an endpoint is settled: stored by its node, or,
   * where a session ended, of unknown fate ({@link #fate}). It stays before messages that went down
   * with their session until a later one is stored; so as long as no session ended, all up to here
   * are stored.
   *
   * @return 0 before the first
   * @throws IllegalArgumentException there is no such node or endpoint
   */
  public long acknowledged(int dst, int dstEndpoint) {
    checkUse();
    return lane(dst, dstEndpoint).acknowledged();
  }

  /** {@link #fate(int, int, long)} of a message to the endpoint of the same number. */
  public Fate fate(int dst, long ticket) {
    return fate(dst, number, ticket);
  }

  /**
   * What is known of a message that was sent. When {@link MessageHandler#onPeerDown} is called, all
   * that was sent in that session is {@link Fate#STORED} or {@link Fate#UNKNOWN}, and stays so,
   * whatever is sent meanwhile in the next one. A message that is sent by a claim of before is
   * {@link Fate#UNKNOWN} in the end.
   *
   * @param ticket that {@link #send} returned for a message to that endpoint. Of messages of ended
   *     sessions that were sent before the last {@value LostTickets#RANGES_MAX} runs of lost ones,
   *     also stored ones may be {@link Fate#UNKNOWN}
   * @throws IllegalArgumentException no such ticket was returned
   */
  public Fate fate(int dst, int dstEndpoint, long ticket) {
    checkUse();
    Lane lane = lane(dst, dstEndpoint);
    if (ticket < 1 || ticket > lane.sent) {
      throw new IllegalArgumentException(
          "ticket %d to endpoint %d of node %d: %s"
              .formatted(
                  ticket,
                  dstEndpoint,
                  dst,
                  lane.sent == 0 ? "nothing was sent there" : "sent were 1.." + lane.sent));
    }
    return lane.fate(ticket);
  }

  /**
   * Sends a message of any length up to 2^32 - 1 bytes as fragments, blocking as long as credit or
   * buffers lack. It does not poll: a program that must receive meanwhile passes an idle strategy
   * that does, and one that has more to do than wait sends its parts by {@link #claimFragment}. A
   * handler that is called meanwhile keeps another long message to the same endpoint until it has
   * returned. When the idle strategy throws, the message is under way still: {@link #claimFragment}
   * goes on with it.
   *
   * @param source where the message lies; it may be changed as soon as this returns
   * @param idle called with 0 when nothing could be sent, with 1 after progress
   * @return the ticket of the last fragment
   * @throws PeerDownException the session ended in the middle of the message, or the peer was found
   *     unreachable while the message waited
   * @throws IllegalStateException another long message to that endpoint is under way; or the
   *     endpoint or its node was closed meanwhile
   */
  public long sendLarge(
      int dst, int dstEndpoint, MemorySegment source, long from, long lengthBytes, Idle idle) {
    checkUse();
    if (lengthBytes < 0 || lengthBytes > 0xFFFF_FFFFL) {
      throw new IllegalArgumentException(
          "message of " + lengthBytes + " bytes: the limit is 4294967295");
    }
    java.util.Objects.checkFromIndexSize(from, lengthBytes, source.byteSize());
    Lane lane = lane(dst, dstEndpoint);
    FragmentOrder order = lane.fragments();
    order.beginLarge(lengthBytes);
    try {
      return sendFragments(lane, source, from, lengthBytes, idle);
    } finally {
      order.endLarge();
    }
  }

  private long sendFragments(
      Lane lane, MemorySegment source, long from, long lengthBytes, Idle idle) {
    int dst = lane.dst;
    int room = maxFragmentBytes();
    long done = 0;
    long ticket = 0;
    int epoch = 0;
    boolean epochKnown = false;
    do {
      // The idle strategy may have closed this endpoint, another thread its node.
      checkUse();
      int part = (int) Math.min(room, lengthBytes - done);
      SendBuffer buffer = take(lane, part, FrameHeader.FLAG_FRAGMENT);
      if (buffer == null) {
        if (epochKnown && lane.epoch() != epoch) {
          throw new PeerDownException(dst, done, lengthBytes);
        }
        epoch = lane.epoch();
        epochKnown = true;
        idle.idle(0);
        continue;
      }
      if (done > 0 && buffer.claimEpoch() != epoch) {
        abort(buffer);
        throw new PeerDownException(dst, done, lengthBytes);
      }
      epoch = buffer.claimEpoch();
      epochKnown = true;
      buffer.fragmentHeader(lengthBytes, done);
      ticket = sendOrAbort(buffer, source, from + done);
      done += part;
      idle.idle(1);
    } while (done < lengthBytes || ticket == 0);
    return ticket;
  }

  /**
   * The first fragment is refused where another message is under way; and the source may be another
   * thread's memory, or have been closed meanwhile.
   */
  private long sendOrAbort(SendBuffer fragment, MemorySegment source, long from) {
    try {
      MemorySegment.copy(source, from, frames, fragment.offset(), fragment.lengthBytes());
      return send(fragment);
    } catch (RuntimeException e) {
      abort(fragment);
      throw e;
    }
  }

  // --- receiving ----------------------------------------------------------------------------

  /**
   * Hands what has arrived to a handler, in order per source.
   *
   * <p>Buffer and credit of a message go back once its handler has returned: after a few more have,
   * before this returns, and before a duty cycle that a handler runs. A handler that throws has had
   * its message, though it deferred it; what it threw is thrown here, and what follows is handed
   * over by the next poll.
   *
   * @param limit messages and events at most
   * @return messages and events handed over
   * @throws IllegalStateException within a handler of this endpoint, on another thread than the
   *     endpoint's, or when it is closed
   */
  public int poll(MessageHandler handler, int limit) {
    checkUse();
    if (polling) {
      throw new IllegalStateException("poll within a handler of endpoint " + number);
    }
    int n = inbox.size();
    return n > 0 ? handOverSome(handler, n, limit) : 0;
  }

  /**
   * What {@link #poll} does when something waits. As {@code Receiver.receiveOne}: most polls find
   * nothing.
   */
  private int handOverSome(MessageHandler handler, int n, int limit) {
    return inline && n == 1 && limit > 0 && isWholeMessage(inbox.peekLo(0))
        ? handOverOnly(handler)
        : handOverAll(handler, n, limit);
  }

  /** {@link #poll} of {@code n} descriptors, whatever they are. */
  private int handOverAll(MessageHandler handler, int n, int limit) {
    begin();
    if (inline) {
      core.polls++;
    }
    try {
      return handOver(handler, n, limit);
    } finally {
      if (inline) {
        core.polls--;
      }
      settle();
      if (message.isBound()) {
        // A handler that throws has had its message.
        finishHead(true);
      }
      inbox.advance(polled);
      polling = false;
      if (!inline) {
        // Credit may be on its way back: nobody else wakes a poll thread that sleeps.
        node.ring();
      }
    }
  }

  private void begin() {
    polling = true;
    polled = 0;
    settled = 0;
    credited = 0;
  }

  /** Of {@code n} descriptors in the inbox; messages and events handed over. */
  private int handOver(MessageHandler handler, int n, int limit) {
    int handed = 0;
    while (polled < n && handed < limit) {
      int before = polled;
      if (inline && n - polled > 1) {
        handOverUsual(handler, Math.min(n - polled, limit - handed));
        settle();
        handed += polled - before;
      }
      if (message.isBound()) {
        handed += finishHead(!message.isDeferred());
      } else if (polled == before) {
        handed += handOverHead(handler, limit - handed);
      } else {
        continue;
      }
      if (!headFinished) {
        break;
      }
    }
    return handed;
  }

  /**
   * Hands over frames that are one whole message each, as long as their handlers just return.
   * Inline mode.
   *
   * <p>What follows of that, {@link #settle} does for all of them at once: behind a call to a
   * handler, which may change anything, every field has to be read again. They are so few that the
   * last handler's return is never far, and a duty cycle within a handler settles them too.
   *
   * <p>The message stays bound when its handler retained, deferred or looked through a view, or
   * threw: then its frame is not finished.
   */
  private void handOverUsual(MessageHandler handler, int most) {
    SpscDescriptorRing arrived = inbox;
    Message m = message;
    int i = polled;
    int to = i + Math.min(Math.min(most, SETTLE_AT), arrived.untilEnd(i));
    long next = arrived.slot(i);
    while (i < to) {
      long slot = Memory.known(next);
      long lo = SpscDescriptorRing.lo(slot);
      if (!isWholeMessage(lo)) {
        break;
      }
      m.bind(lo, SpscDescriptorRing.hi(slot));
      handler.onMessage(m);
      if (!m.isSimplyDone()) {
        return;
      }
      next = SpscDescriptorRing.behind(slot, 1);
      i++;
      polled = i;
    }
    m.unbind();
  }

  /**
   * {@link #handOverUsual} of the only message, and what follows of it; 1, or 0 if deferred. A duty
   * cycle within the handler has nothing to settle.
   */
  private int handOverOnly(MessageHandler handler) {
    Message m = message;
    long lo = inbox.peekLo(0);
    long hi = inbox.peekHi(0);
    polling = true;
    m.bind(lo, hi);
    try {
      handler.onMessage(m);
    } catch (Throwable e) {
      // It has had its message.
      finishOnly(true);
      throw e;
    }
    if (!m.isSimplyDone()) {
      return finishOnly(!m.isDeferred());
    }
    m.unbind();
    polling = false;
    inbox.advance(1);
    pool.release(Descriptor.bufferId(hi), inboxOwner);
    node.consumed(this, lo, hi);
    return 1;
  }

  private int finishOnly(boolean finished) {
    begin();
    try {
      int handed = finishHead(finished);
      inbox.advance(handed);
      return handed;
    } finally {
      polling = false;
    }
  }

  /**
   * Gives back slots, buffers and credit of the frames whose handlers have returned. Inline mode;
   * may be called within a handler.
   *
   * <p>The slots are free before anybody can use the credit: only this thread delivers.
   */
  void settle() {
    if (credited != polled) {
      settleRest();
    }
  }

  private void settleRest() {
    while (settled < polled) {
      int count = Math.min(polled - settled, inbox.untilEnd(settled));
      settled += pool.release(inbox.slot(settled), count, inboxOwner);
    }
    while (credited < polled) {
      returnCredit(Math.min(polled - credited, inbox.untilEnd(credited)));
    }
    inbox.free(polled);
  }

  /** Credit of frames side by side. */
  private void returnCredit(int count) {
    int n = consumeUsual(inbox.slot(credited), count);
    credited += n;
    if (n < count) {
      long lo = inbox.peekLo(credited);
      long hi = inbox.peekHi(credited);
      credited++;
      if (core.inLanes[Descriptor.tag(lo)] == null) {
        node.consumed(this, lo, hi);
      } else {
        node.creditReturned(this, lo, hi);
      }
    }
  }

  /**
   * A loop without a call (see {@link Receiver#passUsual}): for what has to be done at times it is
   * left.
   *
   * @return the first frame of which there is something to do: more than return its credit, unless
   *     its lane is not known; {@code count}: none
   */
  private int consumeUsual(long slot, int count) {
    InLane[] lanes = core.inLanes;
    long slots = Memory.known(slot);
    int i = 0;
    while (i < count) {
      long lo = SpscDescriptorRing.lo(SpscDescriptorRing.behind(slots, i));
      InLane lane = lanes[Descriptor.tag(lo)];
      if (lane == null || lane.consume()) {
        break;
      }
      i++;
    }
    return i;
  }

  private static boolean isWholeMessage(long lo) {
    return (lo & NOT_WHOLE) == WHOLE;
  }

  /** The frame at the head, whatever it is; messages and events handed over. */
  private int handOverHead(MessageHandler handler, int limit) {
    long lo = inbox.peekLo(polled);
    long hi = inbox.peekHi(polled);
    if (Descriptor.op(lo) == OP_PEER_DOWN) {
      polled++;
      settled = polled;
      credited = polled;
      headFinished = true;
      inbox.free(polled);
      downsPolled++; // behind its place: another end may have that
      handler.onPeerDown(Descriptor.node(hi), (int) lo);
      return 1;
    }
    int flags = Descriptor.flags(lo);
    if ((flags & FrameHeader.FLAG_COALESCED) != 0) {
      return handOverParts(handler, lo, hi, limit);
    }
    if ((flags & FrameHeader.FLAG_FRAGMENT) != 0) {
      message.bindFragment(lo, hi);
    } else {
      message.bind(lo, hi);
    }
    handler.onMessage(message);
    return finishHead(!message.isDeferred());
  }

  /**
   * The handler of the frame at the head returned or threw.
   *
   * @param finished it has had all of the frame
   * @return 1 when it has, else 0
   */
  private int finishHead(boolean finished) {
    headFinished = finished;
    if (finished) {
      long lo = inbox.peekLo(polled);
      long hi = inbox.peekHi(polled);
      polled++;
      settled = polled;
      credited = polled;
      // The slot first: credit for which there is no slot would let a message in that has no place.
      inbox.free(polled);
      consumed(lo, hi);
    }
    message.unbind();
    return finished ? 1 : 0;
  }

  /** A frame of several messages, from where the last poll stopped; messages handed over. */
  private int handOverParts(MessageHandler handler, long lo, long hi, int limit) {
    int id = Descriptor.bufferId(hi);
    long at = pool.frameAt(id) + FrameHeader.BYTES;
    long address = pool.addressOf(id) + FrameHeader.BYTES;
    int bytes = Descriptor.length(hi);
    int messages = CoalescedPayload.messages(Memory.ALL, address, bytes);
    Message m = message;
    int handed = 0;
    try {
      while (partNext < messages && handed < limit) {
        int part = partNext;
        int offset = partAt;
        int length = CoalescedPayload.length(Memory.ALL, address, bytes, part);
        m.bindPart(lo, hi, at + offset, length);
        // A handler that throws has had its message.
        partNext = part + 1;
        partAt = offset + CoalescedPayload.paddedBytes(length);
        handler.onMessage(m);
        if (m.isDeferred()) {
          partNext = part;
          partAt = offset;
          break;
        }
        handed++;
      }
    } finally {
      boolean finished = partNext == messages;
      if (finished) {
        partNext = 0;
        partAt = 0;
      }
      finishHead(finished);
    }
    return handed;
  }

  private void consumed(long lo, long hi) {
    int id = Descriptor.bufferId(hi);
    boolean retained = message.isRetained();
    if (inline) {
      if (!retained) {
        pool.release(id, inboxOwner);
      }
      node.consumed(this, lo, hi);
    } else {
      int flags = retained ? FLAG_RETAINED : 0;
      boolean taken =
          toNode.offer(
              Descriptor.lo(OP_CONSUMED, flags, Descriptor.tag(lo), Descriptor.endpoint(lo), 0),
              Descriptor.hi(id, Descriptor.node(hi), 0));
      assert taken : "return ring full: it holds every credit";
    }
  }

  /** A loan for the message that is being handled; null when both budgets are used up. */
  Loan lend(Message m) {
    if (inline) {
      core.endpointsAsk = true;
    }
    // The buffer of a frame that others share goes home with the last of them.
    int loan = m.isCoalesced() ? -1 : loans.take(m.bufferId(), inboxOwner);
    MemorySegment memory = frames;
    long offset = m.offset();
    boolean copied = false;
    if (loan < 0) {
      loan = loans.takeCopy(offset, m.lengthBytes());
      if (loan < 0) {
        return null;
      }
      memory = loans.copyArea();
      offset = loans.copyOffset(loan);
      copied = true;
      loansCopied++;
    }
    Loan handle = loanHandles[loan];
    if (handle == null) {
      handle = new Loan(loans, loan);
      loanHandles[loan] = handle;
    }
    handle.bind(m, memory, offset, copied);
    return handle;
  }

  long frameAt(int id) {
    return pool.frameAt(id);
  }

  // --- the poll thread ----------------------------------------------------------------------

  /**
   * @param tag of the lane
   */
  void deliver(int source, int sourceEndpoint, int tag, int id, int flags, int lengthBytes) {
    deliver(
        Descriptor.lo(OP_MESSAGE, flags, tag, sourceEndpoint, FrameHeader.BYTES),
        Descriptor.hi(id, source, lengthBytes));
  }

  /** The same of a descriptor. */
  void deliver(long lo, long hi) {
    boolean taken = inbox.offer(lo, hi);
    assert taken : "inbox full: credit is bounded by its capacity";
  }

  void deliverPeerDown(int peer, int session) {
    if (!downsWaiting.isEmpty() || !offerPeerDown(peer, session)) {
      // A peer that flaps while nobody polls is told of once.
      downsWaiting.removeIf(event -> event >>> 32 == peer);
      downsWaiting.add((long) peer << 32 | session & 0xFFFF_FFFFL);
      core.endpointsAsk = true;
    }
  }

  /**
   * An end of a session with this peer is not in the inbox yet: others fill its places for ends.
   */
  boolean owesPeerDown(int peer) {
    boolean owes = false;
    if (!downsWaiting.isEmpty()) {
      for (long event : downsWaiting) {
        owes |= event >>> 32 == peer;
      }
    }
    return owes;
  }

  /** Events that found the inbox full, because a peer flaps or nobody polls. */
  void retryPeerDowns() {
    while (!downsWaiting.isEmpty()) {
      long event = downsWaiting.peek();
      if (!offerPeerDown((int) (event >>> 32), (int) event)) {
        return;
      }
      downsWaiting.remove();
    }
  }

  private boolean offerPeerDown(int peer, int session) {
    // The places that credit has promised to messages are theirs, whether they came or not.
    boolean offered =
        downsOffered - downsPolled < inbox.capacity() - core.config.creditBuffers()
            && inbox.offer(
                Descriptor.lo(OP_PEER_DOWN, 0, 0, session >>> 16, session),
                Descriptor.hi(0, peer, 0));
    if (offered) {
      downsOffered++;
    }
    return offered;
  }

  // --- life ---------------------------------------------------------------------------------

  /** The next thread that uses this endpoint becomes its owner. Call from the present owner. */
  public void handOver() {
    checkUse();
    if (polling) {
      throw new IllegalStateException("handOver within a handler of endpoint " + number);
    }
    user = null;
  }

  private void checkUse() {
    Thread current = Thread.currentThread();
    if (user != current) {
      bindOrRefuse(current);
    }
  }

  private void bindOrRefuse(Thread current) {
    refuseWhenClosed();
    Thread other = user;
    if (other != null) {
      throw new IllegalStateException(
          "endpoint "
              + number
              + " belongs to thread "
              + other.getName()
              + ", not to "
              + current.getName()
              + "; see handOver()");
    }
    user = current;
    // The node may have closed in between, without seeing this user.
    refuseWhenClosed();
  }

  private void refuseWhenClosed() {
    if (closed || node.isClosed()) {
      user = null;
      throw new IllegalStateException(
          (closed ? "endpoint " + number : "node " + core.self) + " is closed");
    }
  }

  /** The node was closed: the next call is refused. Any thread. */
  void nodeClosed() {
    user = null;
  }

  private IllegalArgumentException badLength(int lengthBytes) {
    return new IllegalArgumentException(
        "message of "
            + lengthBytes
            + " bytes: one frame carries 0.."
            + core.config.maxPayloadBytes()
            + "; see sendLarge");
  }

  /**
   * Closes the endpoint: what waits in its inbox is released, its claims come home. Until its
   * number is opened again, what others send to it is dropped; to them it counts as stored.
   *
   * @throws IllegalStateException called within a handler, by another thread than its owner, or the
   *     poll thread has ended without closing the node
   */
  @Override
  public void close() {
    if (closed || node.isClosed()) {
      closed = true;
      return;
    }
    checkUse();
    if (polling) {
      throw new IllegalStateException("close within a handler of endpoint " + number);
    }
    closed = true;
    user = null;
    giveBackCredit();
    voidClaims();
    node.closeEndpoint(this);
  }

  boolean isPolling() {
    return polling;
  }

  /** Whether the next duty cycle has to look after it, in inline mode. */
  boolean isAsking() {
    return !downsWaiting.isEmpty() || loans.outstanding() > 0;
  }
}
