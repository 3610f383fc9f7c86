package org.pmhxb.collectives;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.pmhxb.pm.Idle;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;

/** The nodes of a ring cluster with their collectives, polled and given the time by the test. */
final class RingMembers implements AutoCloseable {
  private static final int ENDPOINT = 5;
  private static final int ROUNDS_MOST = 5_000_000;
  private static final long ROUND_NS = 2_000;

  private final RingCluster cluster;
  private final List<Collectives> all = new ArrayList<>();
  private long nowNs = 1_000_000_000L;

  RingMembers(int nodes, AlgorithmRegistry registry, CollectiveLimits limits) {
    this(RingCluster.Options.of(Shape.of(nodes), 1), registry, limits);
  }

  RingMembers(RingCluster.Options options, AlgorithmRegistry registry, CollectiveLimits limits) {
    cluster = RingCluster.create(options);
    int nodes = options.shape().nodes();
    for (int n = 0; n < nodes; n++) {
      all.add(new Collectives(cluster.node(n), ENDPOINT, registry, CostModel.gigabit(), limits));
    }
  }

  Collectives at(int node) {
    return all.get(node);
  }

  /** Each of some nodes joins a group of them. */
  List<Communicator> join(int group, int... nodes) {
    List<Communicator> joined = new ArrayList<>();
    for (int node : nodes) {
      joined.add(at(node).join(Group.of(group, node, nodes), Topology.flat()));
    }
    return joined;
  }

  /** All nodes go on until something holds. */
  void until(BooleanSupplier condition) {
    int rounds = 0;
    while (!condition.getAsBoolean()) {
      assertThat(rounds++).as("rounds until it holds").isLessThan(ROUNDS_MOST);
      round();
    }
  }

  void round() {
    cluster.doWork(nowNs += ROUND_NS);
    for (int i = 0; i < all.size(); i++) {
      all.get(i).poll();
    }
  }

  void rounds(int count) {
    for (int i = 0; i < count; i++) {
      round();
    }
  }

  void untilDone(List<CollectiveCall> calls) {
    until(() -> calls.stream().allMatch(CollectiveCall::isDone));
  }

  /** For blocking calls: the others go on meanwhile. */
  Idle others() {
    return work -> round();
  }

  /** The last node has no more collectives, and goes on. */
  void closeLast() {
    all.removeLast().close();
  }

  /** The process of a node is gone as far as the others can see: it ends its sessions. */
  void stop(int node) {
    all.get(node).close();
    all.remove(node);
    cluster.node(node).quit();
  }

  @Override
  public void close() {
    all.forEach(Collectives::close);
    cluster.closeTraffic();
    assertThat(cluster.leakedBuffers()).isZero();
    cluster.close();
  }
}
