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

  // --- as responder: what the last two OPENs would make; the first frame of one confirms it ---

  private Candidate last = new Candidate();

  /** A late OPEN of an earlier handshake does not cost the one that it meets its session. */
  private Candidate beforeLast = new Candidate();

  /** This node stops and ended this session; the peer has not answered yet. 0: none. */
  int closedSession;

  /** What an OPEN with these was answered with, or null; its OPEN is the last one from now on. */
  Candidate candidateOf(long incarnation, long nonce) {
    if (last.isOf(incarnation, nonce)) {
      return last;
    }
    return beforeLast.isOf(incarnation, nonce) ? inPlaceOfTheOlder() : null;
  }

  /** The last one from now on, as it was when it was the one before that: to be filled in. */
  Candidate inPlaceOfTheOlder() {
    Candidate older = beforeLast;
    beforeLast = last;
    last = older;
    return older;
  }

  /** The candidate that a frame names, or null: it names none. */
  Candidate candidateNamed(int session) {
    if (session == 0) {
      return null;
    }
    return last.session == session ? last : beforeLast.session == session ? beforeLast : null;
  }

  /** It is the session now: neither its OPEN nor one before it makes another. */
  void confirmed(Candidate candidate) {
    beforeLast.session = 0;
    if (candidate == last) {
      last.session = 0;
    }
  }
}
