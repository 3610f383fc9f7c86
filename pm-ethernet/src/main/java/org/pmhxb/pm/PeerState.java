package org.pmhxb.pm;

/** State of a node's session with one peer (PROTOCOL.md section 4). */
public enum PeerState {
  /** No session yet, none wanted. */
  IDLE,
  /** The handshake is under way. */
  OPENING,
  /** A session is open. */
  UP,
  /** The last session ended; a new claim starts another. */
  DOWN
}
