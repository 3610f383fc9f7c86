package org.pmhxb.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.Locale;
import org.pmhxb.cli.bench.BenchCluster;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.cluster.ClusterSpec;
import org.pmhxb.cli.cluster.NodeOptions;
import org.pmhxb.cli.cluster.PollPolicy;
import org.pmhxb.cli.cluster.TakeDown;
import org.pmhxb.cli.veth.FabricPlan;
import org.pmhxb.router.RailLayout;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;
import picocli.CommandLine.Option;

/**
 * The machine that a measurement of collective operations builds for itself: in this process, or a
 * process for each node.
 */
final class MachineOptions {
  /** What joins the nodes. */
  enum Fabric {
    RING,
    VETH;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private static final Duration UP_LIMIT = Duration.ofSeconds(120);
  private static final int LARGEST_LINE = 64;

  @Option(
      names = "--fabric",
      paramLabel = "FABRIC",
      defaultValue = "ring",
      description = "ring: one process and one thread for all nodes; veth: a process for each.")
  private Fabric fabric;

  @Option(
      names = "--nodes",
      paramLabel = "N",
      description = "Nodes on one line, 2 to 64, instead of --shape.")
  private Integer nodes;

  @Option(
      names = "--shape",
      paramLabel = "SHAPE",
      converter = Options.ShapeConverter.class,
      description =
          "Shape of the machine, as in 2x2x2: 2 nodes or more; over veth 64 at most, over the ring"
              + " 512 rails in all.")
  private Shape shape;

  @Option(
      names = "--rails",
      paramLabel = "R",
      defaultValue = "2",
      description = "Rails per dimension, 1 to 9.")
  private int rails;

  /** Done with a cluster of processes while it is up. */
  @FunctionalInterface
  interface Work<T> {
    T with(BenchCluster cluster) throws IOException, InterruptedException;
  }

  Fabric fabric() {
    return fabric;
  }

  int rails(HxbCommand command) {
    command.range("--rails", rails, 1, RailLayout.MAX_PER_DIMENSION);
    return rails;
  }

  /** As given, or another; what does not go together is wrong usage of the command. */
  Shape shapeOr(HxbCommand command, Shape other) {
    if (shape != null && nodes != null) {
      throw command.wrongUsage("--nodes stands for a line; give it or --shape " + shape);
    }
    if (nodes != null) {
      command.range("--nodes", nodes, 2, LARGEST_LINE);
      return fitting(command, "--nodes", Shape.of(nodes));
    }
    return fitting(command, "--shape", shape == null ? other : shape);
  }

  private Shape fitting(HxbCommand command, String option, Shape of) {
    if (of.nodes() < 2) {
      throw command.wrongUsage(option + " is " + of + "; must have 2 nodes or more");
    }
    boolean ring = fabric == Fabric.RING;
    try {
      if (ring) {
        RingCluster.requireFits(of, rails(command));
      } else {
        FabricPlan.requireFits(of);
      }
    } catch (IllegalArgumentException e) {
      throw command.wrongUsage((ring ? option + ": " : "") + e.getMessage());
    }
    return of;
  }

  /**
   * Brings up a cluster of processes over veth, under a name of its own, and takes it down when the
   * work is done or has failed.
   */
  static <T> T onVeth(ClusterCommand command, Shape shape, int rails, PollPolicy poll, Work<T> work)
      throws IOException, InterruptedException {
    ClusterSpec spec =
        new ClusterSpec(ClusterSpec.Fabric.VETH, shape, rails, null, poll, NodeOptions.NONE);
    ClusterPaths own = command.ownPaths(BenchCluster.ownName());
    try (TakeDown guard = new TakeDown(own);
        BenchCluster cluster =
            BenchCluster.up(
                own, spec, UpCommand.nodeCommand(), UP_LIMIT, command.progress()::update)) {
      return work.with(cluster);
    }
  }
}
