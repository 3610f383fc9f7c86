package org.pmhxb.pm;

import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.flow.SendWindow;

/**
 * What each acknowledgement to a peer, and each choice of a path, reads and writes: see {@link
 * ReceiveState} for why it is a class of its own. Owner: the poll thread.
 */
abstract class AckState extends SendState {
  final int node;

  /** Written last when a session opens, so that another thread that reads UP sees all of it. */
  volatile PeerState state = PeerState.IDLE;

  PathState[] paths;

  /** The path that new frames take while their choice of it stands: {@link SendWindow#choose}. */
  PathState way;

  /** Made when a session opens. */
  SendWindow window;

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
    this.node = node;
  }

  /** Who answers for the buffers of frames that are held. */
  final int windowOwner() {
    return Owner.of(Owner.WINDOW, node);
  }

  /** New frames go by a path of the present session: what they need of it comes near. */
  final void goBy(PathState next) {
    if (way != null) {
      way.nextIndex = window.nextIndex();
    }
    way = next;
    queue = next.queue;
    window.share(next.front0, next.front1, next.front2, next.ends, next.keySession);
    window.nextIndex(next.nextIndex);
  }

  /** The index of a transmission on any path that is made now. */
  final int takeIndex(PathState path) {
    return path == way ? window.takeIndex() : path.nextIndex++;
  }

  /** The index of the next transmission on a path. */
  final int nextIndex(PathState path) {
    return path == way ? window.nextIndex() : path.nextIndex;
  }

  /** Something of each line that a frame needs, and its acknowledgement. */
  final int fetchAll() {
    return fetch() + grantedFrames;
  }
}
