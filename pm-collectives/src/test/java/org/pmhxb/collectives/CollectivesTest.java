package org.pmhxb.collectives;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.collectives.algorithm.StandardAlgorithms;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.NodeOptions;
import org.pmhxb.sim.SimResult;

/** Every algorithm against the reference, without faults, under the virtual clock. */
class CollectivesTest {
  @ParameterizedTest
  @CsvSource({
    "1, 1, flat",
    "2, 2, flat",
    "3, 2, flat",
    "4, 4, flat",
    "5, 5, flat",
    "7, 7, flat",
    "11, 9, flat",
    "16, 16, flat",
    "2x2x2, 8, crossbar",
    "3x2x2, 12, crossbar",
    "4x3, 12, crossbar",
    "2x2x3, 7, crossbar",
    "4x2, 8, clusters-1",
    "3x3, 9, clusters-1",
    "3x2x2, 12, clusters-2",
    "9, 8, clusters-0",
    "10, 7, clusters-0",
  })
  void everyAlgorithmGivesWhatTheReferenceGives(String shape, int ranks, String network) {
    for (long seed = 1; seed <= 3; seed++) {
      Shape machine = Shape.parse(shape);
      Topology topology = machine.dimensions() == 1 ? Topology.flat() : Topology.crossbar(machine);
      int[] members = members(machine, ranks, seed);
      Script script =
          Script.everyAlgorithm(
              seed,
              Group.of(9, members[0], members),
              topology,
              StandardAlgorithms.registry(),
              40_000);
      SimMachine sim =
          new SimMachine(machine, 1, members, topology, script, CollectiveLimits.defaults());

      SimResult result = sim.run(seed, NodeOptions.small(), List.of());

      check(result, sim, script);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void longMessagesFlowThroughSmallWindows(long seed) {
    Shape machine = Shape.of(6);
    int[] members = members(machine, 6, seed);
    Script script =
        Script.everyAlgorithm(
            seed,
            Group.of(9, members[0], members),
            Topology.flat(),
            StandardAlgorithms.registry(),
            1_300_000);
    SimMachine sim =
        new SimMachine(
            machine,
            1,
            members,
            Topology.flat(),
            script,
            new CollectiveLimits(4_096, CollectiveLimits.defaults().strangerBytes()));

    SimResult result = sim.run(seed, NodeOptions.small(), List.of());

    check(result, sim, script);
  }

  /** Clusters by a dimension's coordinate; of one line, three at random. */
  static Topology topology(String network, Shape machine, long seed) {
    return switch (network) {
      case "flat" -> Topology.flat();
      case "crossbar" -> Topology.crossbar(machine);
      case "clusters-0" ->
          Topology.clusters(new SplittableRandom(seed).ints(machine.nodes(), 0, 3).toArray(), 2);
      default -> Topology.crossbar(machine, network.charAt(network.length() - 1) - '0');
    };
  }

  static int[] members(Shape shape, int ranks, long seed) {
    int[] nodes = IntStream.range(0, shape.nodes()).toArray();
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = nodes.length - 1; i > 0 && seed > 1; i--) {
      int j = random.nextInt(i + 1);
      int other = nodes[i];
      nodes[i] = nodes[j];
      nodes[j] = other;
    }
    return Arrays.copyOf(nodes, ranks);
  }

  static void check(SimResult result, SimMachine sim, Script script) {
    assertThat(result.violation()).isNull();
    for (RankRun run : sim.runs()) {
      assertThat(run.failure()).as(run.where()).isNull();
      assertThat(run.callsDone()).isEqualTo(script.calls().size()).isPositive();
      assertThat(run.collectives().malformed()).isZero();
    }
    for (int c = 0; c < script.calls().size(); c++) {
      Script.Call call = script.calls().get(c);
      if (call.collective() == Collective.ALLREDUCE) {
        for (RankRun run : sim.runs()) {
          assertThat(run.hashes().get(c))
              .as("%s: all ranks have the same bits", call)
              .isEqualTo(sim.runs()[0].hashes().get(c));
        }
      }
    }
  }
}
