package org.pmhxb.cli.workload;

import java.lang.foreign.MemorySegment;
import java.util.function.BooleanSupplier;

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
   * Sends a message of any length, as fragments where one frame does not take it. Returns when all
   * of it is on its way; until then it lets the node work and, in between, calls {@code meanwhile}.
   *
   * @param meanwhile polls, and answers false to give up
   * @return the ticket of the last fragment, or 0 when given up or the session ended
   */
  long sendLarge(int dst, MemorySegment source, long lengthBytes, BooleanSupplier meanwhile);

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
