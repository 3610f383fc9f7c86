package org.pmhxb.cli.bench.paper;

import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.pmhxb.cli.bench.Journal;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.bench.ResultFiles;
import org.pmhxb.cli.bench.Withheld;
import org.pmhxb.cli.veth.LinkRate;

/** The whole of {@code hxb bench paper}: measures, then writes page, plots and JSON. */
public final class PaperSuite {
  private static final String PAGE = "paper.md";
  private static final String JSON = "paper.json";

  private final ResultFiles files;
  private final boolean quick;
  private final LinkRate rate;
  private final boolean resume;

  /**
   * @param files where the page goes
   * @param rate of all links; null to choose by measuring
   * @param resume whether to go on where an earlier command was broken off
   */
  public PaperSuite(ResultFiles files, boolean quick, LinkRate rate, boolean resume) {
    this.files = files;
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
    Journal journal = Journal.open(files.path("paper.journal"), settings, resume);
    PaperFindings findings =
        new PaperRun(clusters, pace, journal, outOfTime, progress)
            .run(rate, quick ? PaperPlan.QUICK_SIZES : PaperPlan.FULL_SIZES);
    PaperTables tables = new PaperTables(findings);
    List<PaperFigure> figures = tables.figures();
    files.add(PaperPlots.write(figures, files.path("paper")));
    files.add(PAGE, JSON);
    List<PaperBudgets.Budget> budgets = PaperBudgets.of(findings);
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
            findings.disturbed(),
            findings.probes(),
            tables.tables(),
            figures,
            budgets,
            budgets.stream().flatMap(PaperBudgets.Budget::missed).toList(),
            findings.failures(),
            files);
    files.write(PAGE, PaperPage.of(report));
    files.writeJson(JSON, report);
    return report;
  }
}
