package org.pmhxb.cli;

import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.bench.paper.PaperSuite;
import org.pmhxb.cli.cluster.TakeDown;
import org.pmhxb.cli.veth.LinkRate;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The tables and figures of the paper that this project follows. */
@Command(
    name = "paper",
    description = {
      "Measure tables 4 to 6 and figures 3 to 5 of the PM/Ethernet-HXB paper over veth links,"
          + " and write them with the paper's figures beside: a Markdown page, plots and JSON.",
      "Needs root. Takes up to 18 minutes, 20 where a host withholds processors and runs are"
          + " repeated for that; with --quick under 3."
    },
    footer = {"", "Example: hxb bench paper --quick --output target/results"})
final class PaperCommand extends SuiteCommand {
  @Option(
      names = "--rate",
      paramLabel = "RATE",
      converter = Options.RateConverter.class,
      description =
          "Raw rate of all links. Default: 1gbit for each table whose heaviest traffic this machine"
              + " carries at that rate, else 200mbit.")
  private LinkRate rate;

  @Override
  Report measure() throws Exception {
    try (TakeDown guard = new TakeDown(ownPaths())) {
      return new PaperSuite(files(), quick(), rate, resume())
          .run(
              (shape, rails, rate) -> vethCluster(shape, rails, rate).brisk(),
              command("paper") + (rate == null ? "" : " --rate " + rate),
              MachineInfo.here(Version.project()),
              this::outOfTime,
              progress()::update);
    }
  }
}
