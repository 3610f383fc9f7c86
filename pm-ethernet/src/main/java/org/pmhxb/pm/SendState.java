package org.pmhxb.pm;

import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.pm.flow.SendWindow;

/**
 * What each new frame to a peer reads and writes, behind what each received one does: see {@link
 * ReceiveState} for why it is a class of its own. Owner: the poll thread.
 */
abstract class SendState extends ReceiveState {
  /** Who answers for the buffers of frames that are held: {@link BufferPool#solely}. */
  final long heldSolely;

  /**
   * Frames accepted and not yet numbered: others may join them, or they wait for room in the window
   * or for a path. Buffer IDs, linked in {@code NodeCore.pending}.
   */
  int pendingHead;

  /** What may go by {@link #way} before the next choice; at most 0: it is due. */
  int stripeBytes;

  /** When {@link #way} was chosen. */
  long chosenNs;

  /** The path that new frames take while {@link #stripeBytes} are left of the choice. */
  PathState way;

  /** {@code way.queue}. */
  LocalQueue queue;

  /** Made when a session opens. */
  SendWindow window;

  SendState(int windowOwner) {
    this.heldSolely = BufferPool.solely(windowOwner);
  }

  /** Who answers for the buffers of frames that are held. */
  final int windowOwner() {
    return (int) heldSolely;
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
}
