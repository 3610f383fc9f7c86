package org.pmhxb.collectives.barrier;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Where a program and the poll thread meet in a barrier: the epoch at which the program arrived,
 * the epoch that was left, and whether it is broken. One writer each: the program writes {@code
 * arrived}, the poll thread the other two.
 */
public final class Gate {
  /** Of {@link #downNode}: none. */
  public static final int NONE = -1;

  private static final VarHandle ARRIVED;
  private static final VarHandle LEFT;
  private static final VarHandle DOWN;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      ARRIVED = lookup.findVarHandle(Gate.class, "arrived", int.class);
      LEFT = lookup.findVarHandle(Gate.class, "left", int.class);
      DOWN = lookup.findVarHandle(Gate.class, "down", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  @SuppressWarnings("unused") // ARRIVED
  private int arrived;

  // Written by another thread than the one above: 64 bytes keep their cache lines apart.
  @SuppressWarnings("unused")
  private long pad0;

  @SuppressWarnings("unused")
  private long pad1;

  @SuppressWarnings("unused")
  private long pad2;

  @SuppressWarnings("unused")
  private long pad3;

  @SuppressWarnings("unused")
  private long pad4;

  @SuppressWarnings("unused")
  private long pad5;

  @SuppressWarnings("unused")
  private long pad6;

  @SuppressWarnings("unused")
  private long pad7;

  @SuppressWarnings("unused") // LEFT
  private int left;

  @SuppressWarnings("unused") // DOWN
  private int down = NONE;

  /** Program. R1: publishes what it did before; pairs with A1 in {@link #arrivedEpoch}. */
  public void arriveAt(int epoch) {
    ARRIVED.setRelease(this, epoch);
  }

  /** Poll thread, and who opens a number again. A1. */
  public int arrivedEpoch() {
    return (int) ARRIVED.getAcquire(this);
  }

  /** Poll thread. R2: publishes what others did before they arrived; pairs with A2. */
  public void leave(int epoch) {
    LEFT.setRelease(this, epoch);
  }

  /** Program. A2: the last epoch that was left. */
  public int leftEpoch() {
    return (int) LEFT.getAcquire(this);
  }

  /** Poll thread. R3: no epoch is left any more; pairs with A3. */
  public void breakBy(int node) {
    DOWN.setRelease(this, node);
  }

  /**
   * Program. A3: the node that broke the barrier, or {@link #NONE}. Ask it after {@link #leftEpoch}
   * said no: an epoch that was left before counts.
   */
  public int downNode() {
    return (int) DOWN.getAcquire(this);
  }
}
