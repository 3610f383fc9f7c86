package org.pmhxb.cli.node;

import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.collectives.probe.FabricLogp;
import org.pmhxb.collectives.probe.FabricProbe;
import org.pmhxb.collectives.probe.ProbeClock;
import org.pmhxb.pm.PmNode;

/** Measures LogP from a node's poll thread. */
final class PolledProbe implements LoopWork.Task {
  private final FabricProbe probe;

  private PolledProbe(PmNode node, int count, boolean sleeps) {
    ProbeClock clock =
        sleeps
            ? ProbeClock.sleeping(
                System::nanoTime, ManagementFactory.getThreadMXBean()::getCurrentThreadCpuTime)
            : ProbeClock.polling(System::nanoTime);
    probe = new FabricProbe(node, Participants.all(node), clock, PolledProbe::yieldUntil, count);
  }

  /**
   * Measures; any thread but the poll thread.
   *
   * @param sleeps whether the poll thread sleeps as soon as there is nothing to do
   * @param gone whether nobody waits for it any more
   * @throws TimeoutException it took more than {@code limitMs}, or nobody waits
   */
  static FabricLogp measure(
      PmNode node, LoopWork loop, int count, boolean sleeps, long limitMs, BooleanSupplier gone)
      throws InterruptedException, TimeoutException {
    PolledProbe task = loop.call(() -> new PolledProbe(node, count, sleeps));
    AwaitedTask.drive(loop, task, limitMs, gone, "LogP's measurement is");
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
    return probe.isConnected() ? probe.step() : 0;
  }

  @Override
  public boolean over() {
    return probe.isOver();
  }
}
