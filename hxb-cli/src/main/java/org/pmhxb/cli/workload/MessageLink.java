package org.pmhxb.cli.workload;

import java.lang.foreign.MemorySegment;

/**
 * What a workload needs of an endpoint, so that it runs over a node as over a test's stand-in.
 * Owner: the thread that runs the workload.
 */
public interface MessageLink extends AutoCloseable {
  /** Own node number. */
  int self();

  /** Nodes of the cluster: node numbers are 0 to this, exclusive. */
  int nodes();

  /** Largest message that travels in one frame, bytes. */
  int maxMessageBytes();

  /**
   * Claims a send buffer; its place is in {@link #memory()} and {@link #offset()} until {@link
   * #send()}. False when out of credit or buffers: try again after progress.
   */
  boolean claim(int dst, int lengthBytes);

  /** Memory of the buffer claimed last. */
  MemorySegment memory();

  /** Where the buffer claimed last begins in {@link #memory()}. */
  long offset();

  /** Sends the buffer claimed last; returns its ticket: 1, 2, ... per destination and session. */
  long send();

  /**
   * {@link #claim} for a part of a message that one frame does not take. The parts are sent from
   * the message's begin to its end, with nothing else to that node in between.
   *
   * @return bytes of the message from {@code offsetBytes} on that the buffer takes; 0 when out of
   *     credit or buffers
   */
  int claimFragment(int dst, long messageBytes, long offsetBytes);

  /** The largest ticket to {@code dst} that its node has stored. */
  long acknowledged(int dst);

  /** Hands at most {@code limit} messages to the receiver; returns how many. */
  int poll(Receiver receiver, int limit);

  @Override
  void close();

  /** Takes messages; called from within {@link #poll}. */
  interface Receiver {
    void onMessage(int src, MemorySegment memory, long offset, int lengthBytes);

    /** A part of a message came that is handed over when it is whole. */
    void onFragment(int src, int lengthBytes);

    /** The session with a node ended: what was sent to it and not acknowledged is lost. */
    void onPeerDown(int node, String reason);
  }
}
