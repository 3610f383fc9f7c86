package org.pmhxb.cli.bench.barrier;

import java.util.ArrayList;
import java.util.List;
import org.pmhxb.cli.workload.LatencyHistogram;
import org.pmhxb.collectives.barrier.Barrier;
import org.pmhxb.collectives.barrier.Barriers;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.collectives.barrier.plan.Planner;
import org.pmhxb.collectives.logp.BarrierModel;
import org.pmhxb.pm.Counter;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;

/**
 * Barriers over the ring fabric: one thread is the program of every node, polls every node, and
 * carries every frame. A barrier's time is from before the first arrives until all have left.
 */
public final class RingBarrierRun implements AutoCloseable {
  private static final long PATIENCE_NS = 30_000_000_000L;

  private final RingCluster cluster;
  private final Participants group;
  private int number;

  /** Builds the cluster and waits until its nodes know one another. */
  public RingBarrierRun(Shape shape, int rails) {
    cluster = RingCluster.create(RingCluster.Options.of(shape, rails));
    group = BarrierSuite.everyone(shape, rails);
    try {
      await(cluster::isComplete, "the nodes know one another");
    } catch (RuntimeException e) {
      cluster.close();
      throw e;
    }
  }

  /** What is waited for. */
  private interface Condition {
    boolean holds();
  }

  private void await(Condition condition, String what) {
    long startNs = System.nanoTime();
    while (!condition.holds()) {
      long nowNs = System.nanoTime();
      cluster.doWork(nowNs);
      requirePatience(nowNs - startNs, what);
    }
  }

  private static void requirePatience(long ns, String what) {
    if (ns > PATIENCE_NS) {
      throw new IllegalStateException("after 30 s it does not hold that " + what);
    }
  }

  public RingCluster cluster() {
    return cluster;
  }

  public Participants group() {
    return group;
  }

  /** Opens a barrier on all nodes and waits for their sessions. */
  public Barrier[] open(BarrierSpec spec) {
    number++;
    List<Barrier> opened = new ArrayList<>();
    for (int rank = 0; rank < group.size(); rank++) {
      opened.add(Barriers.of(cluster.node(group.node(rank))).open(number, group, spec));
    }
    await(() -> opened.stream().allMatch(Barrier::isConnected), "all nodes have their sessions");
    return opened.toArray(Barrier[]::new);
  }

  /** Runs barriers for two times after each other, and measures in the second. */
  public BarrierLine measure(BarrierSpec spec, BarrierModel model, long warmUpNs, long measureNs) {
    Barrier[] barriers = open(spec);
    try {
      LatencyHistogram latency = new LatencyHistogram();
      repeat(barriers, latency, warmUpNs);
      latency.clear();
      long frames = framesSent();
      long beyond = beyondCount(barriers);
      long count = repeat(barriers, latency, measureNs);
      double each = (double) (framesSent() - frames) / count;
      return new BarrierLine(
              spec.toString(),
              group.size(),
              spec.rails(),
              latency.summary(),
              each,
              Planner.frames(group, spec),
              count,
              beyondCount(barriers) - beyond,
              0,
              0)
          .predicted(model.predictNs(group, spec));
    } finally {
      for (Barrier barrier : barriers) {
        barrier.close();
      }
    }
  }

  private long repeat(Barrier[] barriers, LatencyHistogram latency, long forNs) {
    long startNs = System.nanoTime();
    long beganNs = startNs;
    long count = 0;
    while (beganNs - startNs < forNs) {
      barrier(barriers);
      long endNs = System.nanoTime();
      latency.record(endNs - beganNs);
      count++;
      beganNs = endNs;
    }
    return count;
  }

  /** One barrier of all nodes. */
  public void barrier(Barrier[] barriers) {
    for (Barrier barrier : barriers) {
      barrier.arrive();
    }
    int left = 0;
    long startNs = System.nanoTime();
    while (left < barriers.length) {
      long nowNs = System.nanoTime();
      cluster.doWork(nowNs);
      requirePatience(nowNs - startNs, "all nodes have left the barrier");
      while (left < barriers.length && barriers[left].test()) {
        left++;
      }
    }
  }

  private long framesSent() {
    long sum = 0;
    for (int i = 0; i < cluster.size(); i++) {
      sum += cluster.node(i).counters().get(Counter.COLLECTIVES_SENT);
    }
    return sum;
  }

  private static long beyondCount(Barrier[] barriers) {
    long sum = 0;
    for (Barrier barrier : barriers) {
      sum += barrier.counts().beyond();
    }
    return sum;
  }

  @Override
  public void close() {
    cluster.close();
  }
}
