package org.pmhxb.pm;

/**
 * The session that an OPEN would make, as the higher node answered it; the first frame that names
 * it makes it the session (PROTOCOL.md section 4.2). Two of a peer are used again and again: who
 * sends OPENs makes nobody allocate. Owner: the poll thread.
 */
final class Candidate {
  /** 0: none. */
  int session;

  long madeNs;
  long peerIncarnation;
  long peerNonce;
  long myNonce;
  int peerFirstSeq;
  int myFirstSeq;
  int peerWindow;

  /** Whether an OPEN with these is answered as before. */
  boolean isOf(long incarnation, long nonce) {
    return session != 0 && peerNonce == nonce && peerIncarnation == incarnation;
  }
}
