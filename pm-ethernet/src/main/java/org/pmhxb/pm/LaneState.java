package org.pmhxb.pm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.pmhxb.pm.flow.SendWindow;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * What each claim and each send reads and writes of a {@link Lane}: one cache line with the
 * object's header, to the last byte. A superclass of it, because the JVM lays fields out class by
 * class: mixed with the others they would lie in three, which counts when frames to a hundred peers
 * take turns.
 */
abstract class LaneState {
  /**
   * Between epoch and claims is a bit that stays 0: so the difference of two words is a small
   * positive number if and only if they are of one epoch.
   */
  static final int EPOCH_SHIFT = 33;

  static final VarHandle GRANT;

  static {
    try {
      GRANT = MethodHandles.lookup().findVarHandle(LaneState.class, "grant", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  final int dstEndpoint;

  /** Both endpoints as they lie in a frame: {@link FrameHeader#storedEndpoints}. */
  final long storedEndpoints;

  // --- application thread ---
  /** Claims that were made, as {@link #grant} has those that may be. */
  long used;

  long sent;

  // --- poll thread ---
  /**
   * Session epoch, and from bit {@link #EPOCH_SHIFT} down the claims that may be made in it, modulo
   * 2^32. Published to the application thread.
   */
  long grant;

  /** Index in the node's lane table; -1 until the poll thread has seen the lane. */
  int id = -1;

  /** Where it leads, once {@link #id} is known; null when that is this node itself. */
  Peer peer;

  /**
   * {@code peer.window}: found with the peer, not behind it, by what each frame reads of both. Null
   * while that is.
   */
  SendWindow window;

  /** The channel back, whose credit travels in this one's frames; null until it is known. */
  InLane back;

  LaneState(int dstEndpoint, int endpoints) {
    this.dstEndpoint = dstEndpoint;
    this.storedEndpoints = FrameHeader.storedEndpoints(endpoints);
  }
}
