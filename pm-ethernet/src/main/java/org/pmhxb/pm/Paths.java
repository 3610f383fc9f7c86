package org.pmhxb.pm;

import java.util.Arrays;
import org.pmhxb.bufpool.Memory;
import org.pmhxb.pm.flow.SendWindow;
import org.pmhxb.pm.flow.Serial;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * The candidate paths to each peer: which one a frame takes, what was lost on it, whether it lives
 * (PROTOCOL.md sections 5.3 and 5.5). Owner: the poll thread.
 */
final class Paths {
  /** Probes without an answer, while another path lives, after which a path may be evicted. */
  static final int PROBES_TO_EVICT = 3;

  private static final int ANSWER_TIMES_TO_EVICT = 2;

  /** In a row, after which an evicted path is taken back when no path in use lives. */
  private static final int ANSWERS_WHERE_NONE_LIVES = 2;

  /**
   * The same for a path that is late: nobody waits for it, and of what it brings only the answer to
   * a probe shows that it lives, for its frames were sent again.
   */
  private static final int ANSWER_TIMES_TO_EVICT_LATE = 4;

  /** For one on which no frames are on their way, at least. */
  private static final long IDLE_EVICTION_NS = 10_000_000L;

  private static final long PROBE_FLOOR_NS = 200_000L;

  /** What arrived was sent at least that much behind frames that are late. */
  private static final long LATE_FLOOR_NS = 100_000L;

  /** The same as a part of the round trip: a quarter. */
  private static final int LATE_BITS = 2;

  /** Nobody waits so long for a frame. */
  private static final long NEVER_NS = Long.MAX_VALUE >> 1;

  private static final long EVICTED_PROBE_NS = 5_000_000L;

  /** So often at least, however many a rail has: where no other path lives they may be needed. */
  private static final int EVICTED_PROBES_IN_TIMEOUT = 10;

  /** A quarter of the time is what the poll gap of a peer loses that does not answer. */
  private static final int GAP_WEARS_BITS = 2;

  /** Evicted again within this time, a path owes twice the answers: flapping is damped. */
  private static final long FLAPPING_NS = 1_000_000_000L;

  private static final int ANSWERS_MAX = 64;

  /**
   * A path that was late, and gave a sign of life, is not taken for late again within this time.
   */
  private static final long SPARED_NS = 100_000_000L;

  /** An idle path that answered within this time is not doubted. */
  private static final long DOUBT_NS = 10_000_000L;

  /** What a path owes that was evicted for its losses: it answers most probes. */
  private static final int ANSWERS_OF_GREY = 8;

  /** Share of frames lost without a queue, in 1/1024, that is too much: one in eight. */
  private static final int GREY_SHARE = 128;

  /** Times in a session that a path which seems longer than another is measured again. */
  private static final int MEASURED_AGAIN_MAX = 8;

  /**
   * From the last question to the first of these, doubling: what holds its host up, code that is
   * not compiled yet for one, does so for a while.
   */
  private static final long MEASURED_AGAIN_NS = 250_000L;

  /** PROBE payload: path:32 | index:32 | sent:64. */
  static final int PROBE_BYTES = 16;

  private static final int HOPS_MAX = 3;

  /**
   * Times of delivery in the same 256 ns count as equal: 320 B at 10 Gbit/s, while a burst of a
   * rail's own costs some 50 ns. Behind a port that has frames in front of the wire they are that
   * much longer, and behind a queue of several bursts: a path's rate as it is known may be far
   * above what its link has.
   */
  static final int EQUAL_NS_BITS = 8;

  /** How long it is one path's {@link #turn}, and a choice stands at most: 262 us. */
  static final int TURN_NS_BITS = 18;

  /** A peer has at most 64 paths. */
  private static final int TURN_BITS = 6;

  private static final long TURN_MASK = (1L << TURN_BITS) - 1;

  /** Round trip of one hop without a queue, at most. */
  private static final long HOP_RTT_NS_MAX = 100_000L;

  /** Round trips that differ by this, or by a factor of two, belong to paths that are alike. */
  private static final long ALIKE_NS = 20_000L;

  private final NodeCore core;

  /**
   * Least round trip over any path, by hops: lines are alike, but for what a peer's way is said to
   * be longer ({@link PmNode#longWay}). A path that was never seen without a queue would take that
   * queue for its length, and its sender would push the others aside; so it is bounded too.
   */
  private final long[] leastRttNs = new long[HOPS_MAX + 1];

  /** Since the timers were looked at before. */
  private long lookedNs;

  Paths(NodeCore core) {
    this.core = core;
    Arrays.setAll(leastRttNs, hops -> HOP_RTT_NS_MAX * hops);
  }

  /** The paths of the session that the peer has now, all of them usable until shown otherwise. */
  PathState[] create(Peer peer) {
    int node = peer.node;
    int frameBytes = FrameHeader.BYTES + core.config.maxPayloadBytes();
    long kindSrc = FrameHeader.DATA << 24 | core.self;
    long ends = FrameHeader.stored(kindSrc << 32 | core.tagFlag << 24 | node);
    long key = (long) core.config.key() << 32;
    long keySession = FrameHeader.stored(key | peer.session & 0xFFFF_FFFFL);
    PathState[] paths = new PathState[core.routing.pathCount(node)];
    for (int i = 0; i < paths.length; i++) {
      Rail rail = core.rails[core.routing.egressRail(node, i)];
      int code = core.routing.path(node, i);
      int hops = core.routing.hops(node);
      paths[i] = new PathState(i, rail, code, hops, frameBytes, core.nowNs, ends, keySession);
    }
    return paths;
  }

  // --- frames on a path ---------------------------------------------------------------------

  /**
   * The usable path that will deliver a new frame first, or -1 (PROTOCOL.md section 5.3): the time
   * of what is in front of the frame at the path's rate, and by how much the path is longer than
   * others are. Among equals it is the one whose {@link #turn} it is. It {@link PathState#leadTo
   * leads} to its next hop then.
   *
   * @param copies how often the frame was sent: so many turns further on
   */
  int choose(Peer peer, int copies) {
    int path = peer.paths.length > 1 ? chooseByTerms(peer, copies) : -1;
    return path >= 0 ? path : chooseAsking(peer, copies);
  }

  /**
   * The first of equals, now. It is by the time alone, so that what a node sends to all its peers
   * meets on one rail while no link is the limit: each rail of a round is a burst of its own. In
   * time all rails get their share, and nodes of one clock favour different ones; where a port may
   * hide its queue, peers too.
   */
  private int turn(Peer peer, int copies) {
    int first = core.self + (core.hidesQueues ? peer.node : 0) + copies;
    int turns = (int) (core.nowNs >>> TURN_NS_BITS) + first & Integer.MAX_VALUE;
    return peer.firstPath + turns % (peer.endPath - peer.firstPath);
  }

  /**
   * Time of delivery, but for by how much the path is longer.
   *
   * @param byteTime in 1/1024 ns
   */
  private static long deliveryNs(LocalQueue queue, long onPath, long byteTime) {
    return (byteTime * Math.max(onPath, queue.backlogBytes()) >> 10) + queue.unequalNs();
  }

  /**
   * {@link #chooseAsking} by what lies together in the window: of that path alone which comes out
   * it is asked whether its rail has room and its next hop is known. Which path is the least
   * changes with each frame, so no branch depends on it.
   *
   * @return -1 when it takes more than that
   */
  int chooseByTerms(Peer peer, int copies) {
    assert termsStand(peer) : "a path changed, and its terms did not";
    SendWindow window = peer.window;
    LocalQueue[] queues = core.localQueues;
    int first = peer.firstPath;
    int end = peer.endPath;
    int turn = turn(peer, copies);
    int path = turn;
    // Time of delivery and, below it, how soon it is the path's turn.
    long least = Long.MAX_VALUE;
    boolean inUse = false;
    window.list();
    for (int i = 0; i < end - first; i++) {
      long at = window.termsAt(path);
      long onPath = SendWindow.listedBytes(at);
      long terms = SendWindow.terms(at);
      path = path + 1 == end ? first : path + 1;
      long windowBytes = SendWindow.windowBytes(terms);
      if (onPath << 1 >= windowBytes) {
        if (terms < 0) {
          return -1;
        }
        inUse = true;
        if (onPath >= windowBytes) {
          continue;
        }
      }
      LocalQueue queue = queues[SendWindow.railOf(terms)];
      long deliveryNs =
          deliveryNs(queue, onPath, SendWindow.byteTime(at)) + SendWindow.longerNs(terms);
      least = Math.min(least, deliveryNs >> EQUAL_NS_BITS << TURN_BITS | i);
    }
    if (least == Long.MAX_VALUE) {
      return -1;
    }
    int best = turn + (int) (least & TURN_MASK);
    // Whether it lies behind the last one is as likely as not, so that is no branch either.
    return take(peer, best - (end - first & end - 1 - best >> 31), inUse);
  }

  /**
   * The path that comes out of a choice, if its rail has room and its next hop is known.
   *
   * @param inUse some path's window may be in use
   */
  private int take(Peer peer, int best, boolean inUse) {
    PathState state = peer.paths[best];
    long mac = core.routing.nextHopMac(peer.node, best);
    if (mac == 0 || state.queue.isFull()) {
      return -1;
    }
    if (inUse) {
      noteUse(peer);
    }
    state.leadTo(mac);
    long at = peer.window.termsAt(best);
    state.roomBytes = SendWindow.windowBytes(SendWindow.terms(at)) - SendWindow.listedBytes(at);
    return best;
  }

  /** Windows of which half or more is in use may grow. */
  private static void noteUse(Peer peer) {
    for (int path = peer.firstPath; path < peer.endPath; path++) {
      PathState state = peer.paths[path];
      if (state.takesNew() && peer.window.bytesOn(path) << 1 >= state.window.bytes()) {
        state.window.used();
      }
    }
  }

  /** {@link #choose}, each path asked about all of it. */
  int chooseAsking(Peer peer, int copies) {
    SendWindow window = peer.window;
    Routing routing = core.routing;
    PathState[] paths = peer.paths;
    int end = peer.endPath;
    int best = -1;
    long least = Long.MAX_VALUE;
    long bestMac = 0;
    int path = turn(peer, copies);
    for (int i = peer.firstPath; i < end; i++) {
      PathState state = paths[path];
      long onPath = window.bytesOn(path);
      if (state.takesNew() && hasRoom(state, onPath)) {
        long deliveryNs = deliveryNs(state.queue, onPath, state.byteTime()) + state.longerNs;
        long delivery = deliveryNs >> EQUAL_NS_BITS;
        if (delivery < least && state.rail.hasLocalRoom()) {
          long mac = routing.nextHopMac(peer.node, path);
          if (mac != 0) {
            least = delivery;
            best = path;
            bestMac = mac;
            state.roomBytes = state.window.bytes() - onPath;
          } else if (state.probesUnanswered == 0) {
            // A neighbour that was taken for gone: nothing on the path would have it given up.
            sendProbe(peer, path);
          }
        }
      }
      path = path + 1 == end ? peer.firstPath : path + 1;
    }
    if (best >= 0) {
      paths[best].leadTo(bestMac);
    }
    return best;
  }

  /**
   * To be called when something changed that a choice reads of a path. An only path is never chosen
   * by it.
   */
  void enterTerms(Peer peer, PathState state) {
    if (peer.paths.length > 1) {
      boolean ask = state.takesNew() && core.nowNs - state.pacedUntilNs < 0;
      peer.window.terms(
          state.path,
          state.byteTime(),
          ask || !state.takesNew() ? 0 : state.window.bytes(),
          state.rail.index,
          state.longerNs,
          ask);
      if (state.longerNs > 0) {
        peer.mayDiffer |= Peer.LONGER;
      }
    }
  }

  /** Whether the window says of all paths in use what they are, or to ask them. For assertions. */
  private static boolean termsStand(Peer peer) {
    for (int path = peer.firstPath; path < peer.endPath; path++) {
      PathState state = peer.paths[path];
      long at = peer.window.termsAt(path);
      long terms = SendWindow.terms(at);
      long windowBytes = state.takesNew() ? state.window.bytes() : 0;
      if (terms >= 0
          && (SendWindow.windowBytes(terms) != windowBytes
              || SendWindow.railOf(terms) != state.rail.index
              || SendWindow.longerNs(terms) != state.longerNs
              || SendWindow.byteTime(at) != state.byteTime())) {
        return false;
      }
    }
    return true;
  }

  /** Whether a path's window takes another frame; notes that it is in use. */
  private boolean hasRoom(PathState state, long onPath) {
    long windowBytes = state.window.bytes();
    if (onPath << 1 >= windowBytes) {
      state.window.used();
    }
    return onPath < windowBytes && (onPath > 0 || core.nowNs - state.pacedUntilNs >= 0);
  }

  /** A frame is about to go where none is on its way: a sign of life is owed from now on. */
  void beginWait(Peer peer, PathState state, int bytes) {
    peer.watchedPaths |= 1L << state.path;
    state.waitFrom(core.nowNs);
    long windowBytes = state.window.bytes();
    if (windowBytes < bytes) {
      state.pacedUntilNs = core.nowNs + state.smoothedRttNs * bytes / windowBytes;
      enterTerms(peer, state);
    }
  }

  // --- acknowledgement ----------------------------------------------------------------------

  /**
   * The peer has frames that were transmitted once, on this path.
   *
   * @param index of the last of them
   * @param rttNs time since its transmission
   */
  void onAcknowledged(Peer peer, int path, int index, int frames, int bytes, long rttNs) {
    PathState state = peer.paths[path];
    state.freshBytes += bytes;
    state.freshFrames += frames;
    if (Serial.after(index, state.settledIndex) || (peer.freshPaths >>> path & 1) == 0) {
      state.settledIndex = Serial.max(state.settledIndex, index);
      state.freshRttNs = rttNs;
    }
    peer.freshPaths |= 1L << path;
    long sentNs = core.nowNs - rttNs;
    if (sentNs - peer.freshSentNs > 0) {
      peer.freshSentNs = sentNs;
    }
  }

  /**
   * Ends the reading of an acknowledgement: enters what it says of each path. A path is FIFO: what
   * was sent on it before a frame that arrived, and did not, is lost.
   */
  void settle(Peer peer) {
    int received = peer.received();
    boolean bothWays = received != peer.receivedAtSettling;
    peer.receivedAtSettling = received;
    long fresh = peer.freshPaths;
    peer.freshPaths = 0;
    if ((fresh & fresh - 1) != 0) {
      for (; fresh != 0; fresh &= fresh - 1) {
        settle(peer, Long.numberOfTrailingZeros(fresh), bothWays);
      }
    } else if (fresh != 0) {
      // One path as a rule, and then no loop to be set up.
      settle(peer, Long.numberOfTrailingZeros(fresh), bothWays);
    }
    peer.newestSentNs = peer.freshSentNs;
  }

  private void settle(Peer peer, int path, boolean bothWays) {
    PathState state = peer.paths[path];
    enter(peer, state, bothWays);
    if (peer.window.mayPrecede(path, state.settledIndex)) {
      loseBefore(peer, path, state.settledIndex);
    }
  }

  private void enter(Peer peer, PathState state, boolean bothWays) {
    state.evidence(core.nowNs);
    if (state.late) {
      state.late = false;
      state.sparedUntilNs = core.nowNs + SPARED_NS;
      enterTerms(peer, state);
    }
    long gapsNs = gapsNs(peer);
    if (state.sampleRtt(state.freshRttNs, peer.longWayNs, gapsNs, core.nowNs)) {
      state.arrivedSentNs = core.nowNs - state.freshRttNs;
      state.arrivedBehind(peer.newestSentNs);
      int hops = state.hops;
      long ownLeastNs = Math.max(0, state.leastRttNs - peer.longWayNs);
      Memory.readAnew();
      leastRttNs[hops] = Math.min(leastRttNs[hops], ownLeastNs);
      state.window.onAcknowledged(
          state.freshBytes,
          state.freshRttNs,
          state.smoothedRttNs,
          leastRttNs[hops] + peer.longWayNs,
          state.rail.frameNs() * hops,
          bothWays,
          gapsNs * hops + state.scatterNs(),
          core.nowNs);
      Memory.readAnew();
      state.rate();
      state.longerNs =
          Math.clamp(ownLeastNs - 2 * leastRttNs[hops] - ALIKE_NS, 0, Integer.MAX_VALUE);
      enterTerms(peer, state);
    }
    state.arrived(state.freshFrames);
    state.freshFrames = 0;
    state.freshBytes = 0;
  }

  /** Between polls of the two sides, at worst of late. */
  private long gapsNs(Peer peer) {
    return core.pollGapNs + peer.peerPollGapNs;
  }

  /** Compiled by itself (scripts/jvm.args): what looks for a path's first frame is long. */
  private void loseBefore(Peer peer, int path, int index) {
    SendWindow window = peer.window;
    int lost = 0;
    while (!window.isEmpty(path) && Serial.before(window.pathIndex(window.firstOf(path)), index)) {
      window.lose(window.firstOf(path));
      lost++;
    }
    if (lost > 0) {
      onLoss(peer, path, lost);
    }
  }

  private void onLoss(Peer peer, int path, int lost) {
    peer.window.endChoice();
    PathState state = peer.paths[path];
    boolean queued = state.window.onLoss(state.smoothedRttNs, core.nowNs);
    enterTerms(peer, state);
    if (!queued) {
      state.lost(lost);
      if (state.lossShare >= GREY_SHARE && anotherIsBetter(peer, state)) {
        evict(peer, path);
        state.answersToReturn = Math.max(state.answersToReturn, ANSWERS_OF_GREY);
      }
    }
  }

  /** Whether another path in use loses less than half as much. */
  private static boolean anotherIsBetter(Peer peer, PathState than) {
    for (PathState other : peer.paths) {
      if (other != than && other.takesNew() && other.lossShare * 2 < than.lossShare) {
        return true;
      }
    }
    return false;
  }

  // --- probes -------------------------------------------------------------------------------

  /**
   * To be called before a round of {@link #tick}.
   *
   * @param ns since the last look at the same peers, on the patience clock
   */
  void roundBegins(long ns) {
    lookedNs = ns;
  }

  /** Looks after the paths to a peer; called by the timer. */
  void tick(Peer peer) {
    // Of a quiet peer no more than this is read: of thousands each line counts.
    if (peer.watchedPaths != 0) {
      tickWatched(peer);
    }
    if ((peer.mayDiffer & Peer.LONGER) != 0) {
      measureAgain(peer);
    }
  }

  private void tickWatched(Peer peer) {
    if (peer.endPath - peer.firstPath > 1
        && (mayBeSlow(peer) || (peer.mayDiffer & Peer.SLOW) != 0)) {
      noteSlow(peer);
    }
    long gapsNs = gapsNs(peer);
    boolean unanswered = false;
    for (long watched = peer.watchedPaths; watched != 0; watched &= watched - 1) {
      int path = Long.numberOfTrailingZeros(watched);
      PathState state = peer.paths[path];
      if (state.evicted) {
        tickEvicted(peer, path);
      } else if (state.late || !peer.window.isEmpty(path) || state.probesUnanswered > 0) {
        tickUsed(peer, path, gapsNs);
        unanswered |= state.probesUnanswered >= PROBES_TO_EVICT;
      } else if (peer.window.nothingLost()) {
        peer.watchedPaths &= ~(1L << path);
      }
    }
    if (unanswered) {
      // What the peer told of its polls wears off: hearing nothing of us, it tells no better.
      peer.peerPollGapNs = Math.max(0, peer.peerPollGapNs - (lookedNs >> GAP_WEARS_BITS));
    }
  }

  /**
   * Whether {@link #noteSlow} would find a slow path. False is certain, as nearly always: so much
   * the window's few lines tell, where nine paths would be twenty.
   */
  private static boolean mayBeSlow(Peer peer) {
    SendWindow window = peer.window;
    long least = Long.MAX_VALUE;
    long most = 0;
    for (int path = peer.firstPath; path < peer.endPath; path++) {
      long byteTime = SendWindow.byteTime(window.termsAt(path));
      assert byteTime == peer.paths[path].byteTime() : "a path changed, and its terms did not";
      if (byteTime != 0) {
        least = Math.min(least, byteTime);
      }
      if (byteTime > most && !window.isEmpty(path)) {
        most = byteTime;
      }
    }
    return most >> 1 > least;
  }

  /**
   * Enters which paths are slow beside the fastest: of those with frames on their way alone, for
   * what was measured of others is old, and they have no queue of ours. So none is slow when no
   * path is watched.
   */
  private static void noteSlow(Peer peer) {
    long least = Long.MAX_VALUE;
    boolean anySlow = false;
    for (int path = peer.firstPath; path < peer.endPath; path++) {
      PathState state = peer.paths[path];
      long byteTime = state.byteTime();
      if (state.isTrusted() && byteTime != 0) {
        least = Math.min(least, byteTime);
      }
    }
    for (int path = peer.firstPath; path < peer.endPath; path++) {
      PathState state = peer.paths[path];
      state.isSlow = state.byteTime() >> 1 > least && !peer.window.isEmpty(path);
      anySlow |= state.isSlow;
    }
    if (anySlow) {
      peer.mayDiffer |= Peer.SLOW;
    } else {
      peer.mayDiffer &= ~Peer.SLOW;
    }
  }

  /**
   * A path that seems longer than others carries little, so that nothing would show that its answer
   * was late by chance: its host had just started, or was held up.
   */
  private void measureAgain(Peer peer) {
    boolean goesOn = false;
    for (int path = peer.firstPath; path < peer.endPath; path++) {
      PathState state = peer.paths[path];
      if (state.longerNs > 0 && state.measuredAgain < MEASURED_AGAIN_MAX) {
        goesOn = true;
        if (state.probesUnanswered == 0
            && core.nowNs - state.probeSentNs >= MEASURED_AGAIN_NS << state.measuredAgain
            && isLongerThanAnother(peer, state)
            && mayAsk(state)) {
          state.measuredAgain++;
          sendProbe(peer, path);
        }
      }
    }
    if (!goesOn) {
      peer.mayDiffer &= ~Peer.LONGER;
    }
  }

  /** Whether a choice avoids the path: another of those in use was measured, and is shorter. */
  private static boolean isLongerThanAnother(Peer peer, PathState than) {
    if (than.evicted) {
      return false;
    }
    for (int path = peer.firstPath; path < peer.endPath; path++) {
      PathState other = peer.paths[path];
      if (!other.evicted && other.smoothedRttNs != 0 && other.longerNs < than.longerNs) {
        return true;
      }
    }
    return false;
  }

  /**
   * When {@link #tick} asks over a path next, or sends its frames again, if nothing is heard until
   * then.
   *
   * @param careNs the answer where a path owes an answer already, and may be given up
   */
  long nextProbeNs(Peer peer, long careNs) {
    long gapsNs = gapsNs(peer);
    long next = Long.MAX_VALUE;
    for (long watched = peer.watchedPaths; watched != 0; watched &= watched - 1) {
      int path = Long.numberOfTrailingZeros(watched);
      PathState state = peer.paths[path];
      if (state.evicted) {
        next = Math.min(next, nextOfEvictedNs(state));
      } else if (state.late) {
        next = Math.min(next, careNs);
      } else {
        next = Math.min(next, nextOfUsedNs(peer, state, gapsNs, careNs));
      }
    }
    return next;
  }

  private long nextOfEvictedNs(PathState state) {
    long dueNs = state.probeSentNs + evictedIntervalNs(state);
    long roomAtNs = state.rail.probes.roomAtNs(core.nowNs, probeNs(state.rail));
    // By difference: a clock's zero may be anywhere.
    long mostNs = state.probeSentNs + evictedMostNs(state) - dueNs;
    return dueNs + Math.max(0, Math.min(roomAtNs - dueNs, mostNs));
  }

  private long nextOfUsedNs(Peer peer, PathState state, long gapsNs, long careNs) {
    boolean asked = state.probesUnanswered > 0;
    if (peer.window.isEmpty(state.path)) {
      return asked ? careNs : Long.MAX_VALUE;
    }
    long askNs = state.owedSinceNs() + state.probeTimeoutNs(floorNs(state, gapsNs));
    return Math.min(asked ? careNs : askNs, lateNs(peer, state, gapsNs));
  }

  /**
   * Whether something on its way to a peer will come to an end: what waits for a window then finds
   * one. Else it waits for a path, or for its turn in time.
   */
  boolean isAwaited(Peer peer) {
    for (int path = peer.firstPath; path < peer.endPath; path++) {
      if (!peer.paths[path].evicted && !peer.window.isEmpty(path)) {
        return true;
      }
    }
    return false;
  }

  private long evictedIntervalNs(PathState state) {
    long intervalNs = EVICTED_PROBE_NS << Math.min(state.probesUnanswered >> 2, 5);
    long shareNs = state.rail.probes.evictedIntervalNs(probeNs(state.rail));
    return Math.max(intervalNs, Math.max(Math.min(shareNs, seldomNs()), state.answerTimeNs(0)));
  }

  /** So far apart are the probes of an evicted path for which its rail has room, at most. */
  private long seldomNs() {
    return core.config.peerTimeoutNs() / EVICTED_PROBES_IN_TIMEOUT;
  }

  /**
   * After so long an evicted path is asked whether its rail has room or not: where they want more
   * than the pace, the same ones would take all of it.
   */
  private long evictedMostNs(PathState state) {
    return 2 * Math.max(seldomNs(), state.answerTimeNs(0));
  }

  private long probeNs(Rail rail) {
    return ProbePace.eachNs(rail.frameNs(), core.pollGapNs);
  }

  /** For a question on whose answer no frame waits; who may not ask now asks later. */
  private boolean mayAsk(PathState state) {
    return state.rail.probes.hasRoom(core.nowNs, probeNs(state.rail));
  }

  /** Relays stand still as hosts do. */
  private static long floorNs(PathState state, long gapsNs) {
    return Math.max(PROBE_FLOOR_NS, gapsNs * state.hops);
  }

  private void tickEvicted(Peer peer, int path) {
    PathState state = peer.paths[path];
    long sinceNs = core.nowNs - state.probeSentNs;
    if (sinceNs >= evictedIntervalNs(state) && (mayAsk(state) || sinceNs >= evictedMostNs(state))) {
      sendProbe(peer, path);
    }
  }

  private void tickUsed(Peer peer, int path, long gapsNs) {
    PathState state = peer.paths[path];
    long floorNs = floorNs(state, gapsNs);
    long sinceNs = state.probesUnanswered == 0 ? state.owedSinceNs() : state.probeSentNs;
    if (core.nowNs - sinceNs >= state.probeTimeoutNs(floorNs)) {
      sendProbe(peer, path);
    }
    if (isLate(peer, state, gapsNs)) {
      sendAgain(peer, state);
    }
    if (state.probesUnanswered > 1) {
      compareWithOthers(peer, state);
    }
    if (state.probesUnanswered >= PROBES_TO_EVICT
        && core.nowNs - state.firstProbeNs >= evictionNs(peer, state, floorNs)) {
      if (anotherPathLives(peer, state)) {
        evict(peer, path);
      } else {
        takeBack(peer, state);
      }
    }
  }

  /**
   * None of those in use lives any more: the evicted ones that do are more than none, whatever they
   * owe. Their answers are signs of life, so the peer would never count as down.
   */
  private void takeBack(Peer peer, PathState dead) {
    for (PathState state : peer.paths) {
      if (state.evicted
          && state.answersInRow >= ANSWERS_WHERE_NONE_LIVES
          && state.evidenceNs - dead.firstProbeNs > 0) {
        returnToUse(peer, state);
      }
    }
  }

  private void returnToUse(Peer peer, PathState state) {
    state.evicted = false;
    state.rail.probes.ended();
    enterTerms(peer, state);
    state.returnedNs = core.nowNs;
    core.counters.increment(Counter.PATHS_RESTORED);
    chooseOrder(peer);
  }

  /**
   * How long after the first question a path may be given up. Nothing waits for a path that is late
   * or without frames of ours; of the latter the round trips were measured when the peer's data was
   * not in front of the answers.
   */
  private static long evictionNs(Peer peer, PathState state, long floorNs) {
    long answerNs = state.answerTimeNs(floorNs);
    if (state.late) {
      int times = anotherTakesNew(peer, state) ? ANSWER_TIMES_TO_EVICT_LATE : ANSWER_TIMES_TO_EVICT;
      return times * answerNs;
    }
    long evictionNs = ANSWER_TIMES_TO_EVICT * answerNs;
    return peer.window.isEmpty(state.path) ? Math.max(evictionNs, IDLE_EVICTION_NS) : evictionNs;
  }

  private static boolean anotherTakesNew(Peer peer, PathState than) {
    for (int path = peer.firstPath; path < peer.endPath; path++) {
      PathState other = peer.paths[path];
      if (other != than && other.takesNew()) {
        return true;
      }
    }
    return false;
  }

  /** Whether frames of the path are late by now. */
  private boolean isLate(Peer peer, PathState state, long gapsNs) {
    // Nearly always it is too early, and that much of lateNs is asked at once.
    return core.nowNs - state.owedSinceNs()
            >= Math.max(state.usualRttNs() >> LATE_BITS, LATE_FLOOR_NS)
        && !peer.window.isEmpty(state.path)
        && core.nowNs - lateNs(peer, state, gapsNs) >= 0;
  }

  /**
   * When frames of the path are late, if nothing is heard until then: what was sent over another
   * path in use a certain time behind them has arrived, more than twice as much as paths were apart
   * of late. So it is neither the peer nor the skew between paths, nor, as a rule, one of the two
   * ends that stood still, which delays all paths alike but for those that it had just read. It may
   * be a host between them: therefore the gaps between polls count behind relays.
   *
   * @param state of a path with frames on their way
   * @return {@link #NEVER_NS} from now when nothing that arrived was sent so much later
   */
  private long lateNs(Peer peer, PathState state, long gapsNs) {
    SendWindow window = peer.window;
    long usualNs = state.usualRttNs();
    long relaysNs = gapsNs * (state.hops - 1);
    long apartNs = 2 * Math.max(state.behindNs, state.rail.frameNs() * state.hops);
    long scatterNs = (usualNs >> LATE_BITS) + state.rttVariationNs;
    long beyondNs = Math.max(apartNs + scatterNs, LATE_FLOOR_NS) + relaysNs / 2;
    long sentNs = core.nowNs - window.sinceSentNs(window.firstOf(state.path), core.nowNs);
    // Of those in use: so another is left.
    for (int path = peer.firstPath; path < peer.endPath; path++) {
      PathState other = peer.paths[path];
      if (other != state && other.takesNew() && other.arrivedSentNs - sentNs >= beyondNs) {
        long owedNs = state.owedSinceNs() - sentNs;
        long ageNs = Math.max(owedNs, Math.max(usualNs, relaysNs)) + beyondNs;
        return sentNs + Math.max(ageNs, state.sparedUntilNs - sentNs);
      }
    }
    return core.nowNs + NEVER_NS;
  }

  /**
   * What is on a path goes again by others, for the peer waits for it, and new frames avoid the
   * path until it answers. That it is dead is not said with that: its losses are no sign of a
   * queue, and it is not given up. If it lives, a window's frames arrive twice.
   */
  private void sendAgain(Peer peer, PathState state) {
    state.late = true;
    enterTerms(peer, state);
    core.counters.increment(Counter.PATHS_LATE);
    peer.window.endChoice();
    if (state.probesUnanswered == 0) {
      // Where there is no buffer for it, the timer tries again.
      sendProbe(peer, state.path);
    }
    SendWindow window = peer.window;
    while (!window.isEmpty(state.path)) {
      window.lose(window.firstOf(state.path));
    }
  }

  /** A session ended: no path of it is asked any more. */
  void end(Peer peer) {
    for (PathState state : peer.paths) {
      if (state.evicted) {
        state.rail.probes.ended();
      }
    }
  }

  /** A session opened: every path is asked, so that its length is known before data fills it. */
  void begin(Peer peer) {
    assert core.isOwner();
    peer.freshSentNs = core.nowNs;
    peer.newestSentNs = core.nowNs;
    peer.freshPaths = 0;
    peer.watchedPaths = 0;
    peer.mayDiffer = 0;
    peer.use(0, core.routing.firstChoiceCount(peer.node));
    for (PathState state : peer.paths) {
      enterTerms(peer, state);
    }
    for (int path = 0; path < peer.endPath; path++) {
      sendProbe(peer, path);
    }
  }

  /**
   * A path was evicted or returned. While no path of first choice lives the detours are used, which
   * go through other relays; where there is none, what there is.
   */
  void chooseOrder(Peer peer) {
    int firstChoices = core.routing.firstChoiceCount(peer.node);
    boolean lives = peer.paths.length == firstChoices;
    for (int path = 0; path < firstChoices && !lives; path++) {
      lives = !peer.paths[path].evicted;
    }
    if (lives != (peer.firstPath == 0)) {
      peer.use(lives ? 0 : firstChoices, lives ? firstChoices : peer.paths.length);
      // Which are slow is asked of those in use alone: of the others it would stay for ever.
      for (PathState state : peer.paths) {
        state.isSlow = false;
      }
      peer.mayDiffer &= ~Peer.SLOW;
      core.counters.increment(lives ? Counter.DETOURS_ENDED : Counter.DETOURS_BEGUN);
    }
  }

  /**
   * The peer asks: it misses what we sent, perhaps. The paths from here go through other relays
   * than its own, so they may die apart; and who sends no data would never find out that its
   * acknowledgements vanish. So the paths in use are asked too, unless one of them answered of
   * late.
   */
  void doubt(Peer peer) {
    for (int path = peer.firstPath; path < peer.endPath; path++) {
      PathState state = peer.paths[path];
      if (!state.evicted
          && state.probesUnanswered == 0
          && core.nowNs - state.evidenceNs >= Math.max(DOUBT_NS, state.answerTimeNs(0))
          && mayAsk(state)) {
        sendProbe(peer, path);
      }
    }
  }

  /**
   * Nothing was heard of the peer for a while. One question is enough to hear from a peer that has
   * nothing to say, and of many peers with many paths each a question over each would be most of
   * what an idle machine sends; one that stays without an answer is followed by those over the
   * others ({@link #compareWithOthers}).
   *
   * @param widely over the others too, but for the evicted ones, which are asked anyway; else over
   *     the one in use that gave no sign of life for longest
   */
  void askForLife(Peer peer, boolean widely) {
    int oldest = -1;
    for (int path = peer.firstPath; path < peer.endPath; path++) {
      PathState state = peer.paths[path];
      if (!state.evicted && (oldest < 0 || state.evidenceNs - peer.paths[oldest].evidenceNs < 0)) {
        oldest = path;
      }
    }
    if (oldest >= 0) {
      sendProbe(peer, oldest);
    }
    for (int path = 0; widely && path < peer.endPath; path++) {
      PathState state = peer.paths[path];
      if (path != oldest && !state.evicted && mayAsk(state)) {
        sendProbe(peer, path);
      }
    }
  }

  /** Asks over one path for an answer. It queues behind the data of that path: still FIFO. */
  void sendProbe(Peer peer, int path) {
    assert core.isOwner();
    PathState state = peer.paths[path];
    state.probeSentNs = core.nowNs;
    peer.watchedPaths |= 1L << path;
    if (core.routing.nextHopMac(peer.node, path) == 0) {
      // A neighbour that is not known does not answer either.
      owesAnswer(state);
      return;
    }
    Rail rail = state.rail;
    if (!rail.hasLocalRoom()) {
      core.counters.drop(DropReason.TRANSMIT_QUEUE_FULL);
      return;
    }
    int id = core.controlBuffer();
    if (id == 0) {
      return;
    }
    owesAnswer(state);
    rail.probes.asked(core.nowNs, probeNs(rail));
    long at = core.pool.frameAt(id);
    FrameHeader.payloadInt(core.frames, at, 0, path);
    FrameHeader.payloadInt(core.frames, at, 4, peer.takeIndex(state));
    FrameHeader.payloadLong(core.frames, at, 8, core.nowNs);
    core.sealControl(id, FrameHeader.PROBE, peer, peer.session, PROBE_BYTES);
    core.address(at, peer.node, path, 0);
    boolean queued = rail.putLocal(id, FrameHeader.BYTES + PROBE_BYTES + core.tagBytes);
    assert queued : "a queue that had room took nothing";
    core.counters.increment(Counter.PROBES_SENT);
  }

  private void owesAnswer(PathState state) {
    if (state.probesUnanswered++ == 0) {
      state.firstProbeNs = core.nowNs;
    }
  }

  /** The peer answered a probe; its acknowledgement was processed before. */
  void onProbeReply(Peer peer, int path, int index, long sentNs) {
    if (path < 0
        || path >= peer.paths.length
        || !Serial.before(index, peer.nextIndex(peer.paths[path]))) {
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
    // By what was sent, not by when answers come: a peer that polls seldom, or a long way, brings
    // several at a time. Nothing but probes goes by an evicted path, and a path is FIFO.
    boolean inRow = index == state.settledIndex;
    state.settledIndex = index + 1;
    long rttNs = core.nowNs - sentNs;
    boolean last = sentNs == state.probeSentNs;
    state.freshRttNs = last ? rttNs : PathState.NO_RTT;
    if (!last
        && peer.window.isEmpty(path)
        && sentNs - state.firstProbeNs >= 0
        && sentNs - state.probeSentNs < 0) {
      // It was asked again too soon, and nothing else tells that: no frame of ours is on its way.
      state.sampleRtt(rttNs, peer.longWayNs, gapsNs(peer), core.nowNs);
    }
    peer.freshPaths |= 1L << path;
    state.answersInRow = inRow ? state.answersInRow + 1 : 1;
    if (state.evicted && state.answersInRow >= state.answersToReturn) {
      returnToUse(peer, state);
    }
  }

  /** Is it this path, or the peer? Idle paths say nothing by themselves, so they are asked. */
  private void compareWithOthers(Peer peer, PathState suspect) {
    for (int path = 0; path < peer.paths.length; path++) {
      PathState other = peer.paths[path];
      if (other != suspect
          && !other.evicted
          && other.probesUnanswered == 0
          && other.evidenceNs - suspect.firstProbeNs <= 0
          && mayAsk(other)) {
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
    assert core.isOwner();
    PathState state = peer.paths[path];
    boolean flaps = core.nowNs - state.returnedNs < FLAPPING_NS && state.returnedNs != 0;
    state.answersToReturn = flaps ? Math.min(state.answersToReturn * 2, ANSWERS_MAX) : 1;
    state.answersInRow = 0;
    state.lossShare = 0;
    state.evicted = true;
    state.rail.probes.evicted();
    state.late = false;
    enterTerms(peer, state);
    core.counters.increment(Counter.PATHS_EVICTED);
    peer.window.endChoice();
    SendWindow window = peer.window;
    while (!window.isEmpty(path)) {
      window.lose(window.firstOf(path));
    }
    chooseOrder(peer);
  }
}
