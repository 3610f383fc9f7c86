package org.pmhxb.pm;

/**
 * The latest moment of a node's next round if nothing arrives. What a frame brings needs no
 * deadline here: the port's descriptor wakes who sleeps. So it is the timers' moments (PROTOCOL.md
 * sections 5.4 to 5.6), announcements, the credit that was asked for, and room at a port: no
 * descriptor tells of that (a packet socket's ring is writable long before the link is), so it is
 * reckoned from the rate at which the port's backlog leaves. A node that has quit repeats its CLOSE
 * without a deadline for it: whoever lets it leave runs rounds all the time. Owner: the poll
 * thread.
 */
final class Deadlines {
  /** Longest sleep of a node that waits for nothing. */
  private static final long IDLE_NS = 10_000_000L;

  /** What the timers do when nobody can say when: a path that is in doubt. */
  private static final long CARE_NS = 500_000L;

  /** From the first news until they are worth an acknowledgement, and a little. */
  private static final long NEWS_NS = 50_000L;

  /** Least time between two looks at a port: a sleep of less is none. */
  private static final long ROOM_NS_MIN = 50_000L;

  private final NodeCore core;
  private final Paths paths;
  private final Acknowledger acknowledger;

  Deadlines(NodeCore core, Paths paths, Acknowledger acknowledger) {
    this.core = core;
    this.paths = paths;
    this.acknowledger = acknowledger;
  }

  /**
   * @param timerDueNs when the timers look next; what they do is not done before
   */
  long next(long nowNs, long timerDueNs) {
    long next = Math.min(nowNs + IDLE_NS, core.collectives.nextDeadlineNs(nowNs));
    if (acknowledger.hasNews()) {
      next = Math.min(next, nowNs + NEWS_NS);
    }
    for (Rail rail : core.rails) {
      if (!rail.isIdle()) {
        next = Math.min(next, nowNs + Math.max(ROOM_NS_MIN, rail.untilRoomNs()));
      }
    }
    next = Math.min(next, Math.max(timerDueNs, core.routing.nextLinkWorkNs(nowNs)));
    for (int i = 0; i < core.activeCount; i++) {
      next = Math.min(next, Math.max(timerDueNs, timerOf(core.active[i], nowNs)));
    }
    return next;
  }

  private long timerOf(Peer peer, long nowNs) {
    return switch (peer.state) {
      case OPENING -> Math.min(nowNs + IDLE_NS, nextOpeningNs(peer, nowNs));
      case UP -> {
        long careNs = waitsForPath(peer) ? CARE_NS : IDLE_NS;
        long due = Math.min(nowNs + careNs, paths.nextProbeNs(peer, nowNs + CARE_NS));
        yield nextCreditRequestNs(peer, due);
      }
      default -> nowNs + IDLE_NS;
    };
  }

  /** The next OPEN, or the moment when the peer counts as unreachable. */
  private long nextOpeningNs(Peer peer, long nowNs) {
    Handshake mine = peer.handshake;
    long openNs = mine.openSentNs + mine.openIntervalNs;
    long silentNs = core.patienceNs - peer.heardAt;
    return mine.unreachable
        ? openNs
        : Math.min(openNs, nowNs + core.config.peerTimeoutNs() - silentNs);
  }

  /** A new frame for a window that nothing will empty, a lost one for a path or a buffer. */
  private boolean waitsForPath(Peer peer) {
    return !peer.window.nothingLost() || peer.pendingHead != 0 && !paths.isAwaited(peer);
  }

  private static long nextCreditRequestNs(Peer peer, long latestNs) {
    long next = latestNs;
    for (int i = 0; i < peer.outLaneCount; i++) {
      Lane lane = peer.outLanes[i];
      if (lane.creditWanted) {
        next = Math.min(next, lane.creditAskedNs + lane.creditAskIntervalNs);
      }
    }
    return next;
  }
}
