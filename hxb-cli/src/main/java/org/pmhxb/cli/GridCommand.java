package org.pmhxb.cli;

import java.nio.file.Path;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.bench.ProjectFolder;
import org.pmhxb.cli.bench.ResultFiles;
import org.pmhxb.cli.bench.grid.GridSuite;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** The bottleneck experiment of the GridMPI paper. */
@Command(
    name = "grid",
    description = {
      "Measure streams and collectives between two simulated clusters of eight nodes that 4 links"
          + " join, or 1, or 1 with a delay of 1 ms, with and without algorithms that know of the"
          + " clusters, and write table and plots: a Markdown page, SVG and PNG.",
      "Virtual time: the figures are the same on every machine. Takes minutes, with --quick about"
          + " one."
    },
    footer = {
      "",
      "The column link says what joins the two clusters: 4, four links of 1 Gbit/s; 1, one link of 1"
          + " Gbit/s; d, one link of 1 Gbit/s, 1 ms each way; 1i, one link of 1 Gbit/s, ranks in turn"
          + " from the two clusters.",
      "Example: hxb bench grid --quick --output target/results"
    })
final class GridCommand extends HxbCommand {
  @Option(names = "--quick", description = "Two sizes only.", showDefaultValue = Visibility.NEVER)
  private boolean quick;

  @Option(
      names = "--output",
      paramLabel = "DIR",
      description =
          "Where page and plots go. Default: docs/results of the project, with --quick"
              + " target/results; of an installation hxb-results in the current folder.")
  private Path output;

  @Option(
      names = "--jobs",
      paramLabel = "N",
      description = "Simulations at a time, 1 to 64; default: one per core.")
  private Integer jobs;

  @Override
  protected Report run() throws Exception {
    int threads = jobs == null ? Runtime.getRuntime().availableProcessors() : jobs;
    range("--jobs", threads, 1, 64);
    Path directory = ProjectFolder.results(output, !quick);
    folder("--output", directory);
    return new GridSuite(new ResultFiles(ProjectFolder.path(), directory), quick)
        .run(
            "hxb bench grid" + (quick ? " --quick" : ""),
            MachineInfo.here(Version.project()),
            threads,
            progress()::update);
  }
}
