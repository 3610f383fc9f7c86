package org.pmhxb.pm;

/** A session ended in the middle of a blocking call. */
public final class PeerDownException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  PeerDownException(int node, long doneBytes, long lengthBytes) {
    super(
        "session with node "
            + node
            + " ended after "
            + doneBytes
            + " of "
            + lengthBytes
            + " bytes were sent; their fate is unknown: send the message again once the peer is up");
  }
}
