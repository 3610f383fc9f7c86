package org.pmhxb.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.pmhxb.cli.bench.BenchCluster;
import org.pmhxb.cli.bench.Bounded;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.bench.Spread;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.cluster.ClusterSpec;
import org.pmhxb.cli.cluster.TakeDown;
import org.pmhxb.router.Shape;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** How long nodes take to be ready. */
@Command(
    name = "start",
    description = {
      "Bring up nodes over veth, and measure the time until all are ready to carry messages: their"
          + " JVMs, links, rehearsal and discovery of each other. Two links a node and dimension."
    },
    footer = {"", "Example: hxb bench start --nodes 2,8 --json"})
final class StartCommand extends ClusterCommand {
  private static final Duration UP_LIMIT = Duration.ofSeconds(120);
  private static final int RAILS = 2;

  private record Budget(Shape shape, double mustSeconds, double aimSeconds) {}

  /** Two nodes start together, so of one node's bound both have to take less. */
  private static final Map<Integer, Budget> BUDGETS =
      Map.of(
          2, new Budget(Shape.of(2), 2, 1),
          8, new Budget(Shape.of(2, 2, 2), 15, 10));

  @Option(
      names = "--nodes",
      paramLabel = "N",
      split = ",",
      defaultValue = "2,8",
      description = "How many start together: 2, 8, or both, separated by a comma.")
  private List<Integer> nodes;

  @Mixin private RunsOption runsGiven;

  @Mixin private BudgetsOption budgets;

  /**
   * So many nodes.
   *
   * @param seconds from the order until all are ready
   */
  record Start(int nodes, String shape, int rails, Bounded seconds) {}

  /** What came of it. */
  record Result(
      boolean ok, String machine, String command, List<String> missed, List<Start> results)
      implements Report {
    @Override
    public void print(PrintWriter out) {
      for (Start start : results) {
        out.printf(
            "%d nodes, shape %s, %d rails, ready in %s%n",
            start.nodes, start.shape, start.rails, start.seconds.line("s"));
      }
      out.printf("machine: %s%ncommand: %s%n", machine, command);
    }
  }

  @Override
  protected Result run() throws Exception {
    int runs = runsGiven.runsOr(this, 3);
    for (int count : nodes) {
      if (!BUDGETS.containsKey(count)) {
        throw wrongUsage("--nodes is " + count + "; must be 2 or 8");
      }
    }
    List<Start> results = new ArrayList<>();
    for (int count : nodes) {
      Budget budget = BUDGETS.get(count);
      List<Double> seconds = new ArrayList<>();
      for (int i = 1; i <= runs; i++) {
        progress().update("%d nodes, start %d of %d".formatted(count, i, runs));
        seconds.add(start(budget.shape));
      }
      Bounded bounded = Bounded.atMost(Spread.of(seconds), budget.mustSeconds, budget.aimSeconds);
      results.add(new Start(count, budget.shape.toString(), RAILS, bounded));
    }
    String which = String.join(",", nodes.stream().map(String::valueOf).toList());
    return new Result(
        true,
        MachineInfo.here(Version.project()).line(),
        "hxb bench start --nodes %s --runs %d".formatted(which, runs),
        results.stream()
            .flatMap(s -> s.seconds.missed("start of " + s.nodes + " nodes", "s").stream())
            .toList(),
        results);
  }

  private double start(Shape shape) throws IOException {
    ClusterSpec spec = new ClusterSpec(ClusterSpec.Fabric.VETH, shape, RAILS, null);
    ClusterPaths own = ownPaths(BenchCluster.ownName());
    long startNs = System.nanoTime();
    try (TakeDown guard = new TakeDown(own);
        BenchCluster cluster =
            BenchCluster.up(own, spec, UpCommand.nodeCommand(), UP_LIMIT, line -> {})) {
      return (System.nanoTime() - startNs) / 1e9;
    }
  }
}
