package org.pmhxb.mpi.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Something that a program asked of the engine: made by a program's thread, carried out by the poll
 * thread, waited for by any thread. Its fields belong to the poll thread between {@link
 * Engine#post} and completion, and to the program before and after.
 */
public abstract class Operation implements BooleanSupplier {
  /** Yields longer than this say that others need the core. */
  private static final long SLOW_YIELD_NS = 100_000L;

  private static final long YIELDING_NS = 1_000_000L;
  private static final int SPINS = 20;
  private static final int PARKS_AFTER_SLOW_YIELD = 100;

  /**
   * Waits that are to sleep at once, because others need the cores. All threads count it down
   * without care: a lost count costs nothing.
   */
  private static volatile int parksLeft;

  private static final int PENDING = 0;
  private static final int DONE = 1;
  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(Operation.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private volatile int state = PENDING;
  private volatile Thread waiter;

  /** Where it was posted; the program's. */
  Engine engine;

  /** Written before {@code state} becomes DONE. */
  private OperationException failure;

  private Runnable listener;

  /** Poll thread: begins. */
  abstract void begin(Engine engine);

  /**
   * Runs on the completing thread, right after completion. Set before {@link Engine#post}; be
   * brief.
   */
  public final void onDone(Runnable then) {
    listener = then;
  }

  final void complete() {
    finish(null);
  }

  /** The first outcome counts. Any thread. */
  final void fail(String reason) {
    finish(new OperationException(reason));
  }

  private void finish(OperationException why) {
    if (state == DONE) {
      return;
    }
    failure = why;
    // O1: publishes the fields; pairs with O2 in isDone().
    if (!STATE.compareAndSet(this, PENDING, DONE)) {
      return;
    }
    // Volatile store of state before this load, volatile store of waiter before the load of state
    // in park(): one of the two sees the other.
    Thread sleeper = waiter;
    if (sleeper != null) {
      LockSupport.unpark(sleeper);
    }
    if (listener != null) {
      listener.run();
    }
  }

  /** Whether it has completed, well or not. */
  public final boolean isDone() {
    // O2: pairs with O1.
    return state == DONE;
  }

  /**
   * Whether it has completed well.
   *
   * @throws OperationException when it failed
   */
  final boolean isOver() {
    boolean done = isDone();
    if (done && failure != null) {
      throw failure;
    }
    return done;
  }

  /** {@link #isDone}. */
  @Override
  public final boolean getAsBoolean() {
    return isDone();
  }

  /** What went wrong; null when all is well. Call after completion. */
  public final OperationException failure() {
    return failure;
  }

  /**
   * Waits for completion.
   *
   * @throws OperationException when it failed
   */
  public final void await() {
    await(Long.MAX_VALUE);
  }

  /**
   * Waits for completion, up to a limit: drives the engine if nobody else does. Otherwise it yields
   * for up to {@value #YIELDING_NS} ns, then sleeps. Once a yield takes longer than {@value
   * #SLOW_YIELD_NS} ns others need the core: it sleeps at once, and so do the next {@value
   * #PARKS_AFTER_SLOW_YIELD} waits.
   *
   * @return false when the time was up
   */
  public final boolean await(long limitNs) {
    for (int i = 0; i < SPINS && !isDone(); i++) {
      Thread.onSpinWait();
    }
    long startNs = System.nanoTime();
    long beforeNs = startNs;
    boolean patient = parksLeft <= 0;
    if (!patient) {
      parksLeft = parksLeft - 1;
    }
    while (!isDone() && !drives(startNs, limitNs) && patient) {
      Thread.yield();
      long nowNs = System.nanoTime();
      patient = nowNs - startNs < YIELDING_NS;
      if (nowNs - beforeNs >= SLOW_YIELD_NS) {
        parksLeft = PARKS_AFTER_SLOW_YIELD;
        patient = false;
      }
      beforeNs = nowNs;
    }
    if (!isDone() && !park(startNs, limitNs)) {
      return false;
    }
    if (failure != null) {
      throw failure;
    }
    return true;
  }

  private boolean drives(long startNs, long limitNs) {
    return engine != null && engine.driveUntil(this, limitNs - (System.nanoTime() - startNs));
  }

  private boolean park(long startNs, long limitNs) {
    boolean interrupted = false;
    waiter = Thread.currentThread();
    while (!isDone()) {
      long leftNs = limitNs - (System.nanoTime() - startNs);
      if (leftNs <= 0) {
        break;
      }
      LockSupport.parkNanos(this, Math.min(leftNs, 1_000_000_000L));
      interrupted |= Thread.interrupted();
    }
    waiter = null;
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return isDone();
  }
}
