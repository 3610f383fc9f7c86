package org.pmhxb.pm;

import org.pmhxb.pm.flow.SendWindow;
import org.pmhxb.pm.flow.Serial;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * Data frames on their way out: sequence, header, hold, acknowledgement, resend (PROTOCOL.md
 * sections 5.3, 5.4 and 5.6). Which path a frame takes, and when it is lost, {@link Paths} says.
 * Owner: the poll thread.
 */
final class Sender {
  private final NodeCore core;
  private final Paths paths;

  Sender(NodeCore core, Paths paths) {
    this.core = core;
    this.paths = paths;
  }

  /** Accepts a claimed frame from an endpoint: order is fixed now. The buffer is the node's. */
  void accept(Peer peer, Lane lane, int id, int payloadBytes, int flags) {
    if (peer.state == PeerState.UP && peer.pendingHead == 0 && !peer.window.isFull()) {
      transmit(peer, lane, id, payloadBytes, flags);
      return;
    }
    core.pendingNext[id] = 0;
    core.pendingPayloadBytes[id] = payloadBytes;
    core.pendingFlags[id] = flags;
    core.pendingLane[id] = lane;
    if (peer.pendingHead == 0) {
      peer.pendingHead = id;
    } else {
      core.pendingNext[peer.pendingTail] = id;
    }
    peer.pendingTail = id;
    peer.pendingCount++;
  }

  /** Sends what waits: lost frames and frames without a path first, then new ones. */
  void pump(Peer peer) {
    SendWindow window = peer.window;
    while (!window.nothingLost()) {
      int seq = window.firstLost();
      if (!dispatch(peer, seq, true)) {
        return;
      }
    }
    while (peer.pendingHead != 0 && !window.isFull()) {
      int id = peer.pendingHead;
      peer.pendingHead = core.pendingNext[id];
      peer.pendingCount--;
      Lane lane = core.pendingLane[id];
      core.pendingLane[id] = null;
      transmit(peer, lane, id, core.pendingPayloadBytes[id], core.pendingFlags[id]);
    }
  }

  /** Gives a frame its number and header. Nothing of it but the hop part changes afterwards. */
  private void transmit(Peer peer, Lane lane, int id, int payloadBytes, int flags) {
    int seq = peer.window.add(id, FrameHeader.BYTES + payloadBytes, lane.id);
    long at = core.pool.frameAt(id);
    var frames = core.frames;
    int allFlags = flags;
    int credit = 0;
    InLane back = peer.lane(lane.dstEndpoint, lane.endpoint.number());
    if (back != null) {
      credit = back.limit();
      back.advertised = credit;
      allFlags |= FrameHeader.FLAG_CREDIT;
    }
    FrameHeader.endToEnd(
        frames,
        at,
        FrameHeader.DATA << 24 | core.self,
        allFlags << 24 | peer.node,
        (long) core.config.key() << 32 | peer.session & 0xFFFF_FFFFL,
        (long) seq << 32 | peer.order.next() & 0xFFFF_FFFFL,
        credit,
        (long) lane.endpoint.number() << 48
            | (long) lane.dstEndpoint << 32
            | (long) payloadBytes << 16);
    FrameHeader.crc(frames, at, core.crc.of(at, payloadBytes));
    core.counters.increment(Counter.DATA_SENT);
    if (peer.highest == peer.order.next()) {
      // The frame carries all there is to acknowledge.
      peer.news = 0;
    }
    dispatch(peer, seq, false);
  }

  /** Puts a frame on the path that will deliver it first; false when no path takes it now. */
  private boolean dispatch(Peer peer, int seq, boolean waits) {
    SendWindow window = peer.window;
    int path = paths.choose(peer);
    if (path < 0) {
      if (!waits) {
        window.defer(seq);
      }
      return false;
    }
    int copies = window.copies(seq);
    if (copies > 0 && !freeToRewrite(peer, seq)) {
      return false;
    }
    if (waits) {
      window.takeLost();
    }
    PathState state = peer.paths[path];
    Rail rail = state.rail;
    int id = window.bufferId(seq);
    long mac = core.routing.nextHopMac(peer.node, path);
    FrameHeader.front(
        core.frames, core.pool.frameAt(id), mac, rail.macAddress, state.hops, copies, state.code);
    int ticket = rail.putHeld(id, window.lengthBytes(seq));
    int index = paths.onTransmit(peer, path);
    window.sent(seq, path, index, rail.index, ticket, core.nowNs);
    if (copies > 0) {
      core.counters.increment(Counter.RESENT);
    }
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
    if (core.pool.references(id) == 1) {
      return true;
    }
    int copy = core.pool.allocate(peer.windowOwner);
    if (copy == 0) {
      core.counters.drop(DropReason.NO_BUFFER);
      return false;
    }
    java.lang.foreign.MemorySegment.copy(
        core.frames,
        core.pool.frameAt(id),
        core.frames,
        core.pool.frameAt(copy),
        window.lengthBytes(seq));
    window.replaceBuffer(seq, copy);
    core.pool.release(id, peer.windowOwner);
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
    while (window.unacknowledged() != ack) {
      int seq = window.unacknowledged();
      acknowledgeOne(peer, seq);
      core.lanes[window.lane(seq)].acknowledge();
      window.advance();
    }
    return true;
  }

  /** One frame is stored by the peer, in order or not. */
  void acknowledgeOne(Peer peer, int seq) {
    SendWindow window = peer.window;
    int path = window.pathOf(seq);
    int index = window.pathIndex(seq);
    boolean once = window.copies(seq) == 1;
    long sentNs = window.sentNs(seq);
    int id = window.acknowledge(seq);
    if (id == 0) {
      return;
    }
    if (window.copies(seq) > 0
        && !core.rails[window.rail(seq)].hasLeftQueue(window.railTicket(seq))) {
      // A copy arrived while its resend still waits in our queue: take that out. The frame may be
      // on no path's list and yet queued, when its path was evicted with the frame in the queue.
      core.rails[window.rail(seq)].purge(id);
    }
    core.pool.release(id, peer.windowOwner);
    // A sequence sent more than once says nothing of a path (DESIGN rule 11).
    if (path >= 0 && once) {
      paths.onAcknowledged(peer.paths[path], index, sentNs);
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
        core.pool.release(id, peer.windowOwner);
      }
      core.lanes[window.lane(seq)].lose();
      core.counters.increment(Counter.FATE_UNKNOWN);
    }
    discardPending(peer);
  }

  void discardPending(Peer peer) {
    while (peer.pendingHead != 0) {
      int id = peer.pendingHead;
      peer.pendingHead = core.pendingNext[id];
      core.pendingLane[id].lose();
      core.pendingLane[id] = null;
      core.pool.release(id, peer.windowOwner);
      core.counters.increment(Counter.FATE_UNKNOWN);
    }
    peer.pendingCount = 0;
  }
}
