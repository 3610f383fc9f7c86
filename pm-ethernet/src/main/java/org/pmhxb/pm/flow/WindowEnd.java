package org.pmhxb.pm.flow;

import org.pmhxb.bufpool.BufferPool;

/**
 * What each new frame reads and writes of a {@link SendWindow}, and one that is acknowledged in its
 * turn: two cache lines with the object's header, to the last byte. A superclass of it, because the
 * JVM lays fields out class by class. Owner: the poll thread.
 */
abstract class WindowEnd {
  /** Of a sequence number, what says in which slot it is. */
  int mask;

  /** Address of the first slot. */
  long slots;

  int unacknowledged;
  int next;

  /** The frames from this on are loose; not before {@link #unacknowledged}. */
  int looseFrom;

  /** Of all frames sent so far, as a loose slot's word 1. */
  long sums;

  /** Bytes on the last run's path, as its list's word 1 has those of other paths. */
  long lastBytes;

  /** Path and rail of the last run: {@link SendWindow#way}. */
  long lastWay;

  int lastLane;

  /** Index of the next transmission on the path that new frames go by. */
  int nextIndex;

  /** Who answers for the buffers of frames that are held: {@link BufferPool#solely}. */
  final long heldSolely;

  /** When the path that new frames go by was chosen. */
  long chosenNs;

  /** What may go by it before the next choice; at most 0: it is due. */
  int choiceBytes;

  // What the headers of new frames have in common: SendWindow.share.
  long front0;
  long front1;
  long front2;
  long ends;
  long keySession;

  WindowEnd(int owner) {
    this.heldSolely = BufferPool.solely(owner);
  }
}
