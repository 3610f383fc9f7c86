package org.pmhxb.cli.node;

import java.util.concurrent.TimeoutException;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.collectives.probe.FabricLogp;
import org.pmhxb.collectives.probe.FabricProbe;
import org.pmhxb.pm.PmNode;

/** Measures LogP from a node's poll thread. */
final class PolledProbe implements LoopWork.Task {
  private final FabricProbe probe;

  private PolledProbe(PmNode node, int count) {
    Participants all = Participants.all(node);
    probe = new FabricProbe(node, all, System::nanoTime, PolledProbe::yieldUntil, count);
  }

  /**
   * Measures; any thread but the poll thread.
   *
   * @throws TimeoutException it took more than {@code limitMs}
   */
  static FabricLogp measure(PmNode node, LoopWork loop, int count, long limitMs)
      throws InterruptedException, TimeoutException {
    PolledProbe task = loop.call(() -> new PolledProbe(node, count));
    AwaitedTask.drive(loop, task, limitMs, "LogP's measurement is");
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
