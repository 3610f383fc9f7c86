package org.pmhxb.mpi.engine;

import java.util.ArrayDeque;

/** What is between this rank and one other. Owner: the poll thread. */
final class PeerChannel {
  /** A short answer that waits to be sent. */
  record Answer(int kind, int flags, int handle, int toHandle) {}

  final int rank;
  final int node;

  // --- sending ---
  final ArrayDeque<Answer> answers = new ArrayDeque<>();

  /** Their envelope or head is not all out; in the order in which the program sent them. */
  final ArrayDeque<SendOperation> starting = new ArrayDeque<>();

  /** The receiver waits for the rest. */
  final ArrayDeque<SendOperation> granted = new ArrayDeque<>();

  /** Sent by the first of them in its turn. */
  int turnBytes;

  /** Cost of all heads sent, and of those that the peer has freed. */
  long headsSent;

  long headsFreed;
  boolean active;
  long lastTicket;

  // --- receiving ---
  /** Its head is still coming. */
  Incoming current;

  /** Cost of all heads that were freed here, and how much of it the peer knows. */
  long freedHere;

  long freedTold;

  /** Cost of heads that wait here. */
  long stored;

  /**
   * Its messages whose answer has not been sent, 0 to {@link HandleTable#MOST}: each holds one of
   * its handles until then. So both what it has announced and what waits for its credit is bounded.
   */
  int unanswered;

  /** Its node is asked for a session, by which its end is heard of. */
  boolean watched;

  /** Why nothing comes from here any more; null while all is well. */
  String down;

  PeerChannel(int rank, int node) {
    this.rank = rank;
    this.node = node;
  }

  boolean hasOutput() {
    return !starting.isEmpty() || !granted.isEmpty() || !answers.isEmpty();
  }
}
