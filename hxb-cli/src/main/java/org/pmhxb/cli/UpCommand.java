package org.pmhxb.cli;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import org.pmhxb.cli.cluster.ClusterLauncher;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.cluster.ClusterSpec;
import org.pmhxb.cli.cluster.ClusterState;
import org.pmhxb.cli.cluster.NodeJvm;
import org.pmhxb.cli.cluster.TakeDown;
import org.pmhxb.router.Shape;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Brings up a cluster of processes on this machine. */
@Command(
    name = "up",
    description = {
      "Bring up a cluster on this machine, one JVM per node: with a network namespace for each,"
          + " joined by veth pairs, by bridges where a line has more than two nodes (needs root); or"
          + " joined by shared memory.",
      "Returns when every node is ready. A cluster that does not come up leaves nothing behind."
    },
    footer = {
      "",
      "Example: hxb up --shape 2x2x2 --rails 2 --rate 200mbit",
      "         hxb up --fabric shm --shape 2x2"
    })
final class UpCommand extends ClusterCommand {
  @Mixin private ClusterOptions options;

  @Option(
      names = "--fabric",
      paramLabel = "FABRIC",
      defaultValue = "veth",
      description =
          "What joins the nodes: veth, shm (shared memory, by lines of our own) or memif (by its"
              + " protocol). Shared memory joins lines of two nodes.")
  private ClusterSpec.Fabric fabric;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      defaultValue = "60",
      description = "How long the nodes may take to be ready, 1 to 3600.")
  private int timeoutSeconds;

  /**
   * @param seconds from the command's start until every node was ready
   */
  record Up(
      boolean ok,
      String cluster,
      String fabric,
      String shape,
      int rails,
      String rate,
      double seconds,
      String directory,
      String seeAlso,
      List<ClusterState.Node> nodes)
      implements Report {
    @Override
    public void print(PrintWriter out) {
      out.printf(
          "cluster %s is up: %d nodes, shape %s, %s%s, %s fabric, in %.1f s%n",
          cluster,
          nodes.size(),
          shape,
          Words.count(rails, "rail"),
          rate == null ? "" : " of " + rate,
          fabric,
          seconds);
      out.printf("  %-5s %-10s %-20s %-8s%n", "node", "at", "namespace", "process");
      for (ClusterState.Node node : nodes) {
        out.printf(
            "  %-5d %-10s %-20s %-8d%n",
            node.node(),
            Options.place(node.coordinates()),
            node.namespace().isEmpty() ? "-" : node.namespace(),
            node.pid());
      }
      out.printf("logs and sockets: %s; see also: %s%n", directory, seeAlso);
    }
  }

  @Override
  protected Report run() throws Exception {
    range("--timeout", timeoutSeconds, 1, 3_600);
    long startNs = System.nanoTime();
    ClusterSpec spec =
        options.spec(this, fabric, options.shapeOr(Shape.of(2, 2, 2)), options.railsOr(this, 2));
    ClusterPaths paths = paths();
    try (TakeDown guard = new TakeDown(paths)) {
      ClusterState state =
          new ClusterLauncher(paths, nodeCommand(), progress()::update)
              .up(spec, Duration.ofSeconds(timeoutSeconds));
      return new Up(
          true,
          state.cluster(),
          state.fabric(),
          state.shape(),
          state.rails(),
          state.rate().isEmpty() ? null : state.rate(),
          (System.nanoTime() - startNs) / 1e9,
          paths.directory().toString(),
          paths.command("status") + ", " + paths.command("down"),
          state.nodes());
    }
  }

  /** Starts {@link NodeProcess} in a JVM like this one; its words follow. */
  static List<String> nodeCommand() {
    return NodeJvm.command(NodeProcess.class.getName());
  }
}
