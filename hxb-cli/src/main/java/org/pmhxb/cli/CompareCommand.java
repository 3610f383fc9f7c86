package org.pmhxb.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.pmhxb.cli.bench.PacketCostComparison;
import org.pmhxb.cli.bench.PacketCostReport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Two sets of packet-cost reports side by side. */
@Command(
    name = "compare",
    description = {
      "Compare reports of hxb bench packet-cost --json: what moved beyond the noise.",
      "Exit code 1 when something got slower by more than the threshold, beyond the noise: no run of"
          + " three or more on each side was as fast; of fewer, or in a machine's slow hour, no round.",
      "scripts/bench-compare makes the reports of two revisions and calls this."
    },
    footer = {"", "Example: hxb bench compare --base a1.json,a2.json --with b1.json,b2.json"})
final class CompareCommand extends HxbCommand {
  @Option(
      names = "--base",
      paramLabel = "FILE",
      split = ",",
      required = true,
      description = "Reports to compare with.")
  private List<Path> base;

  @Option(
      names = "--with",
      paramLabel = "FILE",
      split = ",",
      required = true,
      description = "Reports to judge.")
  private List<Path> with;

  @Option(
      names = "--threshold",
      paramLabel = "T",
      defaultValue = "0.05",
      description = "Slower by more than this part is a regression, 0 to 10.")
  private double threshold;

  @Override
  protected Report run() {
    range("--threshold", threshold, 0, 10);
    return PacketCostComparison.of(read("--base", base), read("--with", with), threshold);
  }

  /** What cannot be read is wrong usage: exit code 1 is for what got slower. */
  private List<PacketCostReport> read(String option, List<Path> files) {
    List<PacketCostReport> reports = new ArrayList<>();
    for (Path file : files) {
      PacketCostReport report;
      try {
        report = new ObjectMapper().readValue(Files.readString(file), PacketCostReport.class);
      } catch (JsonProcessingException e) {
        throw noReport(option, file, e.getOriginalMessage());
      } catch (IOException e) {
        // Only some of these name the file by themselves.
        String named = e instanceof FileSystemException ? "" : file + ": ";
        throw wrongUsage(option + ": " + named + FailureMessage.of(e));
      }
      if (report.results() == null || report.results().isEmpty()) {
        throw noReport(option, file, "it has no results");
      }
      reports.add(report);
    }
    return reports;
  }

  private RuntimeException noReport(String option, Path file, String reason) {
    return wrongUsage(
        option + ": " + file + " holds no report of hxb bench packet-cost --json: " + reason);
  }
}
