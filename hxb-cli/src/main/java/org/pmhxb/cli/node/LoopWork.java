package org.pmhxb.cli.node;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.pmhxb.pm.Doorbell;
import org.pmhxb.pm.PollWork;

/**
 * What a node's poll thread does besides the node's own duty cycle: orders from other threads, and
 * the workload. Running both on one thread saves a wake-up per message, which is what counts where
 * eight nodes share two cores.
 */
final class LoopWork implements PollWork {
  private static final long TASK_INTERVAL_NS = 1_000_000L;
  private static final long IDLE_INTERVAL_NS = 1_000_000_000L;
  private static final long ORDER_LIMIT_SECONDS = 5;
  private static final String ENDED = "the node's poll thread has ended";

  /** Steps of a task in a round, at most: orders and the node's own work wait for its end. */
  static final int STEPS_MAX = 64;

  /** So little work of a round is an answer that somebody waits for, more is a stream. */
  private static final int FEW = 4;

  /** Something that is done in every round. */
  interface Task {
    /** One bounded round; returns a work count. */
    int doWork(long nowNs);

    /**
     * Whether a round takes a few microseconds at most, and what little it sends is waited for: it
     * leaves at once then.
     */
    default boolean isBrief() {
      return false;
    }

    /** A sleeping poll thread wakes so often for it. */
    default long intervalNs() {
      return TASK_INTERVAL_NS;
    }

    /** Nothing is left to do: it is not called again. */
    boolean over();
  }

  /** Guarded by itself. */
  private final ArrayDeque<FutureTask<?>> orders = new ArrayDeque<>();

  private volatile boolean ordersWaiting;
  private volatile boolean ended;
  private volatile Doorbell doorbell = Doorbell.NONE;

  // --- the poll thread ---
  private final List<Task> tasks = new ArrayList<>();

  /** A node whose messages the tasks send: {@link org.pmhxb.pm.PmNode#sendNow}. */
  interface Outlet {
    int sendNow(long nowNs);
  }

  private final Outlet[] outlets;

  /**
   * @param outlets where messages of brief tasks shall leave before the next round begins if they
   *     are few; none: they leave with it
   */
  LoopWork(Outlet... outlets) {
    this.outlets = outlets;
  }

  void doorbell(Doorbell bell) {
    doorbell = bell;
  }

  @Override
  public int doWork(long nowNs) {
    int obeyed = ordersWaiting ? obey() : 0;
    int work = 0;
    boolean brief = obeyed == 0;
    for (int i = tasks.size() - 1; i >= 0; i--) {
      Task task = tasks.get(i);
      work += task.doWork(nowNs);
      brief &= task.isBrief();
      if (task.over()) {
        tasks.remove(i);
      }
    }
    if (brief && work > 0 && work <= FEW) {
      for (Outlet outlet : outlets) {
        outlet.sendNow(nowNs);
      }
    }
    return obeyed + work;
  }

  @Override
  public long nextDeadlineNs(long nowNs) {
    long intervalNs = IDLE_INTERVAL_NS;
    for (int i = 0; i < tasks.size(); i++) {
      intervalNs = Math.min(intervalNs, tasks.get(i).intervalNs());
    }
    return nowNs + intervalNs;
  }

  private int obey() {
    List<FutureTask<?>> due;
    synchronized (orders) {
      due = List.copyOf(orders);
      orders.clear();
      ordersWaiting = false;
    }
    due.forEach(FutureTask::run);
    return due.size();
  }

  /** Poll thread: begins to drive a task. */
  boolean add(Task task) {
    return tasks.add(task);
  }

  /** Poll thread: ends that. */
  boolean remove(Task task) {
    return tasks.remove(task);
  }

  /**
   * Runs something on the poll thread and waits for it.
   *
   * @throws IllegalStateException when the poll thread has ended or does not answer for 5 s
   */
  <T> T call(Callable<T> order) {
    FutureTask<T> task = new FutureTask<>(order);
    give(task);
    return answerOf(task);
  }

  /**
   * The same of an order that makes what somebody has to own.
   *
   * @param undo on the poll thread, if it is made when nobody waits for it any more
   */
  <T> T make(Callable<T> order, Consumer<? super T> undo) {
    FutureTask<T> task = new FutureTask<>(order);
    give(task);
    try {
      return answerOf(task);
    } catch (IllegalStateException e) {
      undoBehind(task, undo);
      throw e;
    }
  }

  private void give(FutureTask<?> task) {
    synchronized (orders) {
      if (ended) {
        throw new IllegalStateException(ENDED);
      }
      orders.add(task);
      ordersWaiting = true;
    }
    doorbell.ring();
  }

  /** An order behind that one, which may be obeyed yet. */
  private <T> void undoBehind(FutureTask<T> task, Consumer<? super T> undo) {
    synchronized (orders) {
      orders.add(
          new FutureTask<>(
              () -> {
                if (task.state() == Future.State.SUCCESS) {
                  undo.accept(task.resultNow());
                }
              },
              null));
      ordersWaiting = true;
    }
  }

  private static <T> T answerOf(FutureTask<T> task) {
    try {
      return task.get(ORDER_LIMIT_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while the poll thread was asked", e);
    } catch (TimeoutException e) {
      throw new IllegalStateException(
          "the node's poll thread did not answer for " + ORDER_LIMIT_SECONDS + " s", e);
    } catch (CancellationException e) {
      throw new IllegalStateException(ENDED, e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException(e.getCause());
    }
  }

  /** Poll thread, after its last round: whoever still waits is told. */
  void end() {
    synchronized (orders) {
      ended = true;
      orders.forEach(task -> task.cancel(false));
      orders.clear();
    }
  }
}
