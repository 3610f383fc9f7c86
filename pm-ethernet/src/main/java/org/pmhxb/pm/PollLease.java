package org.pmhxb.pm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Who drives the duty cycles: the poll thread, or for a while a program's thread that would
 * otherwise wait for it ({@link PollThread#driveUntil}).
 *
 * <p>Three states. HOME: the poll thread drives. OFFERED: nobody does, and the first to take the
 * lease will. OUT: a program's thread does. Whoever leaves HOME or OUT does so by a release (L1),
 * whoever enters them does so by an acquire from OFFERED (L2); so each driver sees all that the one
 * before it did, and there is never more than one.
 */
final class PollLease {
  private static final int HOME = 0;
  private static final int OFFERED = 1;
  private static final int OUT = 2;
  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(PollLease.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private int state = HOME;

  /** Set by who finds the lease at home, cleared by the poll thread when it offers it. */
  private volatile boolean wanted;

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
    if (seen == HOME && !wanted) {
      wanted = true;
    }
    return seen == OFFERED && STATE.compareAndSet(this, OFFERED, OUT); // L2
  }

  /** The driver, after its last round. */
  void giveBack() {
    turns++;
    STATE.setVolatile(this, OFFERED); // L1
  }

  // --- the poll thread ----------------------------------------------------------------------

  boolean isWanted() {
    return wanted;
  }

  /** After its last round for now. */
  void offer() {
    wanted = false;
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
