package org.pmhxb.cli.bench.grid;

import java.util.Collections;
import java.util.List;
import org.pmhxb.collectives.AlgorithmRegistry;
import org.pmhxb.collectives.CollectiveLimits;
import org.pmhxb.collectives.Collectives;
import org.pmhxb.collectives.Group;
import org.pmhxb.collectives.Problem;
import org.pmhxb.collectives.algorithm.StandardAlgorithms;
import org.pmhxb.sim.NodeOptions;
import org.pmhxb.sim.SimOptions;
import org.pmhxb.sim.SimResult;
import org.pmhxb.sim.Simulation;
import org.pmhxb.sim.fault.Schedule;
import org.pmhxb.sim.net.LinkSpec;
import org.pmhxb.sim.work.Host;
import org.pmhxb.sim.work.Program;

/** Measures one case on a simulated machine of its own. Owner: one thread. */
final class GridRun {
  /** Measured repetitions. */
  static final int REPEATS = 3;

  /** Waiting nodes look for work so often, by the length of a message up to which it holds. */
  private static final long[] GAPS_NS = {2_000, 20_000, 200_000};

  private static final int[] GAPS_BYTES = {4_096, 65_536, Integer.MAX_VALUE};

  private static final int ENDPOINT = 1;
  private static final int STREAM_MESSAGES = 512;
  private static final long STREAM_BYTES_MOST = 2 << 20;
  private static final AlgorithmRegistry REGISTRY =
      StandardAlgorithms.registry().with(new GrowingBinomial());

  private final GridCase grid;
  private final int[] nodes;
  private final GridMember[] members;
  private final GridClock clock;

  private GridRun(GridCase grid) {
    this.grid = grid;
    this.nodes =
        grid.operation() == null ? new int[] {0, GridNetwork.BOUNDARY} : grid.network().nodes();
    this.members = new GridMember[nodes.length];
    this.clock = new GridClock(nodes.length);
  }

  /**
   * Runs it.
   *
   * @throws IllegalStateException the simulation found a violation, or a result was wrong
   */
  static GridPoint measure(GridCase grid) {
    return new GridRun(grid).measure();
  }

  /** Messages of a stream between two instants. */
  static int streamMessages(int bytes) {
    return (int) Math.clamp(STREAM_BYTES_MOST / bytes, 4, STREAM_MESSAGES);
  }

  /** Frames carry 8,000 bytes. */
  private NodeOptions node() {
    int i = 0;
    while (grid.bytes() > GAPS_BYTES[i]) {
      i++;
    }
    long gapNs = GAPS_NS[i];
    return new NodeOptions(
        256, 1_536, 256, 64, 128, 512, 8_192, 5_000_000_000L, -1, true, gapNs, gapNs);
  }

  private GridPoint measure() {
    NodeOptions node = node();
    SimOptions options =
        new SimOptions(
                GridNetwork.SHAPE,
                1,
                1,
                node,
                Collections.nCopies(3, LinkSpec.gigabit()),
                new Schedule(GridNetwork.SHAPE, 1, node.peerTimeoutNs(), List.of()),
                this::programs,
                60_000_000_000L,
                1_000,
                false)
            .withTrunk(grid.network().trunk());
    SimResult result = Simulation.run(options);
    if (!result.ok()) {
      throw new IllegalStateException(grid + ": " + result.violation());
    }
    double[] ns = new double[REPEATS];
    for (int i = 0; i < REPEATS; i++) {
      long from = Long.MAX_VALUE;
      long to = 0;
      for (GridMember m : members) {
        from = Math.min(from, m.beganNs(i));
        to = Math.max(to, m.endedNs(i));
      }
      ns[i] = (double) (to - from) / (grid.operation() == null ? streamMessages(grid.bytes()) : 1);
    }
    return GridPoint.of(grid, isChosen(), ns, nodes.length);
  }

  private boolean isChosen() {
    if (grid.operation() == null) {
      return false;
    }
    int elementBytes = grid.operation().isReducing() ? Integer.BYTES : 1;
    Problem problem =
        new Problem(
            grid.operation(),
            Group.of(0, 0, nodes),
            grid.network().topology(),
            grid.bytes(),
            elementBytes,
            0,
            false);
    return REGISTRY
        .choose(problem, grid.network().model())
        .algorithm()
        .name()
        .equals(grid.algorithm());
  }

  private List<Program> programs(Host host) {
    for (int rank = 0; rank < nodes.length; rank++) {
      if (nodes[rank] == host.self()) {
        for (int other : nodes) {
          if (GridNetwork.isFar(host.self(), other)) {
            host.node().longWay(other, grid.network().longWayNs());
          }
        }
        Collectives collectives =
            new Collectives(
                host.node(),
                ENDPOINT,
                REGISTRY,
                grid.network().model(),
                CollectiveLimits.defaults());
        members[rank] = new GridMember(grid, clock, collectives, Group.of(1, host.self(), nodes));
        return List.of(members[rank]);
      }
    }
    return List.of();
  }
}
