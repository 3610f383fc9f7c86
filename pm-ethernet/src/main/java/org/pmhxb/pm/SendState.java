package org.pmhxb.pm;

/**
 * What each new frame to a peer reads of it beside what each received one does: with that, one
 * cache line. The rest of what sending needs lies in the window (docs/performance/send.md). See
 * {@link ReceiveState} for why it is a class of its own. Owner: the poll thread.
 */
abstract class SendState extends ReceiveState {
  /**
   * Frames accepted and not yet numbered: others may join them, or they wait for room in the window
   * or for a path. Buffer IDs, linked in {@code NodeCore.pending}.
   */
  int pendingHead;

  /** Of the path that new frames take while their choice of it stands. */
  LocalQueue queue;

  /**
   * Whether a new frame may go before any other, and has only {@link Peer#acknowledgeAll} to say;
   * by the sign alone, for who asks several things at once: negative if not.
   */
  final int mayGoNow() {
    return -pendingHead | quietNews;
  }
}
