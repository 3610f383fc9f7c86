package org.pmhxb.collectives.barrier;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.pm.Counter;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;

/**
 * A cluster in one process, polled by the test, with one barrier open on each member. Nodes and
 * wire are given the time, so that nobody waits for what is overdue and no stop of the process
 * counts.
 */
final class RingBarriers implements AutoCloseable {
  private static final long PATIENCE_NS = 20_000_000_000L;
  private static final long STEP_NS = 2_000;

  final RingCluster cluster;
  final List<Barrier> barriers = new ArrayList<>();
  final Participants group;
  private long nowNs = 1_000_000_000L;

  RingBarriers(RingCluster.Options options, BarrierSpec spec, int... members) {
    this(options, members);
    open(1, spec);
  }

  /** With no barrier yet. */
  RingBarriers(RingCluster.Options options, int... members) {
    cluster = RingCluster.create(options);
    Shape shape = options.shape();
    int[] who = members;
    if (who.length == 0) {
      who = new int[shape.nodes()];
      Arrays.setAll(who, i -> i);
    }
    group = Participants.of(shape, options.rails(), who);
    await(cluster::isComplete);
  }

  void open(int number, BarrierSpec spec) {
    openAtOnce(number, spec);
    await(() -> barriers.stream().allMatch(Barrier::isConnected));
  }

  /** Without waiting for the sessions. */
  void openAtOnce(int number, BarrierSpec spec) {
    barriers.clear();
    for (int rank = 0; rank < group.size(); rank++) {
      barriers.add(Barriers.of(cluster.node(group.node(rank))).open(number, group, spec));
    }
  }

  /** What a condition of the test says. */
  interface Condition {
    boolean holds();
  }

  void await(Condition condition) {
    long startNs = nowNs;
    while (!condition.holds()) {
      work();
      if (nowNs - startNs > PATIENCE_NS) {
        throw new AssertionError("nothing came of it in 20 s");
      }
    }
  }

  /** One round of all nodes and the wire. */
  void work() {
    cluster.doWork(nowNs += STEP_NS);
  }

  boolean allLeft() {
    for (int i = 0; i < barriers.size(); i++) {
      if (!barriers.get(i).test()) {
        return false;
      }
    }
    return true;
  }

  /** One barrier: all arrive, all leave. */
  void barrier() {
    for (int i = 0; i < barriers.size(); i++) {
      barriers.get(i).arrive();
    }
    while (!allLeft()) {
      work();
    }
  }

  long framesSent() {
    long sum = 0;
    for (int i = 0; i < cluster.size(); i++) {
      sum += cluster.node(i).counters().get(Counter.COLLECTIVES_SENT);
    }
    return sum;
  }

  long refused() {
    return barriers.stream().mapToLong(b -> b.counts().refused()).sum();
  }

  long beyond() {
    return barriers.stream().mapToLong(b -> b.counts().beyond()).sum();
  }

  long asks() {
    return barriers.stream().mapToLong(b -> b.counts().asks()).sum();
  }

  @Override
  public void close() {
    cluster.close();
  }
}
