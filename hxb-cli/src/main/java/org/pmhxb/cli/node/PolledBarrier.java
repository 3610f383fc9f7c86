package org.pmhxb.cli.node;

import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.pmhxb.cli.workload.LatencyHistogram;
import org.pmhxb.collectives.barrier.Barrier;
import org.pmhxb.collectives.barrier.Barriers;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.pm.Counter;
import org.pmhxb.pm.PmNode;

/** A barrier whose program is the node's poll thread: no wake-up lies between the two. */
final class PolledBarrier implements BarrierHandle {
  private final PmNode node;
  private final LoopWork loop;
  private final Barrier barrier;

  /** Opens the barrier of all nodes with this number. */
  PolledBarrier(PmNode node, LoopWork loop, int number, BarrierSpec spec) {
    this.node = node;
    this.loop = loop;
    this.barrier =
        loop.make(
            () -> Barriers.of(node).open(number, Participants.all(node), spec), Barrier::close);
  }

  @Override
  public boolean connected() {
    return loop.call(barrier::isConnected);
  }

  @Override
  public BarrierTimes run(int count, long limitMs, BooleanSupplier gone)
      throws InterruptedException, TimeoutException {
    Repeated repeated = new Repeated(count);
    String what = "%d barriers %s are".formatted(count, barrier.spec());
    AwaitedTask.drive(loop, repeated, limitMs, gone, what);
    return repeated.times();
  }

  private long framesSent() {
    return node.counters().get(Counter.COLLECTIVES_SENT);
  }

  @Override
  public void close() {
    loop.call(
        () -> {
          barrier.close();
          return null;
        });
  }

  /** Barrier after barrier. Owner: the poll thread; the times are read when it has ended. */
  private final class Repeated implements LoopWork.Task {
    private final LatencyHistogram latency = new LatencyHistogram();
    private final int count;
    private int done;
    private boolean begun;
    private boolean inside;
    private long beganNs;
    private long frames;
    private long beyond;

    Repeated(int count) {
      this.count = count;
    }

    @Override
    public int doWork(long nowNs) {
      if (!begun) {
        begin();
      }
      int work = 0;
      // Several in a round where all others are ahead.
      while (work < LoopWork.STEPS_MAX && !over() && step()) {
        work++;
      }
      return work;
    }

    /** What was sent before is not counted; an arrival of a run that was given up is the first. */
    private void begin() {
      begun = true;
      beganNs = System.nanoTime();
      inside = !barrier.test();
      frames = framesSent();
      beyond = barrier.counts().beyond();
    }

    private boolean step() {
      if (!inside) {
        beganNs = System.nanoTime();
        barrier.arrive();
        inside = true;
        return true;
      }
      if (!barrier.test()) {
        return false;
      }
      inside = false;
      // The first waits until everyone has been told to begin.
      if (done > 0 || count == 1) {
        latency.record(System.nanoTime() - beganNs);
      }
      done++;
      return true;
    }

    @Override
    public boolean over() {
      return done == count;
    }

    BarrierTimes times() {
      return new BarrierTimes(
          latency.encoded(), count, framesSent() - frames, barrier.counts().beyond() - beyond);
    }
  }
}
