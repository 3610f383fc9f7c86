package org.pmhxb.mpi.engine;

import java.lang.foreign.MemorySegment;
import org.pmhxb.pm.Loan;

/**
 * A message whose envelope has come: matched, or waiting in {@link UnexpectedMessages}. Owner: the
 * poll thread.
 */
final class Incoming {
  final PeerChannel from;
  final Arrival arrival;
  final int epoch;
  final int context;
  final int headBytes;
  final int senderHandle;
  final boolean rendezvous;
  final boolean synchronous;

  /** Of the head. */
  int arrived;

  /** Where it goes; null while nothing has matched. */
  ReceiveOperation op;

  /** Nobody wants the rest. */
  boolean discarded;

  /** Its head is not counted against the sender any more. */
  boolean freed;

  /** What arrived before a match: a loan of one frame, or a copy. */
  private Loan loan;

  private MemorySegment stored;
  private long storedAt;

  // --- links of UnexpectedMessages, one per list ---
  final Incoming[] next = new Incoming[UnexpectedMessages.LISTS];
  final Incoming[] previous = new Incoming[UnexpectedMessages.LISTS];
  boolean waiting;

  Incoming(
      PeerChannel from,
      Arrival arrival,
      int epoch,
      int context,
      int headBytes,
      int senderHandle,
      boolean rendezvous,
      boolean synchronous) {
    this.from = from;
    this.arrival = arrival;
    this.epoch = epoch;
    this.context = context;
    this.headBytes = headBytes;
    this.senderHandle = senderHandle;
    this.rendezvous = rendezvous;
    this.synchronous = synchronous;
  }

  boolean headComplete() {
    return arrived == headBytes;
  }

  /** Keeps the frame itself: it holds the whole head. */
  void store(Loan frame, long skipBytes) {
    loan = frame;
    stored = frame.memory();
    storedAt = frame.offset() + skipBytes;
  }

  /** Copies a part of the head. */
  void store(MemorySegment source, long at, int offset, int length) {
    if (stored == null) {
      stored = MemorySegment.ofArray(new byte[headBytes]);
    }
    MemorySegment.copy(source, at, stored, offset, length);
  }

  /** Moves what was stored to where it is wanted. */
  void unload(Payload to) {
    if (arrived > 0 && stored != null) {
      to.write(0, stored, storedAt, arrived);
    }
    release();
  }

  void release() {
    if (loan != null) {
      loan.close();
      loan = null;
    }
    stored = null;
  }
}
