package org.pmhxb.cli.node;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.pmhxb.cli.workload.LatencyHistogram;
import org.pmhxb.collectives.barrier.Barrier;
import org.pmhxb.collectives.barrier.Barriers;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.pm.PmNode;

/** A barrier whose program is the node's poll thread: no wake-up lies between the two. */
final class PolledBarrier implements BarrierHandle {
  private final LoopWork loop;
  private final Barrier barrier;

  /** Opens the barrier of all nodes with this number. */
  PolledBarrier(PmNode node, LoopWork loop, int number, BarrierSpec spec) {
    this.loop = loop;
    this.barrier = loop.call(() -> Barriers.of(node).open(number, Participants.all(node), spec));
  }

  @Override
  public boolean connected() {
    return loop.call(barrier::isConnected);
  }

  @Override
  public BarrierTimes run(int warmUp, int count, long limitMs)
      throws InterruptedException, TimeoutException {
    Repeated repeated = new Repeated(warmUp, count);
    loop.call(() -> loop.add(repeated));
    try {
      if (!repeated.ended.await(limitMs, TimeUnit.MILLISECONDS)) {
        throw new TimeoutException(
            "%d of %d barriers %s in %d ms"
                .formatted(repeated.done, warmUp + count, barrier.spec(), limitMs));
      }
    } finally {
      loop.call(() -> loop.remove(repeated));
    }
    if (repeated.failure != null) {
      throw repeated.failure;
    }
    return repeated.times();
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
    private final CountDownLatch ended = new CountDownLatch(1);
    private final LatencyHistogram latency = new LatencyHistogram();
    private final int warmUp;
    private final int all;
    private volatile int done;
    private RuntimeException failure;
    private boolean inside;
    private long beganNs;
    private long arrivals;
    private long asks;
    private long answers;

    Repeated(int warmUp, int count) {
      this.warmUp = warmUp;
      this.all = warmUp + count;
    }

    @Override
    public int doWork(long nowNs) {
      int work = 0;
      try {
        // Several in a round where all others are ahead.
        while (!over() && step()) {
          work++;
        }
      } catch (RuntimeException e) {
        failure = e;
      }
      if (over()) {
        ended.countDown();
      }
      return work;
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
      if (done >= warmUp) {
        latency.record(System.nanoTime() - beganNs);
      }
      done++;
      if (done == warmUp) {
        arrivals = barrier.counts().arrivals();
        asks = barrier.counts().asks();
        answers = barrier.counts().answers();
      }
      return true;
    }

    @Override
    public boolean over() {
      return failure != null || done == all;
    }

    BarrierTimes times() {
      int count = all - warmUp;
      return new BarrierTimes(
          latency.encoded(),
          count,
          barrier.counts().arrivals() - arrivals,
          barrier.counts().asks() - asks,
          barrier.counts().answers() - answers);
    }
  }
}
