package org.pmhxb.pm;

import org.pmhxb.bufpool.Owner;

/**
 * What each acknowledgement to a peer reads and writes: see {@link ReceiveState} for why it is a
 * class of its own. Owner: the poll thread.
 */
abstract class AckState extends SendState {
  final int node;

  /** Written last when a session opens, so that another thread that reads UP sees all of it. */
  volatile PeerState state = PeerState.IDLE;

  PathState[] paths;

  /** Paths in use are those from the first to the second, exclusive: first choices or detours. */
  byte firstPath;

  byte endPath;
  boolean ackAtOnce;

  /** A frame beyond a new gap came, and the peer was not told: at once, while the gap lasts. */
  boolean gapAtOnce;

  boolean gapKnown;
  boolean onAckList;
  boolean onUrgentList;
  int nextControlPath;
  int duplicates;

  /** Frames that the peer may have on their way, for the sequence array. */
  int orderFrames;

  /** Sum of the lanes' grants. */
  int grantedFrames;

  AckState(int node) {
    super(Owner.of(Owner.WINDOW, node));
    this.node = node;
  }

  /** Something of each line that a frame needs, and its acknowledgement. */
  final int fetchAll() {
    return fetch() + grantedFrames;
  }
}
