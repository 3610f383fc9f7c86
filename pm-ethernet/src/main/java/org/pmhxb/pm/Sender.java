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
import org.pmhxb.pm.wire.FrameTag;

/**
 * Data frames on their way out: sequence, header, hold, acknowledgement, resend (PROTOCOL.md
 * sections 5.3, 5.4 and 5.6). Which path a frame takes, and when it is lost, {@link Paths} says.
 * Owner: the poll thread.
 */
final class Sender {
  /** Bytes of new frames that follow one another on a path before the choice is made again. */
  private static final int STRIPE_BYTES = 4_096;

  /** Frames whose CRC is made in one go. */
  private static final int UNSEALED_MAX = 64;

  private final NodeCore core;
  private final Paths paths;
  private final BufferPool pool;
  private final long framesAddress;
  private final PendingFrames pending;
  private final long keyWord;
  private final FrameTag tag;
  private final int tagFlag;
  private final int tagBytes;

  /** Payload bytes that a frame has room for. */
  private final int roomBytes;

  /** Peers with frames that wait for their number. */
  private Peer[] pendingPeers = new Peer[8];

  private int pendingPeerCount;

  /**
   * Frames of this call that have no CRC yet. A header is written in pieces and read by the CRC in
   * others: a load that spans two fresh stores waits until both have reached the cache. A few
   * frames later they have.
   */
  private final LocalBurst unsealed;

  /** Frames that are being sent, or settled. */
  private final FrameRun run = new FrameRun();

  Sender(NodeCore core, Paths paths) {
    this.core = core;
    this.paths = paths;
    this.pool = core.pool;
    this.framesAddress = core.framesAddress;
    this.unsealed = new LocalBurst(pool, core.crc, UNSEALED_MAX);
    this.pending = core.pending;
    this.keyWord = (long) core.config.key() << 32;
    this.tag = core.tag;
    this.tagFlag = core.tagFlag;
    this.tagBytes = core.tagBytes;
    this.roomBytes = core.config.maxPayloadBytes();
  }

  // --- new frames ---------------------------------------------------------------------------

  /**
   * Copies a small message into the frame of its lane that waits for its number (DESIGN rule 16).
   * Messages never wait for company: nothing waits but what found no path, or was sent in this very
   * round.
   *
   * @return false when no frame waits, or it is full, or a claim is being written in it: {@link
   *     #accept} is next
   */
  boolean join(Lane lane, int id, int messageBytes) {
    int open = lane.openId;
    if (open == 0 || open == lane.guestId || !hasRoom(open, messageBytes)) {
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

  /** The claim in a frame that waits was sent: it is one of the frame's messages now. */
  void joinInPlace(Lane lane, int messageBytes) {
    int open = lane.openId;
    int messages = pending.messages(open);
    int used = beginNext(open, messages);
    CoalescedPayload.enter(
        Memory.ALL, payloadAddress(open), roomBytes, messages, used, messageBytes);
    pending.grown(open, used + CoalescedPayload.paddedBytes(messageBytes), messages + 1);
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
    pool.transfer(other, lane.endpoint.claimOwner, peer.windowOwner);
    pool.transfer(id, peer.windowOwner, lane.endpoint.claimOwner);
    lane.guestId = 0;
    return other;
  }

  /**
   * Accepts a claimed frame from an endpoint: order is fixed now. The number follows in {@link
   * #pumpPending}, once a round, or at once for a long frame, whose CRC is cheap only while its
   * payload is in the cache. The buffer is the node's.
   *
   * @param flags of the frame; COALESCED means that small messages may join it while it waits
   */
  void accept(Peer peer, Lane lane, int id, int payloadBytes, int flags) {
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
    if (payloadBytes > LocalBurst.TOGETHER_BYTES_MAX && peer.state == PeerState.UP) {
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
    int kept = 0;
    int n = pendingPeerCount;
    for (int i = 0; i < n; i++) {
      Peer peer = pendingPeers[i];
      if (peer.state == PeerState.UP) {
        sendAll(peer);
      }
      if (peer.pendingHead != 0) {
        pendingPeers[kept++] = peer;
      } else {
        peer.onPendingList = false;
      }
    }
    pendingPeerCount = kept;
    seal();
  }

  /** Sends what waits: lost frames first, then new ones. */
  void pump(Peer peer) {
    sendAll(peer);
    seal();
  }

  private void sendAll(Peer peer) {
    if (!peer.window.nothingLost() && !resendLost(peer)) {
      return;
    }
    int sent = 0;
    while (peer.pendingHead != 0 && !peer.window.isFull()) {
      int path = paths.choose(peer);
      if (path < 0 || mayGrow(peer, peer.paths[path].rail)) {
        break;
      }
      sent += peer.pendingHead == peer.pendingTail ? sendSingle(peer, path) : sendNew(peer, path);
    }
    if (sent > 0) {
      core.counters.add(Counter.DATA_SENT, sent);
      if (peer.highest == peer.order.next()) {
        // The frames carry all there is to acknowledge.
        peer.news = 0;
      }
    }
  }

  /** A frame that others may still join has no hurry while its rail has a burst waiting. */
  private boolean mayGrow(Peer peer, Rail rail) {
    int id = peer.pendingHead;
    return rail.hasBurstWaiting() && core.lanes[pending.lane(id)].openId == id;
  }

  /**
   * Puts new frames on a path: a few, so that the choice of the path costs little and is seldom
   * old.
   *
   * @return frames sent, at least one; the caller knows that one waits and has room
   */
  private int sendNew(Peer peer, int path) {
    Rail rail = peer.paths[path].rail;
    number(peer, path, Math.min(peer.window.room(), rail.localRoom()));
    int index = paths.onTransmit(peer, path, run.size(), run.bytes());
    int ticket = rail.putHeld(run);
    peer.window.send(run, path, index, rail.index, ticket, core.nowNs);
    peer.pendingCount -= run.size();
    return run.size();
  }

  /**
   * {@link #sendNew} of the only frame that waits, without a run: with many peers in turn nearly
   * every frame is the only one of its peer in a round.
   *
   * @return frames sent: 1
   */
  private int sendSingle(Peer peer, int path) {
    int id = peer.pendingHead;
    PathState state = peer.paths[path];
    state.leadTo(core.routing.nextHopMac(peer.node, path));
    SendWindow window = peer.window;
    Rail rail = state.rail;
    Lane lane = core.lanes[pending.lane(id)];
    int messages = pending.messages(id);
    int payloadBytes = pending.payloadBytes(id);
    int flags = pending.flags(id);
    if (flags != 0) {
      id = shut(peer, lane, id, messages, payloadBytes);
      if (messages > 1) {
        payloadBytes = finish(id, messages, payloadBytes);
      }
      flags = closedFlags(flags, messages);
    }
    long at = framesAddress + pool.frameAt(id);
    InLane back = lane.back != null ? lane.back : channelBack(peer, lane);
    int credit = 0;
    if (back != null) {
      credit = back.advertise();
      flags |= FrameHeader.FLAG_CREDIT;
    }
    FrameHeader.front(Memory.ALL, at, state.front0, state.front1, state.front2);
    FrameHeader.endToEnd(
        Memory.ALL,
        at,
        FrameHeader.DATA << 24 | core.self,
        (flags | tagFlag) << 24 | peer.node,
        keyWord | peer.session & 0xFFFF_FFFFL,
        (long) window.next() << 32 | peer.order.next() & 0xFFFF_FFFFL,
        credit,
        lane.endpointWord | (long) payloadBytes << 16);
    int frameBytes = FrameHeader.BYTES + payloadBytes;
    sealLater(id, frameBytes);
    int heldBytes = frameBytes + tagBytes;
    int index = paths.onTransmit(peer, path, 1, heldBytes);
    int ticket = rail.putHeld(id, heldBytes);
    window.send(id, heldBytes, lane.id, messages, path, index, rail.index, ticket, core.nowNs);
    peer.pendingHead = 0;
    peer.pendingCount--;
    return 1;
  }

  /**
   * Numbers frames that wait, at most {@code limit}, and writes their headers: they are in {@link
   * #run} then. Nothing of a frame but the hop part changes afterwards.
   */
  private void number(Peer peer, int path, int limit) {
    PathState state = peer.paths[path];
    state.leadTo(core.routing.nextHopMac(peer.node, path));
    long front0 = state.front0;
    long front1 = state.front1;
    long front2 = state.front2;
    long keySession = keyWord | peer.session & 0xFFFF_FFFFL;
    long ack = peer.order.next() & 0xFFFF_FFFFL;
    int kindSrc = FrameHeader.DATA << 24 | core.self;
    int firstSeq = peer.window.next();
    long stripeBytes = Math.min(STRIPE_BYTES, state.roomBytes);
    int most = Math.min(limit, FrameRun.CAPACITY);
    FrameRun frames = run;
    frames.clear();
    int id = peer.pendingHead;
    while (id != 0 && frames.size() < most && frames.bytes() < stripeBytes) {
      int following = pending.next(id);
      Lane lane = core.lanes[pending.lane(id)];
      int messages = pending.messages(id);
      int payloadBytes = pending.payloadBytes(id);
      int flags = pending.flags(id);
      if (flags != 0) {
        id = shut(peer, lane, id, messages, payloadBytes);
        if (messages > 1) {
          payloadBytes = finish(id, messages, payloadBytes);
        }
        flags = closedFlags(flags, messages);
      }
      long at = framesAddress + pool.frameAt(id);
      int credit = 0;
      InLane back = lane.back != null ? lane.back : channelBack(peer, lane);
      if (back != null) {
        credit = back.advertise();
        flags |= FrameHeader.FLAG_CREDIT;
      }
      FrameHeader.front(Memory.ALL, at, front0, front1, front2);
      FrameHeader.endToEnd(
          Memory.ALL,
          at,
          kindSrc,
          (flags | tagFlag) << 24 | peer.node,
          keySession,
          (long) (firstSeq + frames.size()) << 32 | ack,
          credit,
          lane.endpointWord | (long) payloadBytes << 16);
      int frameBytes = FrameHeader.BYTES + payloadBytes;
      sealLater(id, frameBytes);
      frames.add(id, frameBytes + tagBytes, lane.id, messages);
      id = following;
    }
    peer.pendingHead = id;
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

  /** A frame that nothing has joined is an ordinary one. */
  private static int closedFlags(int flags, int messages) {
    return messages > 1 ? flags : flags & ~FrameHeader.FLAG_COALESCED;
  }

  /**
   * @return bytes of its payload
   */
  private int finish(int id, int messages, int usedBytes) {
    core.counters.add(Counter.MESSAGES_COALESCED, messages);
    return CoalescedPayload.finish(Memory.ALL, payloadAddress(id), roomBytes, messages, usedBytes);
  }

  private static InLane channelBack(Peer peer, Lane lane) {
    lane.back = peer.lane(lane.dstEndpoint, lane.endpoint.number());
    return lane.back;
  }

  private void sealLater(int id, int frameBytes) {
    if (unsealed.size() == UNSEALED_MAX) {
      seal();
    }
    unsealed.add(id, frameBytes);
  }

  /** Before anything else may look at the frames: an acknowledgement, a port. */
  private void seal() {
    int n = unsealed.size();
    if (n == 0) {
      return;
    }
    unsealed.computeCrcs();
    for (int i = 0; i < n; i++) {
      int id = Burst.id(unsealed.descriptor(i));
      long address = framesAddress + pool.frameAt(id);
      FrameHeader.crc(Memory.ALL, address, unsealed.crc(i));
      if (tag != null) {
        int payloadBytes = Burst.lengthBytes(unsealed.descriptor(i)) - FrameHeader.BYTES;
        tag.seal(Memory.ALL, address, payloadBytes, core.replay ? wraps(address) : 0);
      }
    }
    unsealed.clear();
  }

  /** A data frame's stamp is what its number lacks: so a resend is the same to its last byte. */
  private long wraps(long address) {
    Peer peer = core.peers[FrameHeader.dst(Memory.ALL, address)];
    return peer.wrapsOfSent(FrameHeader.seq(Memory.ALL, address));
  }

  // --- lost frames --------------------------------------------------------------------------

  /** Sends lost frames again; false when one has to wait for a path or a buffer. */
  private boolean resendLost(Peer peer) {
    SendWindow window = peer.window;
    while (!window.nothingLost()) {
      int path = paths.choose(peer);
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
    int ticket = rail.putHeld(id, window.lengthBytes(seq));
    int index = paths.onTransmit(peer, path, 1, window.lengthBytes(seq));
    window.resend(path, index, rail.index, ticket, core.nowNs);
    core.counters.increment(Counter.RESENT);
    return true;
  }

  /**
   * Makes sure that a frame's buffer may be written for a resend (DESIGN rule 12): neither our
   * queue nor the port has it any more; else the resend goes out from a copy.
   */
  private boolean freeToRewrite(Peer peer, int seq) {
    SendWindow window = peer.window;
    int id = window.bufferId(seq);
    Rail rail = core.rails[window.rail(seq)];
    if (!rail.hasLeftQueue(window.railTicket(seq))) {
      rail.purge(id);
    }
    if (pool.references(id) == 1) {
      return true;
    }
    int copy = pool.allocate(peer.windowOwner);
    if (copy == 0) {
      core.counters.drop(DropReason.NO_BUFFER);
      return false;
    }
    java.lang.foreign.MemorySegment.copy(
        core.frames, pool.frameAt(id), core.frames, pool.frameAt(copy), window.lengthBytes(seq));
    window.replaceBuffer(seq, copy);
    pool.release(id, peer.windowOwner);
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
    if (!Serial.after(ack, window.unacknowledged())) {
      return true;
    }
    while (ack - window.unacknowledged() > 1) {
      int last = window.acknowledgeRun(ack, run);
      if (run.size() > 0) {
        settle(peer, last);
      } else {
        settleFirst(peer);
      }
    }
    if (window.unacknowledged() != ack) {
      settleFirst(peer);
    }
    return true;
  }

  /** The first frame of the window is stored by the peer: one, or one that is like no other. */
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
    pool.release(frames.ids(), n, peer.windowOwner);
    paths.onAcknowledged(
        peer,
        frames.path(),
        window.pathIndex(last),
        n,
        frames.bytes(),
        window.sinceSentNs(last, core.nowNs));
    int lane = frames.lane(0);
    int messages = 0;
    for (int i = 0; i < n; i++) {
      if (frames.lane(i) != lane) {
        core.lanes[lane].acknowledge(messages);
        lane = frames.lane(i);
        messages = 0;
      }
      messages += frames.messages(i);
    }
    core.lanes[lane].acknowledge(messages);
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
    pool.release(id, peer.windowOwner);
    // A sequence sent more than once says nothing of a path (DESIGN rule 11).
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
    for (Rail rail : core.rails) {
      rail.purgeHeldBy(peer.windowOwner);
    }
    SendWindow window = peer.window;
    for (int seq = window.unacknowledged(); seq != window.next(); seq++) {
      int id = window.acknowledge(seq);
      if (id != 0) {
        pool.release(id, peer.windowOwner);
      }
      core.lanes[window.lane(seq)].lose(window.messages(seq));
      core.counters.add(Counter.FATE_UNKNOWN, window.messages(seq));
    }
    discardPending(peer);
  }

  void discardPending(Peer peer) {
    while (peer.pendingHead != 0) {
      int id = peer.pendingHead;
      peer.pendingHead = pending.next(id);
      int messages = pending.messages(id);
      Lane lane = core.lanes[pending.lane(id)];
      lane.openId = 0;
      lane.lose(messages);
      core.counters.add(Counter.FATE_UNKNOWN, messages);
      if (lane.guestId == id) {
        // A claim is being written in it, and is refused when it is sent.
        lane.guestId = 0;
        lane.endpoint.guestIsAlone();
        pool.transfer(id, peer.windowOwner, lane.endpoint.claimOwner);
      } else {
        pool.release(id, peer.windowOwner);
      }
    }
    peer.pendingCount = 0;
  }
}
