package org.pmhxb.cli.bench.paper;

import java.io.PrintWriter;
import java.util.List;
import org.pmhxb.cli.Report;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.bench.ResultFiles;
import org.pmhxb.cli.bench.Undisturbed;
import org.pmhxb.cli.bench.Withheld;

/**
 * The paper's tables and figures beside ours.
 *
 * @param command that measures them again
 * @param measuredAt ISO 8601, UTC
 * @param seconds that this command took
 * @param runs of each figure
 * @param finished false when time ran out; what is missing is measured by {@code --resume}
 * @param host what it withheld of the processors, of all points
 * @param disturbed runs by that, of the rates' choice too: how many were repeated, how many stayed
 * @param budgets what the tables' figures must reach, with what they did
 * @param files that were written
 */
public record PaperReport(
    boolean ok,
    String command,
    String measuredAt,
    double seconds,
    boolean quick,
    int runs,
    boolean finished,
    MachineInfo machine,
    Withheld host,
    Undisturbed.Counts disturbed,
    List<PaperRun.Probe> rates,
    List<PaperTable> tables,
    List<PaperFigure> figures,
    List<PaperBudgets.Budget> budgets,
    List<String> missed,
    List<String> failures,
    ResultFiles files)
    implements Report {
  @Override
  public void print(PrintWriter out) {
    for (PaperTable table : tables) {
      out.printf("%s: %s%n", table.id(), table.title());
      for (PaperTable.Row row : table.rows()) {
        out.printf("  %-9s", row.label());
        for (PaperTable.Cell cell : row.cells()) {
          out.printf("  %s", PaperPage.plain(cell));
        }
        out.println();
      }
    }
    out.println("(ours, and in brackets the paper's)");
    for (PaperBudgets.Budget budget : budgets) {
      out.printf("%-32s %s%n", budget.what(), budget.figure().line(budget.unit()));
    }
    out.println(host.line());
    out.println(disturbed.line());
    files.print(out);
    if (!finished) {
      out.println("not finished: time ran out; go on with --resume");
    }
    failures.forEach(line -> out.println("FAILED: " + line));
  }
}
