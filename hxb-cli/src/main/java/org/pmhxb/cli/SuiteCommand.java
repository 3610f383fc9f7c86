package org.pmhxb.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.pmhxb.cli.bench.BenchCluster;
import org.pmhxb.cli.bench.ProjectFolder;
import org.pmhxb.cli.bench.ResultFiles;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.cluster.ClusterSpec;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.router.Shape;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A suite of measurements that takes minutes, writes a page and can be broken off and resumed. */
abstract class SuiteCommand extends ClusterCommand {
  private static final Duration UP_LIMIT = Duration.ofSeconds(60);

  @Option(
      names = "--quick",
      description = "Few and short runs: shows that it works, and about how much.",
      showDefaultValue = Visibility.NEVER)
  private boolean quick;

  @Option(
      names = "--output",
      paramLabel = "DIR",
      description =
          "Where page, plots and JSON go. Default: docs/results of the project, with --quick"
              + " or a part of the suite target/results; of an installation hxb-results in the current"
              + " folder.")
  private Path output;

  @Option(
      names = "--budget",
      paramLabel = "SECONDS",
      description =
          "Break off after this time, 1 to 86400: what is being measured is finished first, what"
              + " is warming up is left out, and --resume goes on. One figure is measured at least."
              + " Default: no limit.")
  private Integer budgetSeconds;

  @Option(
      names = "--resume",
      description = "Go on where a command with the same options was broken off.",
      showDefaultValue = Visibility.NEVER)
  private boolean resume;

  @Mixin private BudgetsOption budgets;

  private final long startNs = System.nanoTime();

  /** Measures, when all options can be what they are. */
  abstract Report measure() throws Exception;

  @Override
  protected final Report run() throws Exception {
    if (budgetSeconds != null) {
      range("--budget", budgetSeconds, 1, Duration.ofDays(1).toSeconds());
    }
    folder("--output", directory());
    return measure();
  }

  final boolean quick() {
    return quick;
  }

  final boolean resume() {
    return resume;
  }

  /** Whether only a part of the suite was asked for, which is no page to keep. */
  boolean isPart() {
    return false;
  }

  /** Where results go, absolute. */
  final Path directory() {
    return ProjectFolder.results(output, !quick && !isPart());
  }

  /** What the suite writes there. */
  final ResultFiles files() {
    return new ResultFiles(ProjectFolder.path(), directory());
  }

  /** Whether the budget is spent. */
  final boolean outOfTime() {
    return budgetSeconds != null
        && System.nanoTime() - startNs >= Duration.ofSeconds(budgetSeconds).toNanos();
  }

  /** How this is run again. */
  final String command(String name) {
    return "hxb bench " + name + (quick ? " --quick" : "");
  }

  /** Where this command's own clusters live, one at a time. */
  final ClusterPaths ownPaths() throws IOException {
    return ownPaths(BenchCluster.ownName());
  }

  /** A cluster of this command's own; closing it takes it down. */
  final BenchCluster vethCluster(Shape shape, int rails, LinkRate rate) throws IOException {
    return cluster(new ClusterSpec(ClusterSpec.Fabric.VETH, shape, rails, rate));
  }

  /** A cluster of this command's own; closing it takes it down. */
  final BenchCluster cluster(ClusterSpec spec) throws IOException {
    return BenchCluster.up(ownPaths(), spec, UpCommand.nodeCommand(), UP_LIMIT, line -> {});
  }
}
