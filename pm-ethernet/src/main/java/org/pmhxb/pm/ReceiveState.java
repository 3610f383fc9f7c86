package org.pmhxb.pm;

import org.pmhxb.pm.flow.SequenceArray;

/**
 * What each data frame of a peer reads and writes, 60 B with the object's header. A superclass of
 * {@link Peer}, because the JVM lays fields out class by class: mixed with the others they would
 * lie in four cache lines, which counts when frames of a hundred peers take turns. Owner: the poll
 * thread.
 */
abstract class ReceiveState {
  /**
   * While a session is open and nothing is missing, the session word of the data frame whose turn
   * it is: {@code session:32 | seq:32}; else 0, which is no such word, since no session is 0.
   */
  long turn;

  /** The acknowledgement of the last data frame that carried a new one. */
  int ackRead;

  /** One past the highest sequence number received. */
  int highest;

  /** Frames received since the last acknowledgement left. */
  int news;

  /**
   * While there is no gap and less news than this, {@link Acknowledger#note} would find nothing to
   * do. 0: ask it.
   */
  int quietNews;

  /** When the oldest of {@link #news} came. */
  long firstNewsNs;

  /**
   * Last sign of life, or when opening began; on the patience clock, which our own stalls do not
   * advance.
   */
  long heardAt;

  /** Made when a session opens. */
  SequenceArray order;

  /** Channels that the peer has used or asked for, the newest first. */
  InLane lanes;
}
