package org.pmhxb.collectives;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.pmhxb.collectives.algorithm.StandardAlgorithms;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;

/** The same over DPDK rings: real buffers, real time, all nodes polled by this thread. */
class RingCollectivesTest {
  private static final int ENDPOINT = 5;

  /** Far more rounds than are needed; a hang ends here. */
  private static final int ROUNDS_MOST = 20_000_000;

  private static final long ROUND_NS = 2_000;

  @ParameterizedTest
  @CsvSource({"2x2x2, 0.0, 1", "2x2x2, 0.01, 2", "3x2, 0.0, 3"})
  void everyAlgorithmOverRings(String shape, double loss, long seed) {
    Shape machine = Shape.parse(shape);
    Topology topology = Topology.crossbar(machine);
    try (RingCluster cluster =
        RingCluster.create(RingCluster.Options.of(machine, 1).withLoss(loss, seed))) {
      Script script =
          Script.everyAlgorithm(
              seed,
              Group.all(1, cluster.node(0)),
              topology,
              StandardAlgorithms.registry(),
              300_000);
      script.add(
          new Script.Call(
              script.calls().size(),
              Collective.ALLREDUCE,
              1_500_000,
              ElementType.INT,
              ReduceOp.SUM,
              0,
              null,
              true,
              false));
      List<RankRun> runs = new ArrayList<>();
      for (int n = 0; n < cluster.size(); n++) {
        Collectives collectives =
            new Collectives(
                cluster.node(n),
                ENDPOINT,
                StandardAlgorithms.registry(),
                CostModel.gigabit(),
                CollectiveLimits.defaults());
        runs.add(new RankRun(script, collectives, Group.all(1, cluster.node(n)), topology));
      }
      int rounds = 0;
      long nowNs = 1_000_000_000L;
      while (!runs.stream().allMatch(RankRun::isOver) && rounds++ < ROUNDS_MOST) {
        cluster.doWork(nowNs += ROUND_NS);
        runs.forEach(RankRun::step);
      }
      for (RankRun run : runs) {
        assertThat(run.failure()).isNull();
        assertThat(run.callsDone()).as(run.where()).isEqualTo(script.calls().size());
        assertThat(run.collectives().malformed()).isZero();
        run.collectives().close();
      }
      cluster.closeTraffic();
      assertThat(cluster.leakedBuffers()).isZero();
    }
  }
}
