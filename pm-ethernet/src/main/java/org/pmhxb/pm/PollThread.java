package org.pmhxb.pm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.pmhxb.ffi.Hxb;
import org.pmhxb.ffi.Threads;

/**
 * A platform thread that drives duty cycles: one node, or several nodes and their wire. Progress is
 * made here even while the program computes.
 *
 * <p>A program's thread that has to wait for what a duty cycle brings may drive meanwhile ({@link
 * #driveUntil}): then no thread has to wake another. The poll thread drives again when nobody did
 * for {@link #NAP_NS}, or up to {@link #LONG_NAP_NS} where who waits sleeps at once.
 *
 * <p>It sleeps only on descriptors: those of its ports and a doorbell, so that whatever happens
 * wakes it. Where a port has none (memif, NICs), or there are more than one wait can take, it
 * sleeps for at most {@link #BLIND_SLEEP_NS}.
 */
public final class PollThread implements Doorbell, AutoCloseable {
  private static final long BLIND_SLEEP_NS = 50_000L;

  /**
   * Who works so long without a sleep tells its ports that it is awake. Until then their peers have
   * a fence a burst, while to be awake and then fall asleep interrupts the processors on which they
   * run, which in a virtual machine takes 15 us.
   */
  private static final long DROWSY_NS = 1_000_000L;

  /** How long the poll thread leaves the duty cycles alone after a program's thread drove. */
  private static final long NAP_NS = 200_000L;

  /**
   * The same while a program drives again and again, where who waits sleeps: others need the cores
   * more than a program that computes needs its frames looked after. Five naps in a millisecond of
   * eight nodes on two cores were most of the changes of thread of that machine.
   */
  private static final long LONG_NAP_NS = 1_000_000L;

  /** Naps within one wait of a program, after which the poll thread sleeps until it ends. */
  private static final int NAPS = 8;

  private final PollWork[] work;
  private final PollIdle idle;
  private final long longestNapNs;
  private final int cpu;
  private final Thread thread;
  private final RungEvent doorbell = new RungEvent();
  private final MemorySegment fds;
  private final int fdCount;
  private final boolean blind;
  private final Runnable atEnd;

  private volatile boolean stopping;
  private boolean closed;
  private volatile Throwable failure;

  private final SleepFlag sleeping = new SleepFlag();
  private final PollLease lease = new PollLease();

  /** The poll thread wants to be woken when the lease comes back. */
  private volatile boolean sleepsUntilBack;

  /**
   * Who runs rounds at present; null: nobody. Written by who drives, before the lease goes on.
   * Plain: others only ask whether it is they, and who finds himself here has written it.
   */
  private Thread driver;

  // --- who drives: the poll thread, or who has the lease ---
  private final Backoff backoff = new Backoff();
  private boolean drowsy;
  private long sleptNs;

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
    this.longestNapNs = idle == PollIdle.PARK ? LONG_NAP_NS : NAP_NS;
    this.cpu = cpu;
    this.atEnd = atEnd;
    this.blind = wakeFds.length == 0 || wakeFds.length > Hxb.WAIT_MAX;
    this.fdCount = blind ? 0 : wakeFds.length;
    this.fds = Arena.global().allocate(ValueLayout.JAVA_INT, fdCount);
    for (int i = 0; i < fdCount; i++) {
      fds.setAtIndex(ValueLayout.JAVA_INT, i, wakeFds[i]);
    }
    this.thread = Thread.ofPlatform().name(name).daemon(true).unstarted(this::run);
  }

  /** Starts polling. */
  public PollThread start() {
    thread.start();
    return this;
  }

  private void run() {
    driver = Thread.currentThread();
    try {
      if (cpu >= 0) {
        Threads.pin(cpu);
      }
      Threads.register();
      while (!stopping) {
        if (lease.isWanted()) {
          lend();
        }
        if (!stopping) {
          round();
        }
      }
    } catch (Throwable t) {
      fail(t);
    } finally {
      end();
    }
  }

  /** The first is the cause: what follows of it is told with it. Who drives. */
  private void fail(Throwable t) {
    if (failure == null) {
      failure = t;
    } else if (failure != t) {
      failure.addSuppressed(t);
    }
    stopping = true;
  }

  private void end() {
    try {
      atEnd.run();
    } catch (Throwable t) {
      fail(t);
    } finally {
      Threads.unregister();
    }
  }

  // --- driving in turn ----------------------------------------------------------------------

  /**
   * Drives the duty cycles on the calling thread until something is done, unless another thread
   * drives at present: the poll thread is asked then to let go, so that a later call succeeds,
   * while the caller waits in a way of its own. Any thread but the poll thread.
   *
   * <p>What the duty cycles own belongs to the calling thread meanwhile; handlers run on it. What a
   * round throws ends the poll thread and is its {@link #failure}; what {@code done} throws is the
   * caller's.
   *
   * @param done asked before each round; brief
   * @param limitNs at most so long, within a sleep's length
   * @return whether it drove; false: nothing was done
   * @throws IllegalStateException called from within a round, which cannot go on until this returns
   */
  public boolean driveUntil(BooleanSupplier done, long limitNs) {
    refuseWithinRound("driveUntil");
    if (stopping || !lease.tryTake()) {
      ring();
      return false;
    }
    driver = Thread.currentThread();
    backoff.worked();
    long startNs = System.nanoTime();
    try {
      while (!stopping && !done.getAsBoolean() && System.nanoTime() - startNs < limitNs) {
        roundForProgram();
      }
    } finally {
      leave();
    }
    return true;
  }

  private void roundForProgram() {
    try {
      round();
    } catch (Throwable t) {
      fail(t);
    }
  }

  @Override
  public boolean isDrivenByCaller() {
    return driver == Thread.currentThread();
  }

  /** A wait for what only further rounds, or the end of this one, can bring. */
  private void refuseWithinRound(String call) {
    if (isDrivenByCaller()) {
      throw new IllegalStateException(
          call
              + " of poll thread "
              + thread.getName()
              + " within one of its rounds would wait for itself: call it after the handler");
    }
  }

  private void handOver() {
    for (PollWork w : work) {
      try {
        w.handOver();
      } catch (Throwable t) {
        // The others have to be handed over all the same, and the lease has to go on.
        fail(t);
      }
    }
    driver = null;
  }

  private void leave() {
    handOver();
    lease.giveBack();
    // Volatile store of the lease before this load, of the flag before the look at the lease in
    // lend(): one of the two sees the other.
    if (sleepsUntilBack) {
      LockSupport.unpark(thread);
    }
  }

  /** Lets programs drive until none does any more. */
  private void lend() {
    handOver();
    lease.offer();
    long napNs = NAP_NS;
    int naps = 0;
    boolean home = false;
    while (!home) {
      int before = lease.turns();
      nap(naps, napNs);
      napNs = Math.min(2 * napNs, longestNapNs);
      boolean untouched = before == lease.turns();
      naps = untouched ? naps + 1 : 0;
      home = (untouched || stopping) && lease.takeHome();
    }
    driver = Thread.currentThread();
    backoff.worked();
  }

  private void nap(int naps, long napNs) {
    if (naps < NAPS) {
      LockSupport.parkNanos(this, napNs);
      return;
    }
    // Also when stopping: the driver's round has to end first.
    sleepsUntilBack = true;
    if (lease.isOut()) {
      LockSupport.park(this);
    }
    sleepsUntilBack = false;
  }

  // --- a round ------------------------------------------------------------------------------

  private void round() {
    long nowNs = System.nanoTime();
    int done = 0;
    for (PollWork w : work) {
      done += w.doWork(nowNs);
    }
    if (done > 0) {
      if (drowsy && nowNs - sleptNs > DROWSY_NS) {
        stayAwake();
      }
      backoff.worked();
    } else {
      rest(nowNs);
    }
  }

  private void stayAwake() {
    drowsy = false;
    for (PollWork w : work) {
      w.stayAwake();
    }
  }

  private void rest(long nowNs) {
    switch (idle) {
      case SPIN -> Thread.onSpinWait();
      case YIELD -> Thread.yield();
      case PARK -> sleep();
      case BACKOFF -> backOff(nowNs);
    }
  }

  private void backOff(long nowNs) {
    switch (backoff.next(nowNs)) {
      case SPIN -> Thread.onSpinWait();
      case YIELD -> {
        long startNs = System.nanoTime();
        Thread.yield();
        backoff.yielded(System.nanoTime() - startNs);
      }
      case SLEEP -> sleep();
    }
  }

  /** A last round after the flag is up, then nothing until a deadline, a frame or the doorbell. */
  private void sleep() {
    boolean woken = false;
    sleeping.fallAsleep();
    boolean heard = fallAsleep();
    try {
      int done = 0;
      long nowNs = System.nanoTime();
      for (PollWork w : work) {
        done += w.doWork(nowNs);
      }
      long untilNs = done > 0 ? 0 : untilDeadlineNs(nowNs, heard);
      if (untilNs >= 1_000
          && !stopping
          && !lease.isWanted()
          && (!heard || rests(nowNs + untilNs))) {
        // Who rang where nobody slept after all ends the next sleep.
        int event = doorbell.fd();
        woken = Hxb.waitReadable(fds.address(), fdCount, event, untilNs / 1_000) > 0;
      }
    } finally {
      sleeping.wakeUp();
      wakeUp(woken);
    }
  }

  /** Whether all that arrives from now on ends a sleep. */
  private boolean fallAsleep() {
    boolean heard = !blind;
    for (int i = 0; !blind && i < work.length; i++) {
      heard &= work[i].fallAsleep();
    }
    return heard;
  }

  private void wakeUp(boolean rung) {
    drowsy = !blind;
    sleptNs = System.nanoTime();
    for (int i = 0; !blind && i < work.length; i++) {
      work[i].wakeUp(rung);
    }
  }

  private boolean rests(long untilNs) {
    boolean all = true;
    for (PollWork w : work) {
      all &= w.rests(untilNs);
    }
    return all;
  }

  private long untilDeadlineNs(long nowNs, boolean heard) {
    long untilNs = heard ? Long.MAX_VALUE : BLIND_SLEEP_NS;
    for (PollWork w : work) {
      untilNs = Math.min(untilNs, w.nextDeadlineNs(nowNs) - nowNs);
    }
    return untilNs;
  }

  @Override
  public void ring() {
    if (sleeping.mustBeWoken()) {
      doorbell.ring();
    }
  }

  @Override
  public boolean hasEnded() {
    return stopping && !thread.isAlive();
  }

  /** What ended the poll thread, or null. */
  public Throwable failure() {
    return failure;
  }

  public boolean isAlive() {
    return thread.isAlive();
  }

  /**
   * Lets the present round end, then runs {@code atEnd}; waits for it.
   *
   * @throws IllegalStateException the poll thread failed; or called from within a round
   */
  @Override
  public void close() {
    refuseWithinRound("close");
    stop();
  }

  private synchronized void stop() {
    if (closed) {
      return;
    }
    closed = true;
    stopping = true;
    doorbell.ring();
    LockSupport.unpark(thread);
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    doorbell.close();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (failure != null) {
      throw new IllegalStateException("poll thread " + thread.getName() + " failed", failure);
    }
  }
}
