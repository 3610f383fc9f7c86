package org.pmhxb.collectives.barrier;

/** A participant is down: the barrier ends, at all others, for good. */
public final class BarrierBrokenException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int node;

  /**
   * @param self the node that is told
   */
  BarrierBrokenException(int number, int epoch, int node, int self) {
    super(
        "barrier "
            + number
            + " ended with PeerDown in epoch "
            + epoch
            + (node == self
                ? ": others had sessions with this node, "
                    + node
                    + ", before, and count on where they were; all of them go on under another number"
                : ": node "
                    + node
                    + " is down or was unreachable; go on with a group without it, under another"
                    + " number"));
    this.node = node;
  }

  /** The participant that is down; this node itself where others still count its life before. */
  public int node() {
    return node;
  }
}
