package org.pmhxb.pm;

import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.Peer.PathState;
import org.pmhxb.pm.flow.SendWindow;
import org.pmhxb.pm.flow.Serial;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * Data frames on their way out: sequence, path, hold, loss evidence, resend (PROTOCOL.md section
 * 5.3 to 5.6). Owner: the poll thread.
 */
final class Sender {
  /** Unacknowledged bytes that one path to one peer may have. */
  private static final long PATH_BYTES_MAX = 256 * 1024;

  /** Probes without an answer, while another path lives, after which a path is evicted. */
  private static final int PROBES_TO_EVICT = 3;

  private static final long PROBE_FLOOR_NS = 200_000L;
  private static final long EVICTED_PROBE_NS = 5_000_000L;

  /** PROBE payload: path:32 | index:32 | sent:64. */
  static final int PROBE_BYTES = 16;

  private final NodeCore core;

  Sender(NodeCore core) {
    this.core = core;
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
    int path = choosePath(peer);
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
    if (window.isEmpty(path)) {
      state.evidenceNs = core.nowNs;
      state.probesUnanswered = 0;
    }
    window.sent(seq, path, state.nextIndex++, rail.index, ticket, core.nowNs);
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
      rail.purge(queued -> queued == id);
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

  /** The usable path with the least in front of a new frame, or -1 (DESIGN rule 17). */
  private int choosePath(Peer peer) {
    SendWindow window = peer.window;
    Routing routing = core.routing;
    int node = peer.node;
    PathState[] paths = peer.paths;
    int n = paths.length;
    int best = -1;
    long least = Long.MAX_VALUE;
    int path = peer.nextDataPath;
    for (int i = 0; i < n; i++) {
      Rail rail = paths[path].rail;
      long onPath = window.bytesOn(path);
      long cost = onPath + rail.backlogBytes();
      if (cost < least
          && !paths[path].evicted
          && onPath < PATH_BYTES_MAX
          && rail.hasLocalRoom()
          && routing.nextHopMac(node, path) != 0) {
        least = cost;
        best = path;
      }
      path = path + 1 == n ? 0 : path + 1;
    }
    // Ties go round, so that equal rails share equally.
    peer.nextDataPath = best + 1 >= n ? 0 : best + 1;
    return best;
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
      core.lanes[window.lane(seq)].acknowledge(1);
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
      core.rails[window.rail(seq)].purge(queued -> queued == id);
    }
    core.pool.release(id, peer.windowOwner);
    // A sequence sent more than once says nothing of a path (DESIGN rule 11).
    if (path >= 0 && once) {
      PathState state = peer.paths[path];
      state.settledIndex = Serial.max(state.settledIndex, index);
      evidence(state);
      state.sampleRtt(core.nowNs - sentNs);
    }
  }

  private void evidence(PathState state) {
    state.evidenceNs = core.nowNs;
    state.probesUnanswered = 0;
  }

  /** A path is FIFO: what was sent on it before a frame that arrived, and did not, is lost. */
  void detectLoss(Peer peer) {
    SendWindow window = peer.window;
    for (int path = 0; path < peer.paths.length; path++) {
      int settled = peer.paths[path].settledIndex;
      while (!window.isEmpty(path)
          && Serial.before(window.pathIndex(window.firstOf(path)), settled)) {
        window.lose(window.firstOf(path));
      }
    }
  }

  // --- probes -------------------------------------------------------------------------------

  /** Looks after the paths to a peer; called by the timer. */
  void tickPaths(Peer peer) {
    long floorNs = Math.max(PROBE_FLOOR_NS, core.pollGapNs + peer.peerPollGapNs);
    SendWindow window = peer.window;
    for (int path = 0; path < peer.paths.length; path++) {
      PathState state = peer.paths[path];
      if (window.isEmpty(path) && !state.evicted) {
        continue;
      }
      long timeoutNs =
          state.evicted
              ? EVICTED_PROBE_NS << Math.min(state.probesUnanswered >> 2, 5)
              : state.probeTimeoutNs(floorNs);
      long sinceNs = Math.max(state.evidenceNs, state.probeSentNs);
      if (core.nowNs - sinceNs >= timeoutNs) {
        sendProbe(peer, path);
        if (state.probesUnanswered > 1 && !state.evicted) {
          compareWithOthers(peer, state);
        }
      }
      if (!state.evicted
          && state.probesUnanswered >= PROBES_TO_EVICT
          && anotherPathLives(peer, state)) {
        evict(peer, path);
      }
    }
    pump(peer);
  }

  /** Asks over one path for an answer. It queues behind the data of that path: still FIFO. */
  void sendProbe(Peer peer, int path) {
    PathState state = peer.paths[path];
    state.probeSentNs = core.nowNs;
    if (core.routing.nextHopMac(peer.node, path) == 0) {
      return;
    }
    int id = core.controlBuffer();
    if (id == 0) {
      return;
    }
    if (state.probesUnanswered++ == 0) {
      state.firstProbeNs = core.nowNs;
    }
    long at = core.pool.frameAt(id);
    FrameHeader.payloadInt(core.frames, at, 0, path);
    FrameHeader.payloadInt(core.frames, at, 4, state.nextIndex++);
    FrameHeader.payloadLong(core.frames, at, 8, core.nowNs);
    core.sealControl(id, FrameHeader.PROBE, peer, peer.session, PROBE_BYTES);
    core.address(at, peer.node, path, 0);
    Rail rail = core.rails[core.routing.egressRail(peer.node, path)];
    if (rail.putLocal(id, FrameHeader.BYTES + PROBE_BYTES)) {
      core.counters.increment(Counter.PROBES_SENT);
    } else {
      core.counters.drop(DropReason.TRANSMIT_QUEUE_FULL);
      core.pool.release(id, Owner.NODE);
    }
  }

  /** The peer answered a probe; its acknowledgement was processed before. */
  void onProbeReply(Peer peer, int path, int index, long sentNs) {
    if (path < 0
        || path >= peer.paths.length
        || !Serial.before(index, peer.paths[path].nextIndex)) {
      core.counters.drop(DropReason.MALFORMED);
      return;
    }
    core.counters.increment(Counter.PROBE_REPLIES);
    PathState state = peer.paths[path];
    state.settledIndex = Serial.max(state.settledIndex, index);
    evidence(state);
    state.sampleRtt(core.nowNs - sentNs);
    if (state.evicted) {
      state.evicted = false;
      core.counters.increment(Counter.PATHS_RESTORED);
    }
  }

  /** Is it this path, or the peer? Idle paths say nothing by themselves, so they are asked. */
  private void compareWithOthers(Peer peer, PathState suspect) {
    for (int path = 0; path < peer.paths.length; path++) {
      PathState other = peer.paths[path];
      if (other != suspect && !other.evicted && other.evidenceNs - suspect.firstProbeNs <= 0) {
        sendProbe(peer, path);
      }
    }
  }

  private static boolean anotherPathLives(Peer peer, PathState than) {
    for (PathState other : peer.paths) {
      if (other != than && !other.evicted && other.evidenceNs - than.firstProbeNs > 0) {
        return true;
      }
    }
    return false;
  }

  private void evict(Peer peer, int path) {
    peer.paths[path].evicted = true;
    core.counters.increment(Counter.PATHS_EVICTED);
    SendWindow window = peer.window;
    while (!window.isEmpty(path)) {
      window.lose(window.firstOf(path));
    }
  }

  // --- end of a session ---------------------------------------------------------------------

  /** Releases all that is held for a peer. Its messages' fate is unknown. */
  void discard(Peer peer) {
    for (Rail rail : core.rails) {
      rail.purge(id -> core.pool.owner(id) == peer.windowOwner);
    }
    SendWindow window = peer.window;
    for (int seq = window.unacknowledged(); seq != window.next(); seq++) {
      int id = window.acknowledge(seq);
      if (id != 0) {
        core.pool.release(id, peer.windowOwner);
      }
      core.counters.increment(Counter.FATE_UNKNOWN);
    }
    discardPending(peer);
  }

  void discardPending(Peer peer) {
    while (peer.pendingHead != 0) {
      int id = peer.pendingHead;
      peer.pendingHead = core.pendingNext[id];
      core.pendingLane[id] = null;
      core.pool.release(id, peer.windowOwner);
      core.counters.increment(Counter.FATE_UNKNOWN);
    }
    peer.pendingCount = 0;
  }
}
