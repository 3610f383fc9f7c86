package org.pmhxb.collectives;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.pmhxb.collectives.algorithm.StandardAlgorithms;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;

/**
 * Who breaks a group has word of it to get rid of, also where its member's collectives are closed
 * and never granted it credit.
 */
class LateAbortTest {
  private static final int ENDPOINT = 5;

  private long nowNs = 1_000_000_000L;

  @Test
  void whoBreaksAGroupSettlesAfterTheOtherHasClosed() {
    try (RingCluster cluster = RingCluster.create(RingCluster.Options.of(Shape.of(2), 1))) {
      Collectives breaks = collectives(cluster, 0);
      Collectives leaves = collectives(cluster, 1);
      Communicator broken = breaks.join(Group.of(1, 0, 0, 1), Topology.flat());
      leaves.join(Group.of(1, 1, 0, 1), Topology.flat()).close();
      leaves.close(); // the node goes on

      broken.abandon();
      broken.close();

      assertSettles(cluster, breaks);
      breaks.close();
    }
  }

  /** The same of a number of members, each of which closes at once when it has left. */
  @Test
  void allBreakAndCloseOneAfterTheOther() {
    int nodes = 4;
    try (RingCluster cluster = RingCluster.create(RingCluster.Options.of(Shape.of(nodes), 1))) {
      List<Collectives> all = new ArrayList<>();
      List<Communicator> group = new ArrayList<>();
      for (int n = 0; n < nodes; n++) {
        all.add(collectives(cluster, n));
        group.add(all.get(n).join(Group.all(1, cluster.node(n)), Topology.flat()));
      }
      for (int n = 0; n < nodes; n++) {
        group.get(n).abandon();
        group.get(n).close();
        assertSettles(cluster, all.get(n));
        all.get(n).close();
      }
    }
  }

  /** Who gives up what is under way tells nobody where nobody can be told any more. */
  @Test
  void collectivesAreClosedBehindTheirNode() {
    try (RingCluster cluster = RingCluster.create(RingCluster.Options.of(Shape.of(4), 1))) {
      Collectives one = collectives(cluster, 0);
      Communicator first = one.join(Group.of(1, 0, 0, 1, 2, 3), Topology.flat());
      Communicator second = one.join(Group.of(2, 0, 0, 1, 2, 3), Topology.flat());
      first.use(Collective.BROADCAST, "chain");
      second.use(Collective.BROADCAST, "chain");
      CollectiveCall firstCall = first.broadcast(MemorySegment.ofArray(new byte[8]), 1);
      CollectiveCall secondCall = second.broadcast(MemorySegment.ofArray(new byte[8]), 1);
      cluster.node(0).close();

      one.close();

      assertThat(one.groups()).isZero();
      assertThat(firstCall.failure()).hasMessageContaining("was given up");
      assertThat(secondCall.failure()).hasMessageContaining("was given up");
    }
  }

  private static Collectives collectives(RingCluster cluster, int node) {
    return new Collectives(
        cluster.node(node),
        ENDPOINT,
        StandardAlgorithms.registry(),
        CostModel.gigabit(),
        new CollectiveLimits(1 << 16, 1 << 16));
  }

  private void assertSettles(RingCluster cluster, Collectives one) {
    int rounds = 0;
    while (!one.isSettled()) {
      assertThat(rounds++).as("rounds of 2 us").isLessThan(500_000);
      cluster.doWork(nowNs += 2_000);
      one.poll();
    }
  }
}
