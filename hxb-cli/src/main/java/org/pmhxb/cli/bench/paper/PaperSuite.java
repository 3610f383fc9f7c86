package org.pmhxb.cli.bench.paper;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.pmhxb.cli.bench.Journal;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.bench.ResultJson;
import org.pmhxb.cli.bench.Withheld;
import org.pmhxb.cli.veth.LinkRate;

/** The whole of {@code hxb bench paper}: measures, then writes page, plots and JSON. */
public final class PaperSuite {
  private final Path directory;
  private final boolean quick;
  private final LinkRate rate;
  private final boolean resume;

  /**
   * @param directory where the page goes
   * @param rate of all links; null to choose by measuring
   * @param resume whether to go on where an earlier command was broken off
   */
  public PaperSuite(Path directory, boolean quick, LinkRate rate, boolean resume) {
    this.directory = directory;
    this.quick = quick;
    this.rate = rate;
    this.resume = resume;
  }

  /**
   * Runs it.
   *
   * @param command that does so again
   * @param outOfTime when true, the suite breaks off before the next point
   */
  public PaperReport run(
      PaperRun.Clusters clusters,
      String command,
      MachineInfo machine,
      BooleanSupplier outOfTime,
      Consumer<String> progress)
      throws IOException, InterruptedException {
    long startNs = System.nanoTime();
    PaperRun.Pace pace = quick ? PaperRun.Pace.QUICK : PaperRun.Pace.FULL;
    String settings = machine.line() + ", " + pace + ", " + rate;
    Journal journal = Journal.open(directory.resolve("paper.journal"), settings, resume);
    PaperFindings findings =
        new PaperRun(clusters, pace, journal, outOfTime, progress)
            .run(rate, quick ? PaperPlan.QUICK_SIZES : PaperPlan.FULL_SIZES);
    PaperTables tables = new PaperTables(findings);
    List<PaperFigure> figures = tables.figures();
    List<String> files = new ArrayList<>();
    PaperPlots.write(figures, directory.resolve("paper"))
        .forEach(file -> files.add(file.toString()));
    Path page = directory.resolve("paper.md");
    Path json = directory.resolve("paper.json");
    files.add(page.toString());
    files.add(json.toString());
    PaperReport report =
        new PaperReport(
            findings.failures().isEmpty() && !findings.brokenOff(),
            command,
            Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
            (System.nanoTime() - startNs) / 1e9,
            quick,
            pace.runs(),
            !findings.brokenOff(),
            machine,
            Withheld.of(findings.found().values().stream().map(Measured::withheld).toList()),
            findings.probes(),
            tables.tables(),
            figures,
            findings.failures(),
            files);
    Files.writeString(page, PaperPage.of(report));
    ResultJson.write(json, report);
    return report;
  }
}
