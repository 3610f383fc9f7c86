package org.pmhxb.cli.node;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.collectives.probe.FabricLogp;
import org.pmhxb.collectives.probe.FabricProbe;
import org.pmhxb.pm.PmNode;

/** Measures LogP from a node's poll thread. */
final class PolledProbe implements LoopWork.Task {
  private final CountDownLatch ended = new CountDownLatch(1);
  private final FabricProbe probe;
  private RuntimeException failure;

  private PolledProbe(PmNode node, int count) {
    probe =
        new FabricProbe(
            node, Participants.all(node), System::nanoTime, PolledProbe::yieldUntil, count);
  }

  /**
   * Measures; any thread but the poll thread.
   *
   * @throws TimeoutException it took more than {@code limitMs}
   */
  static FabricLogp measure(PmNode node, LoopWork loop, int count, long limitMs)
      throws InterruptedException, TimeoutException {
    PolledProbe task = loop.call(() -> new PolledProbe(node, count));
    loop.call(() -> loop.add(task));
    try {
      if (!task.ended.await(limitMs, TimeUnit.MILLISECONDS)) {
        throw new TimeoutException("LogP was not measured in %d ms".formatted(limitMs));
      }
    } finally {
      loop.call(() -> loop.remove(task));
    }
    if (task.failure != null) {
      throw task.failure;
    }
    return task.probe.found();
  }

  /** Leaves the processor to others. */
  private static void yieldUntil(long timeNs) {
    while (System.nanoTime() - timeNs < 0) {
      Thread.yield();
    }
  }

  @Override
  public int doWork(long nowNs) {
    int work = 0;
    try {
      work = probe.isConnected() ? probe.step() : 0;
    } catch (RuntimeException e) {
      failure = e;
    }
    if (over()) {
      ended.countDown();
    }
    return work;
  }

  @Override
  public boolean over() {
    return failure != null || probe.isOver();
  }
}
