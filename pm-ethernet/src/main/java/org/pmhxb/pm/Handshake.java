package org.pmhxb.pm;

/**
 * How a session with a peer comes about (PROTOCOL.md section 4.1). Made when the first opening
 * begins, on either side, so that a peer to which nobody ever spoke does without. Owner: the poll
 * thread.
 */
final class Handshake {
  // --- what this node says: as initiator, or to ask for a session ---
  long myNonce;
  int myFirstSeq;
  long openSentNs;
  long openIntervalNs;

  /** As initiator: the peer asks for a new session while the old one still counts. */
  boolean reopening;

  /** Those who wait for this opening were told that the peer does not answer. */
  boolean unreachable;

  /**
   * A program or a collective asked for the session itself, not for credit: it stays wanted until
   * it is open.
   */
  boolean wanted;

  /** The peer asked for the session: it stays wanted until the peer counts as unreachable. */
  boolean wantedByPeer;

  // --- as responder: the session that the last OPEN would make; its first frame confirms it ---
  int candidateSession;
  long candidateIncarnation;
  long candidatePeerNonce;
  long candidateMyNonce;
  int candidateFirstSeq;
  int candidateMyFirstSeq;
  int candidateWindow;

  /** This node stops and ended this session; the peer has not answered yet. 0: none. */
  int closedSession;
}
