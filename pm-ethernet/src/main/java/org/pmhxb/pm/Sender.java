package org.pmhxb.pm;

import java.util.Arrays;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.Memory;
import org.pmhxb.pm.flow.FrameRun;
import org.pmhxb.pm.flow.PendingFrames;
import org.pmhxb.pm.flow.SendWindow;
import org.pmhxb.pm.flow.Serial;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.wire.CoalescedPayload;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * Data frames on their way out: sequence, header, hold, acknowledgement, resend (PROTOCOL.md
 * sections 5.3, 5.4 and 5.6). Which path a frame takes, and when it is lost, {@link Paths} says.
 * Owner: the poll thread.
 */
final class Sender {
  /** Bytes of new frames that follow one another on a path before the choice is made again. */
  private static final int STRIPE_BYTES = 8_192;

  /** A program that lets so much time pass between send and its next round was elsewhere. */
  static final long RESTAMP_NS = 20_000L;

  private final NodeCore core;
  private final Paths paths;
  private final BufferPool pool;
  private final long framesAddress;
  private final PendingFrames pending;
  private final Sealer sealer;
  private final int tagBytes;

  /** Payload bytes that a frame has room for. */
  private final int roomBytes;

  /** Peers with frames that wait for their number. */
  private Peer[] pendingPeers = new Peer[8];

  private int pendingPeerCount;

  /** New frames that wait to be sealed and counted. */
  private int unsealed;

  /** Frames of all peers that wait for their number, or are sent and not acknowledged. */
  private int held;

  private final int heldMost;

  /** Frames that are being settled. */
  private final FrameRun run = new FrameRun();

  Sender(NodeCore core, Paths paths) {
    this.core = core;
    this.paths = paths;
    this.pool = core.pool;
    this.framesAddress = core.framesAddress;
    this.pending = core.pending;
    this.sealer = new Sealer(core);
    this.tagBytes = core.tagBytes;
    this.roomBytes = core.config.maxPayloadBytes();
    this.heldMost = core.config.heldFrames();
  }

  /**
   * Whether endpoints may have buffers for more frames. Peers grant what their own pools have,
   * which all together is more than this one has; and with no buffer left here not even the
   * acknowledgements that free some would find one.
   */
  boolean mayHoldMore() {
    return held < heldMost;
  }

  /** Frames that are held for all peers. */
  int held() {
    return held;
  }

  // --- new frames ---------------------------------------------------------------------------

  /**
   * Copies a small message into the frame of its lane that waits for its number (PROTOCOL.md
   * section 7.1). Messages never wait for company: nothing waits but what found no path, or was
   * sent in this very round.
   *
   * @return false when no frame waits, or it is full, or a claim is being written in it: {@link
   *     #accept} is next
   */
  boolean join(Lane lane, int id, int messageBytes) {
    int open = lane.openId;
    if (open == 0 || open == lane.guestId) {
      return false;
    }
    lane.endpoint.openFrame.closeFor(lane);
    if (!hasRoom(open, messageBytes)) {
      return false;
    }
    int messages = pending.messages(open);
    int used = beginNext(open, messages);
    long from = framesAddress + pool.frameAt(id) + FrameHeader.BYTES;
    CoalescedPayload.append(
        Memory.ALL, payloadAddress(open), roomBytes, messages, used, from, messageBytes);
    pending.grown(open, used + CoalescedPayload.paddedBytes(messageBytes), messages + 1);
    return true;
  }

  /**
   * Lets a claim be written where {@link #join} would copy it to. Until it is sent, aborted or left
   * behind, no other message joins the frame. Inline mode.
   *
   * @return offset of the message in its frame's payload, or -1: the claim needs its own buffer
   */
  int invite(Lane lane, int messageBytes) {
    int open = lane.openId;
    if (open == 0 || !hasRoom(open, messageBytes)) {
      return -1;
    }
    lane.guestId = open;
    return CoalescedPayload.paddedBytes(pending.payloadBytes(open));
  }

  /**
   * The claim in a frame that waits was sent: others may follow it there.
   *
   * @param longestBytes of the messages that may
   * @param claimEpoch when the claim took its credit
   */
  void open(OpenFrame frame, Lane lane, int longestBytes, int claimEpoch) {
    int id = lane.openId;
    int messages = pending.messages(id);
    int used = beginNext(id, messages);
    frame.open(lane, id, payloadAddress(id), used, messages, longestBytes, claimEpoch);
  }

  private boolean hasRoom(int open, int messageBytes) {
    int used = CoalescedPayload.paddedBytes(pending.payloadBytes(open));
    return CoalescedPayload.fits(used, pending.messages(open), messageBytes, roomBytes);
  }

  /**
   * @return where the next message begins in the payload
   */
  private int beginNext(int open, int messages) {
    int payloadBytes = pending.payloadBytes(open);
    if (messages == 1) {
      CoalescedPayload.begin(Memory.ALL, payloadAddress(open), roomBytes, payloadBytes);
    }
    return CoalescedPayload.paddedBytes(payloadBytes);
  }

  private long payloadAddress(int id) {
    return framesAddress + pool.frameAt(id) + FrameHeader.BYTES;
  }

  /**
   * A frame has to go while a claim is being written in it: its messages move to another buffer,
   * for the program knows where it writes. The claim has the old one for itself.
   *
   * @return the frame's buffer from now on
   */
  private int leaveGuest(Peer peer, Lane lane, int id, int messages, int payloadBytes) {
    int other = lane.endpoint.reserveForGuest();
    CoalescedPayload.copyGrowing(
        Memory.ALL, payloadAddress(id), payloadAddress(other), roomBytes, messages, payloadBytes);
    pool.transfer(other, lane.endpoint.claimOwner, peer.windowOwner());
    pool.transfer(id, peer.windowOwner(), lane.endpoint.claimOwner);
    lane.guestId = 0;
    return other;
  }

  /**
   * Accepts a claimed frame from an endpoint: order is fixed now. It gets number and header at once
   * if it may go; else, and when small messages may join it, in {@link #pumpPending}. The buffer is
   * the node's.
   *
   * @param flags of the frame; COALESCED means that small messages may join it while it waits
   */
  void accept(Peer peer, Lane lane, int id, int payloadBytes, int flags) {
    held++;
    if ((flags & FrameHeader.FLAG_COALESCED) == 0
        && peer.pendingHead == 0
        && mayGo(peer, lane, payloadBytes)) {
      transmit(peer, lane, id, 1, payloadBytes, flags);
    } else {
      await(peer, lane, id, payloadBytes, flags);
    }
  }

  /**
   * {@link #accept} of a short whole message that nothing keeps from going on the way of the peer's
   * last frame, behind others of it that are on the way. Inline mode.
   *
   * <p>All questions come first and all changes after them: a check between two changes would make
   * the compiler keep everything that the interpreter would want to know, were it to fail, in more
   * registers than there are. Between the two it forgets what it read ({@link Memory#readAnew}).
   *
   * <p>The first frame of a choice of path is {@link #accept}'s, too: behind a call in the middle,
   * what follows had to be put away before it, with each frame.
   *
   * <p>It reads the claim itself, for it is seldom compiled into its caller, and then what it is
   * handed costs more to be passed than to be read.
   *
   * @param claim alone in its frame, whose buffer the endpoint has still
   * @param claimed {@link BufferPool#solely} of the endpoint's claims
   * @return false when it has to take {@link #accept}: nothing of it was done, but that the channel
   *     back may count as told what that says then
   */
  boolean sendUsual(SendBuffer claim, long claimed) {
    Lane lane = claim.lane();
    SendWindow window = lane.window;
    int payloadBytes = claim.lengthBytes();
    if (window == null || payloadBytes > Sealer.SHORT_BYTES) {
      return false;
    }
    Peer peer = lane.peer;
    assert window == peer.window : "a lane has the window of another session";
    LocalQueue queue = peer.queue;
    if (queue == null
        || (peer.mayGoNow() | window.notDue() | window.notFull() | queue.notFull()) < 0
        || queue.choiceStands(window.chosenNs(), core.nowNs) < 0
        || (claim.claimEpoch() ^ lane.grantEpoch() | window.turns(lane.id)) != 0
        || window.nothingOnWay()) {
      return false;
    }
    InLane back = lane.back;
    if (back == null && peer.lanes != null) {
      return false;
    }
    int credit = 0;
    int flags = 0;
    if (back != null && back.isOpen()) {
      credit = back.advertise();
      flags = FrameHeader.FLAG_CREDIT;
    }
    int id = claim.bufferId();
    if (!pool.passUsual(id, claimed, window.heldSolely())) {
      return false;
    }
    Memory.readAnew();
    held++;
    putUsual(claim, flags, credit);
    return true;
  }

  /** What {@link #sendUsual} changes. It reads all but what it is handed from the claim on. */
  private void putUsual(SendBuffer claim, int flags, int credit) {
    Lane lane = claim.lane();
    Peer peer = lane.peer;
    int ack = peer.acknowledgeAll();
    put(
        peer,
        lane.window,
        lane,
        claim.bufferId(),
        claim.frameAddress(),
        1,
        claim.lengthBytes(),
        flags,
        credit,
        ack,
        Burst.SEAL);
  }

  private void await(Peer peer, Lane lane, int id, int payloadBytes, int flags) {
    lane.endpoint.openFrame.closeFor(lane);
    if (peer.pendingHead == 0) {
      peer.pendingHead = id;
      pending.put(id, 0, lane.id, payloadBytes, flags);
      if (!peer.onPendingList) {
        enlist(peer);
      }
    } else {
      pending.put(id, peer.pendingTail, lane.id, payloadBytes, flags);
    }
    peer.pendingTail = id;
    peer.pendingCount++;
    lane.openId = (flags & FrameHeader.FLAG_COALESCED) != 0 ? id : 0;
    if (payloadBytes > Sealer.SHORT_BYTES && peer.state == PeerState.UP) {
      // Its payload is in the cache now.
      pump(peer);
    }
  }

  private void enlist(Peer peer) {
    peer.onPendingList = true;
    if (pendingPeerCount == pendingPeers.length) {
      pendingPeers = Arrays.copyOf(pendingPeers, pendingPeerCount * 2);
    }
    pendingPeers[pendingPeerCount++] = peer;
  }

  /** Sends what endpoints gave in this round, and what waits since earlier ones. */
  void pumpPending() {
    if (pendingPeerCount > 0) {
      pumpPeers();
    }
  }

  /**
   * Each round the next one is the first, for what is first may take all the room that a rail's
   * queue has.
   */
  private void pumpPeers() {
    int kept = 0;
    int n = pendingPeerCount;
    for (int i = 0; i < n; i++) {
      Peer peer = pendingPeers[i];
      if (peer.state == PeerState.UP) {
        pump(peer);
      }
      if (peer.pendingHead != 0) {
        pendingPeers[kept++] = peer;
      } else {
        peer.onPendingList = false;
      }
    }
    pendingPeerCount = kept;
    if (kept > 1) {
      Peer first = pendingPeers[0];
      System.arraycopy(pendingPeers, 1, pendingPeers, 0, kept - 1);
      pendingPeers[kept - 1] = first;
    }
  }

  /** Sends what waits: lost frames first, then new ones. */
  void pump(Peer peer) {
    if (!peer.window.nothingLost() && !resendLost(peer)) {
      return;
    }
    while (peer.pendingHead != 0) {
      int id = peer.pendingHead;
      Lane lane = core.lanes[pending.lane(id)];
      if (!mayGo(peer, lane, pending.payloadBytes(id))) {
        return;
      }
      sendFirst(peer, lane);
    }
  }

  /** Whether a new frame may go now, by {@link Peer#way}. */
  private boolean mayGo(Peer peer, Lane lane, int payloadBytes) {
    SendWindow window = peer.window;
    if (payloadBytes > Sealer.SHORT_BYTES && core.nowNs != window.chosenNs()) {
      // Its path is worth a choice of its own; one of this round is as good.
      window.endChoice();
    }
    return mayGoOn(peer, window) && window.continues(lane.id) || mayTurn(peer, lane);
  }

  /**
   * The choice of the path stands, and there is room for another frame. Where the link is the limit
   * it stands for this round alone, for other rails may have nothing in front.
   */
  private boolean mayGoOn(Peer peer, SendWindow window) {
    LocalQueue queue = peer.queue;
    return !window.isChoiceDue()
        && queue.choiceStands(window.chosenNs(), core.nowNs) >= 0
        && !window.isFull()
        && !queue.isFull();
  }

  /**
   * Alone chooses ways, so that while a choice stands the way is that of the window's last frame.
   */
  private boolean mayTurn(Peer peer, Lane lane) {
    SendWindow window = peer.window;
    if (!window.isChoiceDue() && window.isFull()) {
      window.grow();
    }
    boolean mayGo = mayGoOn(peer, window) || chooseWay(peer);
    if (mayGo && !window.continues(peer.way.held, lane.id)) {
      window.turn(peer.way.held, lane.id);
    }
    return mayGo;
  }

  /** The path of the next frames: a few, so that the choice costs little and is seldom old. */
  private boolean chooseWay(Peer peer) {
    SendWindow window = peer.window;
    window.endChoice();
    if (peer.state != PeerState.UP || !window.nothingLost() || window.isFull() && !window.grow()) {
      return false;
    }
    int path = paths.choose(peer, 0);
    if (path < 0) {
      return false;
    }
    PathState way = peer.paths[path];
    peer.goBy(way);
    window.choose((int) Math.min(STRIPE_BYTES, way.roomBytes), core.nowNs);
    return true;
  }

  /** Sends the first of the frames that wait; it may go. */
  private void sendFirst(Peer peer, Lane lane) {
    int id = peer.pendingHead;
    if (lane.openId == id) {
      lane.endpoint.openFrame.closeFor(lane);
    }
    peer.pendingHead = pending.next(id);
    peer.pendingCount--;
    int messages = pending.messages(id);
    int payloadBytes = pending.payloadBytes(id);
    int flags = pending.flags(id);
    if ((flags & FrameHeader.FLAG_COALESCED) != 0) {
      id = shut(peer, lane, id, messages, payloadBytes);
      if (messages > 1) {
        payloadBytes = finish(id, messages, payloadBytes);
      } else {
        // A frame that nothing has joined is an ordinary one.
        flags &= ~FrameHeader.FLAG_COALESCED;
      }
    }
    transmit(peer, lane, id, messages, payloadBytes, flags);
  }

  /**
   * Gives a frame its number and header, puts it on {@link Peer#way} and holds it. Nothing of it
   * but the hop part changes afterwards.
   */
  private void transmit(Peer peer, Lane lane, int id, int messages, int payloadBytes, int flags) {
    if (peer.window.nothingOnWay()) {
      paths.beginWait(peer, peer.way, FrameHeader.BYTES + payloadBytes + tagBytes);
    }
    InLane back = lane.back != null ? lane.back : channelBack(peer, lane);
    int credit = 0;
    int told = flags;
    if (back != null && back.isOpen()) {
      credit = back.advertise();
      told |= FrameHeader.FLAG_CREDIT;
    }
    boolean isShort = payloadBytes <= Sealer.SHORT_BYTES;
    long seal = isShort ? Burst.SEAL : 0;
    long at = pool.addressOf(id);
    int ack = peer.acknowledgeAll();
    put(peer, peer.window, lane, id, at, messages, payloadBytes, told, credit, ack, seal);
    if (peer.isMissingSome()) {
      tellBeyond(peer, at);
    }
    if (!isShort) {
      sealer.seal(id, payloadBytes);
      // The next one's path is worth a choice of its own.
      peer.window.endChoice();
    }
  }

  /** Enters into a new frame, before it is sealed, what arrived behind a gap. */
  private static void tellBeyond(Peer peer, long at) {
    int beyond = peer.acknowledgeBeyond(!peer.way.isSlow);
    if (beyond != 0) {
      int flags = FrameHeader.flags(Memory.ALL, at) | FrameHeader.FLAG_BEYOND;
      FrameHeader.flagsDst(Memory.ALL, at, flags, FrameHeader.dst(Memory.ALL, at));
      FrameHeader.beyond(Memory.ALL, at, beyond);
    }
  }

  /**
   * Number, header, queue and window: what nothing can keep from being done any more, so there is
   * no question in it.
   *
   * @param at the frame's address
   * @param credit that the frame tells of, if its flags say so
   * @param ack the cumulative acknowledgement that it carries
   * @param seal {@link Burst#SEAL}, or 0 when it is sealed at once
   */
  private void put(
      Peer peer,
      SendWindow window,
      Lane lane,
      int id,
      long at,
      int messages,
      int payloadBytes,
      int flags,
      int credit,
      int ack,
      long seal) {
    FrameHeader.data(
        Memory.ALL,
        at,
        window.front0(),
        window.front1(),
        window.front2(),
        window.ends(),
        window.keySession(),
        flags,
        (long) window.next() << 32 | ack & 0xFFFF_FFFFL,
        credit,
        lane.storedEndpoints,
        payloadBytes << 16);
    int heldBytes = FrameHeader.BYTES + payloadBytes + tagBytes;
    LocalQueue queue = peer.queue;
    int ticket = queue.putHeld(id, heldBytes, seal);
    core.waits.add(queue.bit);
    long stamp = messages == 1 ? core.stampOfOne : SendWindow.stamp(core.nowNs, messages);
    window.send(id, heldBytes, messages, window.takeIndex(), ticket, stamp);
    unsealed++;
  }

  /**
   * No more messages join this frame.
   *
   * @return its buffer from now on
   */
  private int shut(Peer peer, Lane lane, int id, int messages, int payloadBytes) {
    if (lane.openId == id) {
      lane.openId = 0;
    }
    return lane.guestId == id ? leaveGuest(peer, lane, id, messages, payloadBytes) : id;
  }

  /**
   * @return bytes of its payload
   */
  private int finish(int id, int messages, int usedBytes) {
    core.counters.add(Counter.MESSAGES_COALESCED, messages);
    return CoalescedPayload.finish(Memory.ALL, payloadAddress(id), roomBytes, messages, usedBytes);
  }

  private static InLane channelBack(Peer peer, Lane lane) {
    if (peer.lanes == null) {
      return null;
    }
    lane.back = peer.lane(lane.dstEndpoint, lane.endpoint.number());
    return lane.back;
  }

  /** Before a port may have new frames, or one of them is copied. */
  void seal() {
    if (unsealed > 0) {
      sealAll();
    }
  }

  private void sealAll() {
    core.counters.add(Counter.DATA_SENT, unsealed);
    unsealed = 0;
    for (Rail rail : core.rails) {
      rail.local.seal(sealer);
    }
    sealer.finish();
  }

  /**
   * A program let time pass between what it sent and the round in which that leaves, which is not
   * the round trip's.
   */
  void restampUnsealed() {
    for (Rail rail : core.rails) {
      restamp(rail.local);
    }
  }

  /** A burst has sealed all that had no CRC yet; how many. */
  int sealedInBurst() {
    int n = unsealed;
    unsealed = 0;
    return n;
  }

  /** Whether frames were put that have no CRC yet. */
  boolean hasUnsealed() {
    return unsealed > 0;
  }

  private void restamp(LocalQueue queue) {
    for (int ticket = queue.firstUnsealed(); ticket != queue.end(); ticket++) {
      long d = queue.ofTicket(ticket);
      if ((d & Burst.HOLD) != 0) {
        long at = pool.addressOf(Burst.id(d));
        Peer peer = core.peers[FrameHeader.dst(Memory.ALL, at)];
        restamp(peer, FrameHeader.seq(Memory.ALL, at));
      }
    }
  }

  private void restamp(Peer peer, int seq) {
    SendWindow window = peer.window;
    int path = window.pathOf(seq);
    // Among the new frames may be resends, which were put there in their round.
    if (path >= 0 && window.copies(seq) == 1) {
      window.restamp(seq, core.nowNs);
      if (window.firstOf(path) == seq) {
        peer.paths[path].waitFrom(core.nowNs);
      }
    }
  }

  // --- lost frames --------------------------------------------------------------------------

  /** Sends lost frames again; false when one has to wait for a path or a buffer. */
  private boolean resendLost(Peer peer) {
    SendWindow window = peer.window;
    while (!window.nothingLost()) {
      // Not again the path whose turn it is, if that lost it.
      int path = paths.choose(peer, window.copies(window.firstLost()));
      if (path < 0 || !resend(peer, window.firstLost(), path)) {
        return false;
      }
    }
    return true;
  }

  private boolean resend(Peer peer, int seq, int path) {
    if (!freeToRewrite(peer, seq)) {
      return false;
    }
    SendWindow window = peer.window;
    PathState state = peer.paths[path];
    Rail rail = state.rail;
    int id = window.bufferId(seq);
    long mac = core.routing.nextHopMac(peer.node, path);
    FrameHeader.front(
        core.frames,
        pool.frameAt(id),
        mac,
        rail.macAddress,
        state.hops,
        window.copies(seq),
        state.code);
    if (window.isEmpty(path)) {
      paths.beginWait(peer, state, window.lengthBytes(seq));
    }
    int ticket = rail.local.putHeld(id, window.lengthBytes(seq), 0);
    core.waits.add(rail.local.bit);
    int index = peer.takeIndex(state);
    window.resend(path, index, rail.index, ticket, core.nowNs);
    core.counters.increment(Counter.RESENT);
    return true;
  }

  /**
   * Makes sure that a frame's buffer may be written for a resend: neither our queue nor the port
   * has it any more; else the resend goes out from a copy.
   */
  private boolean freeToRewrite(Peer peer, int seq) {
    SendWindow window = peer.window;
    int id = window.bufferId(seq);
    Rail rail = core.rails[window.rail(seq)];
    if (!rail.hasLeftQueue(window.railTicket(seq))) {
      // Put there in this round, it would leave the queue without its CRC, and never get one.
      seal();
      rail.purge(id);
    }
    if (pool.references(id) == 1) {
      return true;
    }
    int copy = pool.allocate(peer.windowOwner());
    if (copy == 0) {
      core.counters.drop(DropReason.NO_BUFFER);
      return false;
    }
    java.lang.foreign.MemorySegment.copy(
        core.frames, pool.frameAt(id), core.frames, pool.frameAt(copy), window.lengthBytes(seq));
    window.replaceBuffer(seq, copy);
    pool.release(id, peer.windowOwner());
    core.counters.increment(Counter.RESENT_FROM_COPY);
    return true;
  }

  // --- acknowledgement ----------------------------------------------------------------------

  /** Everything before {@code ack} is stored by the peer. False: the peer cannot mean this. */
  boolean acknowledgeUpTo(Peer peer, int ack) {
    SendWindow window = peer.window;
    if (Serial.after(ack, window.next())) {
      return false;
    }
    if (Serial.after(ack, window.unacknowledged())) {
      while (!settleUpTo(peer, ack)) {
        settleFirst(peer);
      }
    }
    return true;
  }

  /**
   * Whether the peer can mean frames behind a gap: all of them were sent.
   *
   * @param bits bit i: {@code ack + 1 + i}
   */
  static boolean isSent(Peer peer, int ack, int bits) {
    int end = ack + 1 + Integer.SIZE - Integer.numberOfLeadingZeros(bits);
    return bits == 0 || !Serial.after(end, peer.window.next());
  }

  /**
   * Frames behind a gap, all {@link #isSent}, are stored by the peer too. What an old frame says
   * may be settled since.
   */
  void acknowledgeBeyond(Peer peer, int ack, int bits) {
    SendWindow window = peer.window;
    for (int left = bits; left != 0; left &= left - 1) {
      int seq = ack + 1 + Integer.numberOfTrailingZeros(left);
      if (!Serial.before(seq, window.unacknowledged())) {
        acknowledgeOne(peer, seq);
      }
    }
  }

  /**
   * {@link #acknowledgeUpTo} for frames that are usual: sent once, and acknowledged in their order.
   *
   * @param ack between the first and the next frame of the window
   * @return false when the first frame that is still to be settled is none of these
   */
  boolean settleUpTo(Peer peer, int ack) {
    SendWindow window = peer.window;
    int first = window.unacknowledged();
    if (ack - first == 1) {
      return settleOne(peer, first);
    }
    while (window.unacknowledged() != ack) {
      int last = window.acknowledgeRun(ack, run);
      if (run.size() == 0) {
        return false;
      }
      settle(peer, last);
    }
    return true;
  }

  /** To set up a run for one frame would cost more than the frame does. */
  private boolean settleOne(Peer peer, int seq) {
    SendWindow window = peer.window;
    long frame = window.frameWord(seq);
    long transmission = window.transmissionWord(seq);
    long time = window.timeWord(seq);
    int id = window.acknowledgeFirst();
    if (id == 0) {
      return false;
    }
    Rail rail = core.rails[SendWindow.rail(frame)];
    if (!rail.hasLeftQueue(SendWindow.railTicket(transmission))) {
      rail.purge(id);
    }
    core.lanes[window.lane(seq)].acknowledge(SendWindow.messages(time));
    pool.releaseSent(id, peer.windowOwner());
    held--;
    paths.onAcknowledged(
        peer,
        SendWindow.list(frame),
        SendWindow.pathIndex(transmission),
        1,
        SendWindow.length(frame),
        SendWindow.sinceSentNs(time, core.nowNs));
    return true;
  }

  /** The first frame of the window is stored by the peer: one that was sent again, say. */
  private void settleFirst(Peer peer) {
    SendWindow window = peer.window;
    int seq = window.unacknowledged();
    acknowledgeOne(peer, seq);
    core.lanes[window.lane(seq)].acknowledge(window.messages(seq));
    window.advance();
  }

  /** A run of frames, all sent once on one path, is stored by the peer. */
  private void settle(Peer peer, int last) {
    SendWindow window = peer.window;
    FrameRun frames = run;
    int n = frames.size();
    Rail rail = core.rails[window.rail(last)];
    if (!rail.hasLeftQueue(window.railTicket(last))) {
      // The peer cannot have what has not left, but it can say so.
      for (int i = 0; i < n; i++) {
        rail.purge(frames.ids()[i]);
      }
    }
    pool.release(frames.ids(), n, peer.windowOwner());
    held -= n;
    paths.onAcknowledged(
        peer,
        frames.path(),
        window.pathIndex(last),
        n,
        frames.bytes(),
        window.sinceSentNs(last, core.nowNs));
    core.lanes[frames.lane()].acknowledge(frames.messages());
  }

  /** One frame is stored by the peer, in order or not. */
  void acknowledgeOne(Peer peer, int seq) {
    SendWindow window = peer.window;
    int path = window.pathOf(seq);
    int id = window.acknowledge(seq);
    if (id == 0) {
      return;
    }
    Rail rail = core.rails[window.rail(seq)];
    if (!rail.hasLeftQueue(window.railTicket(seq))) {
      // A copy arrived while its resend still waits in our queue: take that out. The frame may be
      // on no path's list and yet queued, when its path was evicted with the frame in the queue.
      rail.purge(id);
    }
    pool.releaseSent(id, peer.windowOwner());
    held--;
    // A sequence sent more than once says nothing of a path: which copy arrived is not known.
    if (path >= 0 && window.copies(seq) == 1) {
      paths.onAcknowledged(
          peer,
          path,
          window.pathIndex(seq),
          1,
          window.lengthBytes(seq),
          window.sinceSentNs(seq, core.nowNs));
    }
  }

  // --- end of a session ---------------------------------------------------------------------

  /** Releases all that is held for a peer. Its messages' fate is unknown. */
  void discard(Peer peer) {
    peer.window.endChoice();
    // Before anything is lost: of what is stored the timer may have passed none yet.
    for (int i = 0; i < peer.outLaneCount; i++) {
      peer.outLanes[i].passLost();
    }
    for (Rail rail : core.rails) {
      rail.purgeHeldBy(peer.windowOwner());
    }
    SendWindow window = peer.window;
    for (int seq = window.unacknowledged(); seq != window.next(); seq++) {
      int id = window.acknowledge(seq);
      if (id != 0) {
        pool.release(id, peer.windowOwner());
        held--;
      }
      core.lanes[window.lane(seq)].lose(window.messages(seq));
      core.counters.add(Counter.FATE_UNKNOWN, window.messages(seq));
    }
    discardPending(peer);
  }

  /**
   * A message was claimed in a session that ended: it is not sent. Others of its lane that were
   * claimed since may be on their way already, with lower tickets.
   */
  void loseLate(Lane lane) {
    lane.loseBehind(onTheirWay(lane));
    core.peer(lane.dst).lanesWait = true;
    core.counters.increment(Counter.FATE_UNKNOWN);
  }

  private int onTheirWay(Lane lane) {
    Peer peer = core.peer(lane.dst);
    if (peer.state != PeerState.UP) {
      return 0;
    }
    int messages = 0;
    SendWindow window = peer.window;
    for (int seq = window.unacknowledged(); seq != window.next(); seq++) {
      messages += window.lane(seq) == lane.id ? window.messages(seq) : 0;
    }
    lane.endpoint.openFrame.closeFor(lane);
    for (int id = peer.pendingHead; id != 0; id = pending.next(id)) {
      messages += pending.lane(id) == lane.id ? pending.messages(id) : 0;
    }
    return messages;
  }

  void discardPending(Peer peer) {
    while (peer.pendingHead != 0) {
      int id = peer.pendingHead;
      peer.pendingHead = pending.next(id);
      Lane lane = core.lanes[pending.lane(id)];
      lane.endpoint.openFrame.closeFor(lane);
      int messages = pending.messages(id);
      held--;
      lane.openId = 0;
      lane.lose(messages);
      core.counters.add(Counter.FATE_UNKNOWN, messages);
      if (lane.guestId == id) {
        // A claim is being written in it, and is refused when it is sent.
        lane.guestId = 0;
        lane.endpoint.guestIsAlone();
        pool.transfer(id, peer.windowOwner(), lane.endpoint.claimOwner);
      } else {
        pool.release(id, peer.windowOwner());
      }
    }
    peer.pendingCount = 0;
  }
}
