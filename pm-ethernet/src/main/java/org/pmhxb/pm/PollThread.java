package org.pmhxb.pm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.pmhxb.ffi.Events;
import org.pmhxb.ffi.Hxb;
import org.pmhxb.ffi.Threads;

/**
 * A platform thread that drives duty cycles: one node, or several nodes and their wire. Progress is
 * made here even while the program computes (DESIGN section 3).
 *
 * <p>It sleeps only on descriptors: the sockets of its ports and a doorbell, so that whatever
 * happens wakes it (DESIGN rule 22). Where a port has no descriptor it sleeps for at most {@link
 * #BLIND_SLEEP_NS}.
 */
public final class PollThread implements Doorbell, AutoCloseable {
  private static final long BLIND_SLEEP_NS = 50_000L;
  private static final long SLOW_YIELD_NS = 100_000L;
  private static final int SPINS = 200;
  private static final int YIELDS = 50;
  private static final int SLEEPS_AFTER_SLOW_YIELD = 1_000;

  private final PollWork[] work;
  private final PollIdle idle;
  private final int cpu;
  private final Thread thread;
  private final int doorbell;
  private final MemorySegment fds;
  private final int fdCount;
  private final boolean blind;
  private final Runnable atEnd;

  private volatile boolean stopping;
  private boolean closed;
  private volatile Throwable failure;

  private final SleepFlag sleeping = new SleepFlag();

  // --- the poll thread ---
  private int idleRounds;
  private int sleepsLeft;

  /**
   * @param wakeFds descriptors of all ports, or empty when some port has none
   * @param cpu to pin to, or -1
   * @param atEnd runs on the poll thread after its last round
   */
  public PollThread(
      String name,
      List<? extends PollWork> work,
      int[] wakeFds,
      PollIdle idle,
      int cpu,
      Runnable atEnd) {
    this.work = work.toArray(PollWork[]::new);
    this.idle = idle;
    this.cpu = cpu;
    this.atEnd = atEnd;
    this.blind = wakeFds.length == 0;
    this.fdCount = wakeFds.length + 1;
    if (fdCount > 64) {
      throw new IllegalArgumentException(
          wakeFds.length + " wake descriptors; a poll thread waits on at most 63");
    }
    this.doorbell = Events.create();
    this.fds = Arena.global().allocate(ValueLayout.JAVA_INT, fdCount);
    for (int i = 0; i < wakeFds.length; i++) {
      fds.setAtIndex(ValueLayout.JAVA_INT, i, wakeFds[i]);
    }
    fds.setAtIndex(ValueLayout.JAVA_INT, wakeFds.length, doorbell);
    this.thread = Thread.ofPlatform().name(name).daemon(true).unstarted(this::run);
  }

  /** Starts polling. */
  public PollThread start() {
    thread.start();
    return this;
  }

  private void run() {
    try {
      if (cpu >= 0) {
        Threads.pin(cpu);
      }
      Threads.register();
      while (!stopping) {
        round();
      }
    } catch (Throwable t) {
      failure = t;
    } finally {
      end();
    }
  }

  private void end() {
    try {
      atEnd.run();
    } catch (Throwable t) {
      if (failure == null) {
        failure = t;
      }
    } finally {
      Threads.unregister();
    }
  }

  private void round() {
    long nowNs = System.nanoTime();
    int done = 0;
    for (PollWork w : work) {
      done += w.doWork(nowNs);
    }
    if (done > 0) {
      idleRounds = 0;
    } else if (idle != PollIdle.SPIN) {
      rest(nowNs);
    } else {
      Thread.onSpinWait();
    }
  }

  private void rest(long nowNs) {
    idleRounds++;
    if (idle == PollIdle.YIELD) {
      Thread.yield();
    } else if (idle == PollIdle.PARK || sleepsLeft > 0) {
      sleepsLeft = Math.max(0, sleepsLeft - 1);
      sleep(nowNs);
    } else if (idleRounds < SPINS) {
      Thread.onSpinWait();
    } else if (idleRounds < SPINS + YIELDS) {
      Thread.yield();
      if (System.nanoTime() - nowNs > SLOW_YIELD_NS) {
        sleepsLeft = SLEEPS_AFTER_SLOW_YIELD;
      }
    } else {
      sleep(nowNs);
    }
  }

  private void sleep(long nowNs) {
    long untilNs = Long.MAX_VALUE;
    for (PollWork w : work) {
      untilNs = Math.min(untilNs, w.nextDeadlineNs(nowNs) - nowNs);
    }
    if (blind) {
      untilNs = Math.min(untilNs, BLIND_SLEEP_NS);
    }
    sleeping.fallAsleep();
    try {
      int done = 0;
      long again = System.nanoTime();
      for (PollWork w : work) {
        done += w.doWork(again);
      }
      if (done == 0 && untilNs >= 1_000 && !stopping) {
        Hxb.waitReadable(fds.address(), fdCount, untilNs / 1_000);
      }
    } finally {
      sleeping.wakeUp();
    }
    Hxb.eventDrain(doorbell);
  }

  @Override
  public void ring() {
    if (sleeping.mustBeWoken()) {
      Hxb.eventSignal(doorbell);
    }
  }

  /** What ended the poll thread, or null. */
  public Throwable failure() {
    return failure;
  }

  public boolean isAlive() {
    return thread.isAlive();
  }

  /** Runs the last round, then {@code atEnd}; waits for it. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    stopping = true;
    Hxb.eventSignal(doorbell);
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    Events.close(doorbell);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (failure != null) {
      throw new IllegalStateException("poll thread " + thread.getName() + " failed", failure);
    }
  }
}
