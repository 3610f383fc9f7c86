package org.pmhxb.cli.node;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/**
 * A task that another thread waits for. Tells when it is over, and keeps its exceptions from the
 * poll thread.
 */
final class AwaitedTask implements LoopWork.Task {
  private static final long ASK_MS = 20;

  private final LoopWork.Task task;
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile Throwable failure;

  /** Poll thread. Asked of the task once a round: who waits and the loop have to hear the same. */
  private boolean over;

  private AwaitedTask(LoopWork.Task task) {
    this.task = task;
  }

  /**
   * Drives a task on the poll thread; any other thread. What the task threw is thrown here.
   *
   * @param givesUp asked every 20 ms: whether to stop waiting
   * @return whether the task is over; else it was given up
   */
  static boolean drive(LoopWork loop, LoopWork.Task task, BooleanSupplier givesUp)
      throws InterruptedException {
    AwaitedTask awaited = new AwaitedTask(task);
    loop.make(() -> loop.add(awaited), added -> loop.remove(awaited));
    boolean over;
    try {
      do {
        over = awaited.ended.await(ASK_MS, TimeUnit.MILLISECONDS);
      } while (!over && !givesUp.getAsBoolean());
    } finally {
      loop.call(() -> loop.remove(awaited));
    }
    switch (awaited.failure) {
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      case null, default -> {
        return over;
      }
    }
  }

  /**
   * The same with a limit.
   *
   * @param gone asked every 20 ms: whether nobody waits for it any more
   * @param what in words, of the exception
   * @throws TimeoutException it is not over in time, or was given up before
   */
  static void drive(
      LoopWork loop, LoopWork.Task task, long limitMs, BooleanSupplier gone, String what)
      throws InterruptedException, TimeoutException {
    long beganNs = System.nanoTime();
    long limitNs = TimeUnit.MILLISECONDS.toNanos(limitMs);
    BooleanSupplier givesUp = () -> System.nanoTime() - beganNs >= limitNs || gone.getAsBoolean();
    if (!drive(loop, task, givesUp)) {
      boolean late = System.nanoTime() - beganNs >= limitNs;
      throw new TimeoutException(
          what + " not over " + (late ? "in " + limitMs + " ms" : "when nobody waited any more"));
    }
  }

  @Override
  public int doWork(long nowNs) {
    int work = 0;
    try {
      work = task.doWork(nowNs);
      over = task.over();
    } catch (RuntimeException | Error e) {
      failure = e;
      over = true;
    }
    if (over) {
      ended.countDown();
    }
    return work;
  }

  @Override
  public boolean isBrief() {
    return task.isBrief();
  }

  @Override
  public boolean over() {
    return over;
  }
}
