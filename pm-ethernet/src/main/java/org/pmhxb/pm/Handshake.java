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

  /**
   * The peer asked for the session: it stays wanted for a peer timeout, or until the peer counts as
   * unreachable.
   */
  boolean wantedByPeer;

  /** When it did, by the patience clock. */
  long askedByPeerAt;

  // --- as responder: what the last two OPENs would make; the first frame of one confirms it ---
  private Candidate last = new Candidate();
  private Candidate beforeLast = new Candidate();

  /** This node stops and ended this session; the peer has not answered yet. 0: none. */
  int closedSession;

  /** What an OPEN with these was answered with, or null. */
  Candidate candidateOf(long incarnation, long nonce) {
    if (last.isOf(incarnation, nonce)) {
      return last;
    }
    return beforeLast.isOf(incarnation, nonce) ? beforeLast : null;
  }

  /**
   * The older candidate, which is the newer one from now on and to be filled in; null: of both the
   * first frame may be on its way, and late OPENs of other handshakes must not cost it its session.
   *
   * @param holdNs for which a candidate stays
   */
  Candidate another(long nowNs, long holdNs) {
    Candidate older = beforeLast;
    if (older.session != 0 && nowNs - older.madeNs < holdNs) {
      return null;
    }
    beforeLast = last;
    last = older;
    older.madeNs = nowNs;
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
