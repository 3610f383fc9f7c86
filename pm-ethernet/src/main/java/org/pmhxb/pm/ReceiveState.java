package org.pmhxb.pm;

/**
 * What each data frame of a peer reads and writes, 56 B with the object's header. A superclass of
 * {@link Peer}, because the JVM lays fields out class by class: mixed with the others they would
 * lie in four cache lines, which counts when frames of a hundred peers take turns. Owner: the poll
 * thread.
 */
abstract class ReceiveState {
  /** Of {@link #quietNews}: not even the next in order is a usual frame. */
  static final int UNUSUAL = -1;

  /** Of {@link #quietNews}: whoever was told to ask is about to. */
  private static final int TOLD = Integer.MAX_VALUE;

  /** Key and session as they lie in a frame; of a session that is open. */
  long wireKeySession;

  /**
   * {@code highest:32 | ackRead:32}: one past the highest sequence number received, and the
   * acknowledgement of the last data frame that carried a new one. While nothing is missing, what
   * the next frame says of number and acknowledgement unless it tells news.
   */
  private long nextSeqAck;

  /** Frames received since the last acknowledgement left. */
  int news;

  /**
   * While there is no gap and less news than this, {@link Acknowledger#note} would find nothing to
   * do. 0: ask it. {@link #UNUSUAL}: no session is open, or something is missing.
   */
  int quietNews = UNUSUAL;

  /** When the oldest of {@link #news} came. */
  long firstNewsNs;

  /**
   * Last sign of life, or when opening began; on the patience clock, which our own stalls do not
   * advance.
   */
  long heardAt;

  /**
   * Channels that the peer has used or asked for: the newest first, as long as an acknowledgement
   * has room for them all.
   */
  InLane lanes;

  /** Something of each line that a frame needs. */
  final int fetch() {
    return news + quietNews;
  }

  final long nextSeqAck() {
    return nextSeqAck;
  }

  final int highest() {
    return (int) (nextSeqAck >>> 32);
  }

  final void highest(int seq) {
    nextSeqAck = (long) seq << 32 | nextSeqAck & 0xFFFF_FFFFL;
  }

  final int ackRead() {
    return (int) nextSeqAck;
  }

  final void ackRead(int ack) {
    nextSeqAck = nextSeqAck >>> 32 << 32 | ack & 0xFFFF_FFFFL;
  }

  /**
   * A usual frame: the one that {@link #nextSeqAck} tells of, and nothing is missing.
   *
   * @return whether the {@link Acknowledger} is to be asked, before anything but usual frames
   */
  final boolean pass(long nowNs, long patienceNs) {
    nextSeqAck += 1L << 32;
    heardAt = patienceNs;
    int count = news + 1;
    news = count;
    if (count == 1) {
      firstNewsNs = nowNs;
    }
    if (count < quietNews) {
      return false;
    }
    quietNews = TOLD;
    return true;
  }
}
