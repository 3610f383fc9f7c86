package org.pmhxb.pm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Who drives the duty cycles: the poll thread, or for a while a program's thread that would
 * otherwise wait for it ({@link PollThread#driveUntil}).
 *
 * <p>Four states. HOME: the poll thread drives. WANTED: it does, and a program waits for its offer.
 * OFFERED: nobody does, and the first to take the lease will. OUT: a program's thread does. Whoever
 * leaves HOME, WANTED or OUT does so by a release (L1), whoever enters HOME or OUT does so by an
 * acquire from OFFERED (L2); so each driver sees all that the one before it did, and there is never
 * more than one. That it is wanted is a state of its own, so that who asks too late asks nothing.
 */
final class PollLease {
  private static final int HOME = 0;
  private static final int OFFERED = 1;
  private static final int OUT = 2;
  private static final int WANTED = 3;
  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(PollLease.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private int state = HOME;

  /** How often it was out; written by the driver before L1, so by one thread at a time. */
  private volatile int turns;

  // --- a program's thread -------------------------------------------------------------------

  /**
   * Takes the lease if it is offered; asks for it if it is at home.
   *
   * @return whether the calling thread drives from now on, until {@link #giveBack}
   */
  boolean tryTake() {
    int seen = (int) STATE.getOpaque(this);
    if (seen == HOME) {
      STATE.compareAndSet(this, HOME, WANTED);
    }
    return seen == OFFERED && STATE.compareAndSet(this, OFFERED, OUT); // L2
  }

  /** The driver, after its last round. */
  void giveBack() {
    turns++;
    STATE.setVolatile(this, OFFERED); // L1
  }

  // --- the poll thread ----------------------------------------------------------------------

  /** Never true for who drives instead of the poll thread: nobody can ask that one. */
  boolean isWanted() {
    return (int) STATE.getOpaque(this) == WANTED;
  }

  /** After its last round for now. */
  void offer() {
    STATE.setRelease(this, OFFERED); // L1
  }

  /**
   * @return whether the poll thread drives again; false: a program's thread does
   */
  boolean takeHome() {
    return STATE.compareAndSet(this, OFFERED, HOME); // L2
  }

  boolean isOut() {
    return (int) STATE.getVolatile(this) == OUT;
  }

  int turns() {
    return turns;
  }
}
