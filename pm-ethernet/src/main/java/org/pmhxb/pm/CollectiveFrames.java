package org.pmhxb.pm;

import java.lang.foreign.MemorySegment;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * COLLECTIVE frames of a node (PROTOCOL.md section 3.1): three words to one node by the usual
 * paths, or to everyone on a line by one Ethernet broadcast. They are neither acknowledged nor
 * resent nor ordered, so an operation costs just the frames that its algorithm counts; what is lost
 * is the affair of the {@link CollectiveHandler}. Nothing here allocates. Owner: the poll thread.
 */
public final class CollectiveFrames {
  /** Payload of a frame to one node: three words. */
  static final int WORDS_BYTES = 3 * Long.BYTES;

  /** Payload of a frame to a line: the same, then the sender's incarnation. */
  static final int LINE_BYTES = WORDS_BYTES + Long.BYTES;

  /** Round trip of a hop, at least: what a path has not shown yet, or a host takes at times. */
  private static final long HOP_RTT_NS = 100_000L;

  private static final long ROUND_TRIP_NS_MAX = 20_000_000L;

  private final NodeCore core;
  private final Sessions sessions;
  private final PmNode node;
  private CollectiveHandler handler;

  CollectiveFrames(PmNode node, NodeCore core, Sessions sessions) {
    this.node = node;
    this.core = core;
    this.sessions = sessions;
  }

  /**
   * Names who takes part on this node; set it before the first round, or on the poll thread.
   *
   * @throws IllegalStateException there is one already
   */
  public void handler(CollectiveHandler who) {
    if (handler != null) {
      throw new IllegalStateException("node " + core.self + " has a collective handler already");
    }
    handler = who;
  }

  /** The handler, or null. */
  public CollectiveHandler handler() {
    return handler;
  }

  /**
   * Queues a frame to one node. It leaves at the end of the round, or with {@link #flush}.
   *
   * @param way which of the paths of first choice, modulo their number: ways that differ by less
   *     than the rails per dimension leave on different rails. An evicted path, and one whose
   *     frames are late, is left aside
   * @return false when it could not be: no session (it is asked for), no buffer, no room, no route
   */
  public boolean send(int to, int way, long word0, long word1, long word2) {
    Peer peer = core.peer(to);
    if (peer.state != PeerState.UP) {
      if (to == core.self) {
        throw new IllegalArgumentException("a collective frame of node " + to + " to itself");
      }
      sessions.wantOpen(peer);
      return false;
    }
    int id = core.controlBuffer();
    if (id == 0) {
      return false;
    }
    words(core.pool.frameAt(id), word0, word1, word2);
    core.sealControl(id, FrameHeader.COLLECTIVE, peer, peer.session, WORDS_BYTES);
    boolean sent = core.sendControl(id, peer, path(peer, way), WORDS_BYTES);
    if (sent) {
      core.counters.increment(Counter.COLLECTIVES_SENT);
    }
    return sent;
  }

  private int path(Peer peer, int way) {
    int path = way % core.routing.firstChoiceCount(peer.node);
    boolean usable =
        path >= peer.firstPath
            && path < peer.endPath
            && peer.paths[path].takesNew()
            && core.routing.nextHopMac(peer.node, path) != 0;
    return usable ? path : core.controlPath(peer);
  }

  /**
   * Queues a frame to everyone on the line of a rail: one frame, which the line's switch
   * multiplies. Who has no session with this node drops it.
   *
   * @param railIndex number of the rail among this node's
   * @return false when there is no buffer or no room
   */
  public boolean sendToLine(int railIndex, long word0, long word1, long word2) {
    int id = core.controlBuffer();
    if (id == 0) {
      return false;
    }
    long at = core.pool.frameAt(id);
    MemorySegment frames = core.frames;
    Rail rail = core.rails[railIndex];
    words(at, word0, word1, word2);
    FrameHeader.payloadLong(frames, at, WORDS_BYTES, core.config.incarnation());
    FrameHeader.front(frames, at, FrameHeader.BROADCAST_MAC, rail.macAddress, 1, 0, 0);
    core.sealLineFrame(at, FrameHeader.COLLECTIVE, LINE_BYTES);
    if (!rail.putControl(id, FrameHeader.BYTES + LINE_BYTES + core.tagBytes)) {
      core.counters.drop(DropReason.TRANSMIT_QUEUE_FULL);
      core.pool.release(id, Owner.NODE);
      return false;
    }
    core.counters.increment(Counter.COLLECTIVES_SENT);
    return true;
  }

  private void words(long at, long word0, long word1, long word2) {
    FrameHeader.payloadLong(core.frames, at, 0, word0);
    FrameHeader.payloadLong(core.frames, at, Long.BYTES, word1);
    FrameHeader.payloadLong(core.frames, at, 2 * Long.BYTES, word2);
  }

  /** Hands to the ports what is queued, ahead of the end of the round. */
  public void flush() {
    node.flush();
  }

  /** Asks for a session with a node, so that frames to it and from it count. */
  public void connect(int to) {
    node.connect(to);
  }

  /**
   * The time after which an answer of a node may be overdue: twice the least round trip of its
   * paths, 200 us or more, and twice the longest recent time between two of this node's duty
   * cycles: others of its kind sleep as long before their programs come to speak. Smoothed round
   * trips and the peer's own poll gap come with acknowledgements, and collective operations bring
   * none: those would be as old as the last data.
   */
  public long answerTimeNs(int to) {
    Peer peer = core.peer(to);
    long leastNs = HOP_RTT_NS * core.routing.hops(to);
    if (peer.state == PeerState.UP) {
      for (int i = peer.firstPath; i < peer.endPath; i++) {
        leastNs = Math.max(leastNs, Math.min(peer.paths[i].leastRttNs, ROUND_TRIP_NS_MAX));
      }
    }
    return 2 * Math.max(leastNs, core.cycleGapNs());
  }

  // --- from the node's duty cycle ---------------------------------------------------------------

  /** A frame of the session; its verdict as {@link Receiver} has it, 0 when it was taken. */
  int take(Peer peer, long at, int length) {
    if (length < WORDS_BYTES) {
      return DropReason.MALFORMED.code();
    }
    return hand(peer, at, false);
  }

  /** A frame to everyone on the line, whose CRC and tag hold. */
  int takeFromLine(long at, int length) {
    MemorySegment frames = core.frames;
    if (FrameHeader.key(frames, at) != core.config.key()) {
      return DropReason.KEY.code();
    }
    int src = FrameHeader.src(frames, at);
    if (src >= core.peers.length || src == core.self) {
      return DropReason.UNKNOWN_NODE.code();
    }
    if (length < LINE_BYTES) {
      return DropReason.MALFORMED.code();
    }
    Peer peer = core.peers[src];
    long incarnation = FrameHeader.payloadLong(frames, at, WORDS_BYTES);
    if (peer == null || peer.state != PeerState.UP || peer.peerIncarnation != incarnation) {
      return DropReason.NO_SESSION.code();
    }
    peer.heardAt = core.patienceNs;
    return hand(peer, at, true);
  }

  private int hand(Peer peer, long at, boolean line) {
    if (handler == null) {
      return DropReason.NO_ENDPOINT.code();
    }
    core.counters.increment(Counter.COLLECTIVES_RECEIVED);
    try {
      handler.onCollective(
          peer.node,
          line,
          FrameHeader.payloadLong(core.frames, at, 0),
          FrameHeader.payloadLong(core.frames, at, Long.BYTES),
          FrameHeader.payloadLong(core.frames, at, 2 * Long.BYTES));
    } catch (RuntimeException | Error e) {
      core.faults.keep(e);
    }
    return 0;
  }

  int doWork(long nowNs) {
    return handler == null ? 0 : handler.doWork(nowNs);
  }

  long nextDeadlineNs(long nowNs) {
    return handler == null ? Long.MAX_VALUE : handler.nextDeadlineNs(nowNs);
  }

  void peerDown(int peer, DownReason reason) {
    if (handler != null) {
      try {
        handler.onPeerDown(peer, reason);
      } catch (RuntimeException | Error e) {
        core.faults.keep(e);
      }
    }
  }
}
