package org.pmhxb.pm;

/** A session ended in the middle of an operation that needs the peer. */
public final class PeerDownException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int node;

  /**
   * @param node whose session ended
   * @param message what was under way, and what to do
   */
  public PeerDownException(int node, String message) {
    super(message);
    this.node = node;
  }

  PeerDownException(int node, long doneBytes, long lengthBytes) {
    this(
        node,
        "session with node "
            + node
            + " ended after "
            + doneBytes
            + " of "
            + lengthBytes
            + " bytes were sent; their fate is unknown: send the message again once the peer is up");
  }

  /** The node whose session ended. */
  public int node() {
    return node;
  }
}
