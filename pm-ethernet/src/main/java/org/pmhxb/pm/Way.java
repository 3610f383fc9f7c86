package org.pmhxb.pm;

import org.pmhxb.pm.flow.SendWindow;

/**
 * What each acknowledgement on a path reads, and the choice of the path of new frames. A superclass
 * of {@link PathState}, because the JVM lays fields out class by class: mixed with the others they
 * would lie in several cache lines, which counts when a hundred peers take turns. Owner: the poll
 * thread.
 */
abstract class Way {
  /** The first 24 bytes of each frame's first transmission, stored; for the present next hop. */
  long front0;

  long front1;
  long front2;

  /** The next words that the frames have in common, stored: kind and ends, key and session. */
  final long ends;

  final long keySession;

  /** What the send window is to know of path and rail. */
  final long held;

  /** Which the front words name. */
  long nextHopMac;

  /** What the path's window takes, when it was last chosen; the last frame may go beyond it. */
  long roomBytes;

  /** Which of the peer's paths. */
  final int path;

  /** Number of the next transmission on this path, unless its window counts: {@link AckState}. */
  int nextIndex;

  int probesUnanswered;

  boolean evicted;

  /**
   * What was sent over another path behind its frames has arrived, and they have not: they went
   * again, and new ones take other paths until it answers.
   */
  boolean late;

  /**
   * Frames are on their way, and a byte takes more than twice as long as on the fastest path in
   * use: what goes here is late by the queue that its data keeps.
   */
  boolean isSlow;

  /** Where frames wait for the rail of the first hop. */
  final LocalQueue queue;

  /** Routing's constant for this path. */
  final Rail rail;

  /**
   * @param ends {@code FrameHeader.stored} of what the frames' headers share, without flags
   * @param keySession the same
   */
  Way(int path, Rail rail, long ends, long keySession) {
    this.path = path;
    this.rail = rail;
    this.queue = rail.local;
    this.held = SendWindow.way(path, rail.index);
    this.ends = ends;
    this.keySession = keySession;
  }

  /** Whether control frames may rely on it. */
  final boolean isTrusted() {
    return takesNew() && probesUnanswered < Paths.PROBES_TO_EVICT;
  }

  /** Whether new frames may take it. */
  final boolean takesNew() {
    return !evicted && !late;
  }

  /** Something of each line that an acknowledgement needs. */
  final int fetch() {
    return (int) front0 + probesUnanswered;
  }
}
