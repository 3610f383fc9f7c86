package org.pmhxb.pm;

import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.flow.SendWindow;

/**
 * What each acknowledgement to a peer, each choice of a path and each look of the timer at a quiet
 * peer reads and writes beside {@link SendState}: a second cache line. See {@link ReceiveState} for
 * why it is a class of its own. Owner: the poll thread.
 */
abstract class AckState extends SendState {
  final int node;

  /**
   * Written last when a session opens, so that another thread that reads UP sees all of it, and
   * behind what is told of its end when it ends, so that one that reads DOWN sees why.
   */
  volatile PeerState state = PeerState.IDLE;

  PathState[] paths;

  /** The path that new frames take while their choice of it stands: {@link SendWindow#choose}. */
  PathState way;

  /** The path that control frames try first while there is a session. */
  private PathState controlWay;

  /** Made when a session opens. */
  SendWindow window;

  /**
   * One bit a path: it owes a sign of life, or is evicted, so the timer looks after it. While a
   * frame is lost there is one.
   */
  long watchedPaths;

  /** Paths in use are those from the first to the second, exclusive: first choices or detours. */
  byte firstPath;

  byte endPath;
  boolean ackAtOnce;

  /** A frame beyond a new gap came, and the peer was not told: at once, while the gap lasts. */
  boolean gapAtOnce;

  boolean gapKnown;
  boolean onAckList;
  boolean onUrgentList;

  /** Of several paths one may seem longer than another, so the timer measures it again. */
  static final byte LONGER = 1;

  /** Of several paths one may count as slow. */
  static final byte SLOW = 2;

  /** In what paths may differ: {@link #LONGER}, {@link #SLOW}. */
  byte mayDiffer;

  /** A sending lane may wait for credit, or for what was sent before one that is lost. */
  boolean lanesWait;

  /** Number of the path that control frames try next, of all there are. */
  private int nextControlPath;

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

  /** New frames take these paths, control frames too, and the window's choice of one is over. */
  final void use(int first, int end) {
    firstPath = (byte) first;
    endPath = (byte) end;
    window.endChoice();
    controlWay = paths[inTurn()];
  }

  private int inTurn() {
    int path = nextControlPath;
    return path < firstPath || path >= endPath ? firstPath : path;
  }

  /** The path whose turn it is with control frames, while there is a session. */
  final PathState takeControlWay() {
    PathState taken = controlWay;
    controlFrom(taken.path + 1);
    return taken;
  }

  /** The path that control frames try next, of all there are. */
  final int nextControlPath() {
    return nextControlPath;
  }

  /** Control frames try this path next. */
  final void controlFrom(int path) {
    nextControlPath = path;
    // An only path's turn comes always: the list's line is not touched for it.
    if (endPath - firstPath > 1) {
      controlWay = paths[inTurn()];
    }
  }

  /** Something of what an acknowledgement needs of its path. After the first session. */
  final int fetchControlWay() {
    return controlWay.fetch();
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
