package org.pmhxb.pm;

import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.flow.SendWindow;
import org.pmhxb.pm.flow.Serial;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * The candidate paths to each peer: which one a frame takes, what was lost on it, whether it lives
 * (PROTOCOL.md sections 5.3 and 5.5). Owner: the poll thread.
 */
final class Paths {
  /** Unacknowledged bytes that one path to one peer may have. */
  private static final long PATH_BYTES_MAX = 256 * 1024;

  /** Probes without an answer, while another path lives, after which a path is evicted. */
  private static final int PROBES_TO_EVICT = 3;

  private static final long PROBE_FLOOR_NS = 200_000L;
  private static final long EVICTED_PROBE_NS = 5_000_000L;

  /** PROBE payload: path:32 | index:32 | sent:64. */
  static final int PROBE_BYTES = 16;

  private final NodeCore core;

  Paths(NodeCore core) {
    this.core = core;
  }

  /** The paths of a new session, all of them usable until shown otherwise. */
  PathState[] create(int node) {
    PathState[] paths = new PathState[core.routing.pathCount(node)];
    for (int i = 0; i < paths.length; i++) {
      Rail rail = core.rails[core.routing.egressRail(node, i)];
      paths[i] = new PathState(rail, core.routing.path(node, i), core.routing.hops(node));
      paths[i].evidenceNs = core.nowNs;
    }
    return paths;
  }

  // --- frames on a path ---------------------------------------------------------------------

  /** The usable path with the least in front of a new frame, or -1 (DESIGN rule 17). */
  int choose(Peer peer) {
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

  /** Frames are about to join a path; the first's index there, for the acknowledgement. */
  int onTransmit(Peer peer, int path, int frames) {
    PathState state = peer.paths[path];
    if (peer.window.isEmpty(path)) {
      evidence(state);
    }
    int index = state.nextIndex;
    state.nextIndex += frames;
    return index;
  }

  /** The peer has a frame that was transmitted once, with this index, on this path. */
  void onAcknowledged(PathState state, int index, long rttNs) {
    state.settledIndex = Serial.max(state.settledIndex, index);
    evidence(state);
    state.sampleRtt(rttNs);
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
  void tick(Peer peer) {
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
    if (rail.putLocal(id, FrameHeader.BYTES + PROBE_BYTES + core.tagBytes)) {
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
    if (Serial.before(index, state.settledIndex)) {
      // Answered before, or overtaken by data: a copy that comes late says nothing of now, least of
      // all the round trip.
      return;
    }
    state.settledIndex = index + 1;
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
}
