package org.pmhxb.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
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
      "Exit code 1 when something got slower by more than the threshold, beyond the noise.",
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
  protected Report run() throws IOException {
    range("--threshold", threshold, 0, 10);
    return PacketCostComparison.of(read(base), read(with), threshold);
  }

  private static List<PacketCostReport> read(List<Path> files) throws IOException {
    List<PacketCostReport> reports = new ArrayList<>();
    for (Path file : files) {
      PacketCostReport report;
      try {
        report = new ObjectMapper().readValue(Files.readString(file), PacketCostReport.class);
      } catch (JsonProcessingException e) {
        throw noReport(file, e.getOriginalMessage(), e);
      }
      if (report.results() == null || report.results().isEmpty()) {
        throw noReport(file, "it has no results", null);
      }
      reports.add(report);
    }
    return reports;
  }

  private static UserErrorException noReport(Path file, String reason, Exception cause) {
    return new UserErrorException(
        file + " holds no report of hxb bench packet-cost --json: " + reason, cause);
  }
}
