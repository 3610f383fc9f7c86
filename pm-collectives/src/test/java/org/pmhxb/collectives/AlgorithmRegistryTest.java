package org.pmhxb.collectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.pmhxb.collectives.algorithm.StandardAlgorithms;
import org.pmhxb.router.Shape;

class AlgorithmRegistryTest {
  /** Two of eight. */
  private static final int[] CLUSTERS = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};

  /** A user's own: the root sends to everybody itself. */
  private static final class Star implements Algorithm {
    private final double predictedNs;

    Star(double predictedNs) {
      this.predictedNs = predictedNs;
    }

    @Override
    public Collective collective() {
      return Collective.BROADCAST;
    }

    @Override
    public String name() {
      return "star";
    }

    @Override
    public String objection(Problem p) {
      return p.size() > 64 ? "more than 64 ranks" : null;
    }

    @Override
    public double predictNs(Problem p, CostModel model) {
      return predictedNs;
    }

    @Override
    public void plan(Problem p, PlanBuilder plan) {
      if (p.rank() != p.root()) {
        plan.receive(p.root(), Area.OUTPUT, 0, p.blockBytes());
        return;
      }
      for (int r = 0; r < p.size(); r++) {
        if (r != p.root()) {
          plan.send(r, Area.OUTPUT, 0, p.blockBytes());
        }
      }
    }
  }

  private static Problem problem(Collective collective, int ranks, long bytes, Topology topology) {
    int[] nodes = new int[ranks];
    java.util.Arrays.setAll(nodes, i -> i);
    return new Problem(collective, Group.of(1, 0, nodes), topology, bytes, 1, 0, false);
  }

  @Test
  void aUsersAlgorithmIsChosenWhenItIsPredictedBestAndRuns() {
    AlgorithmRegistry registry = StandardAlgorithms.registry().with(new Star(1));
    try (RingMembers members = new RingMembers(3, registry, CollectiveLimits.defaults())) {
      List<Communicator> all = members.join(1, 0, 1, 2);
      List<CollectiveCall> calls = new ArrayList<>();
      List<MemorySegment> got = new ArrayList<>();
      for (int r = 0; r < 3; r++) {
        got.add(MemorySegment.ofArray(new int[] {r == 1 ? 42 : 0}));
        calls.add(all.get(r).broadcast(got.get(r), 1));
      }
      members.untilDone(calls);

      assertThat(got).allSatisfy(m -> assertThat(m.get(ValueLayout.JAVA_INT, 0)).isEqualTo(42));
      assertThat(calls.getFirst().choice().algorithm().name()).isEqualTo("star");
      assertThat(calls.getFirst().choice().explain()).contains("star", "<- chosen", "binomial");
    }
  }

  @Test
  void theLeastPredictedTimeWinsAndTheChoiceSaysWhatItWasAmong() {
    AlgorithmRegistry registry = StandardAlgorithms.registry().with(new Star(1e12));
    Problem problem = problem(Collective.BROADCAST, 100, 8, Topology.flat());

    Choice choice = registry.choose(problem, CostModel.gigabit());

    assertThat(choice.algorithm().name()).isEqualTo("binomial");
    assertThat(choice.explain())
        .contains("cannot: more than 64 ranks", "cannot: the topology has no clusters");
    Choice named = registry.choose(problem, CostModel.gigabit(), "chain");
    assertThat(named.explain()).contains("named by the program");
    assertThatThrownBy(() -> registry.choose(problem, CostModel.gigabit(), "star"))
        .hasMessageContaining("more than 64 ranks");
    assertThatThrownBy(() -> registry.with(new Star(2))).hasMessageContaining("another name");
  }

  @Test
  void lengthAndNetworkDecide() {
    Topology flat = Topology.flat();
    Topology crossbar = Topology.crossbar(Shape.of(3, 5));
    CostModel slow = CostModel.gigabit().withSlow(1_000_000, 8, 0);
    Topology clusters = Topology.clusters(new int[] {0, 1, 0, 1, 0, 1, 0, 1}, 1);

    assertThat(name(problem(Collective.BROADCAST, 16, 1 << 22, flat))).isEqualTo("chain");
    assertThat(name(problem(Collective.BROADCAST, 15, 8, crossbar))).isEqualTo("crossbar");
    assertThat(name(problem(Collective.ALLREDUCE, 16, 8, flat))).isEqualTo("recursive-doubling");
    assertThat(name(problem(Collective.ALLREDUCE, 16, 1 << 22, flat))).isIn("ring", "rabenseifner");
    assertThat(name(problem(Collective.ALLTOALL, 16, 1 << 20, flat))).isEqualTo("pairwise");
    assertThat(
            StandardAlgorithms.registry()
                .choose(problem(Collective.BROADCAST, 8, 1 << 20, clusters), slow)
                .algorithm()
                .name())
        .startsWith("cluster");
  }

  /** In a round of pairwise 26 messages cross at once, of cluster 8 longer ones. */
  @Test
  void whatOverflowsTheQueueInFrontOfASlowLinkIsNotChosen() {
    Topology oneLink = Topology.clusters(CLUSTERS, 1);
    CostModel unknown = CostModel.gigabit().withSlow(22_000, 8, 0);
    CostModel queue = CostModel.gigabit().withSlow(22_000, 8, 256 * 1024);

    for (int bytes : new int[] {16_384, 65_536, 262_144}) {
      assertThat(alltoall(bytes, oneLink, unknown)).as(bytes + " B").isEqualTo("pairwise");
      assertThat(alltoall(bytes, oneLink, queue)).as(bytes + " B").isEqualTo("cluster");
    }
    assertThat(alltoall(4_096, oneLink, queue)).as("all fits").isEqualTo("pairwise");
    assertThat(alltoall(65_536, Topology.clusters(CLUSTERS, 4), queue))
        .as("four links have four queues")
        .isEqualTo("pairwise");
  }

  private static String alltoall(int bytes, Topology topology, CostModel model) {
    Problem problem = problem(Collective.ALLTOALL, 16, bytes, topology);
    return StandardAlgorithms.registry().choose(problem, model).algorithm().name();
  }

  private static String name(Problem problem) {
    return StandardAlgorithms.registry().choose(problem, CostModel.gigabit()).algorithm().name();
  }

  @Test
  void aPlanThatMakesNoSenseIsRefusedWhenItIsMade() {
    Problem p = problem(Collective.BROADCAST, 3, 100, Topology.flat());
    assertThatThrownBy(() -> planned(p, b -> b.send(0, Area.OUTPUT, 0, 1)))
        .hasMessageContaining("no messages with rank 0");
    assertThatThrownBy(() -> planned(p, b -> b.send(1, Area.OUTPUT, 90, 20)))
        .hasMessageContaining("which has 100");
    assertThatThrownBy(() -> planned(p, b -> b.receive(1, Area.INPUT, 0, 1)))
        .hasMessageContaining("not written");
    assertThatThrownBy(() -> planned(p, b -> b.receive(1, Area.SCRATCH, 0, 1)))
        .hasMessageContaining("SCRATCH, which has 0");
    assertThat(planned(p, b -> b.send(1, Area.OUTPUT, 0, 0)).steps()).isZero();
  }

  private static Plan planned(Problem problem, java.util.function.Consumer<PlanBuilder> steps) {
    return PlanBuilder.plan(
        problem,
        new Algorithm() {
          @Override
          public Collective collective() {
            return problem.collective();
          }

          @Override
          public String name() {
            return "test";
          }

          @Override
          public double predictNs(Problem p, CostModel model) {
            return 0;
          }

          @Override
          public void plan(Problem p, PlanBuilder plan) {
            steps.accept(plan);
          }
        });
  }
}
