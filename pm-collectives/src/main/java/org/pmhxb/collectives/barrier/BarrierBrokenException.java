package org.pmhxb.collectives.barrier;

/** A participant is down: the barrier ends, at all others, for good. */
public final class BarrierBrokenException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int node;

  BarrierBrokenException(int number, int epoch, int node) {
    super(
        "barrier "
            + number
            + " ended with PeerDown in epoch "
            + epoch
            + ": node "
            + node
            + " is down or was unreachable; go on with a group without it, under another number");
    this.node = node;
  }

  /** The participant that is down. */
  public int node() {
    return node;
  }
}
