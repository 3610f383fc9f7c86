package org.pmhxb.cli.bench.paper;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.pmhxb.cli.bench.Bounded;
import org.pmhxb.cli.bench.Spread;
import org.pmhxb.cli.bench.Withheld;

/** Writes a {@link PaperReport} as a Markdown page. */
final class PaperPage {
  private static final String NONE = "-";

  private PaperPage() {}

  static String of(PaperReport report) {
    StringBuilder page = new StringBuilder();
    head(page, report);
    for (PaperTable table : report.tables()) {
      table(page, table);
    }
    figures(page, report);
    budgets(page, report);
    if (!report.failures().isEmpty()) {
      page.append("\n## What failed\n\n");
      report.failures().forEach(line -> page.append("- ").append(line).append('\n'));
    }
    return page.toString();
  }

  private static void head(StringBuilder page, PaperReport report) {
    page.append("# The paper's tables, measured again\n\n");
    page.append("Sumimoto et al., *High Performance Communication Facility Using Multiple Gigabit");
    page.append(
        " Ethernet for PACS-CS*: tables 4 to 6 and figures 3 to 5, over veth links with an");
    page.append(" MTU of 9,000 between network namespaces, a process per node. Every message was");
    page.append(" verified: content, order, exactly once. Links are shaped by `tc tbf`; each run");
    page.append(" checked that its bytes went through the shaped queues and that no more than");
    page.append(" 101 % of their rate came out.\n\n");
    page.append("- Command: `").append(report.command()).append("`, ");
    page.append(report.measuredAt()).append(", ");
    page.append(String.format(Locale.ROOT, "%.0f s%n", report.seconds()));
    page.append("- Machine: ").append(report.machine().line()).append('\n');
    page.append("- ").append(report.host().line()).append('\n');
    page.append("- ").append(report.disturbed().line()).append('\n');
    page.append("- Runs of each figure: ").append(report.runs());
    page.append(report.quick() ? " (quick: no spread, short runs)\n" : "\n");
    if (!report.finished()) {
      page.append("- **Not finished**: `--resume` measures what is missing.\n");
    }
    for (PaperRun.Probe probe : report.rates()) {
      page.append(probeLine(probe));
    }
    page.append("\nEach cell has our median in bold, then least to most of the runs, then the");
    page.append(" paper's figure. *Limited by* is what was seen: links whose rate is used up, or");
    page.append(
        " how busy the processors were; a half round trip is as long as its way, unless there");
    page.append(" are more processes on it than processors.\n");
  }

  private static String probeLine(PaperRun.Probe probe) {
    if (probe.efficiency() == null) {
      return String.format(
          Locale.ROOT,
          "- Links of table %s: %s; %s was not tried, since its heaviest traffic then asks for %.1f"
              + " Gbit/s over all links and hops, of which another table's got %.1f at most.%n",
          probe.table(),
          probe.chosen(),
          probe.rate(),
          probe.askedGbit(),
          probe.carriedGbit());
    }
    return String.format(
        Locale.ROOT,
        "- Links of table %s: %s, since its heaviest traffic reached %.1f %% of the links at"
            + " %s on this machine, at worst (98 %% keeps it).%n",
        probe.table(),
        probe.chosen(),
        100 * probe.efficiency(),
        probe.rate());
  }

  private static void table(StringBuilder page, PaperTable table) {
    page.append("\n## ").append(table.id().substring(0, 1).toUpperCase(Locale.ROOT));
    page.append(table.id().substring(1)).append(": ").append(table.title()).append("\n\n");
    page.append(table.conditions()).append("\n\n");
    page.append("| |");
    table.columns().forEach(column -> page.append(' ').append(column).append(" |"));
    page.append(" limited by |\n|---|").append("---|".repeat(table.columns().size() + 1));
    page.append('\n');
    for (PaperTable.Row row : table.rows()) {
      page.append("| ").append(row.label()).append(" | ");
      page.append(row.cells().stream().map(PaperPage::cell).collect(Collectors.joining(" | ")));
      page.append(" | ").append(row.limit()).append(" |\n");
    }
  }

  private static void budgets(StringBuilder page, PaperReport report) {
    if (report.budgets().isEmpty()) {
      return;
    }
    page.append("\n## Budgets\n\nBy the median of the runs. Over two links a node polls two");
    page.append(" sockets: the half round trip over one is in peers.md.\n\n");
    page.append("| | measured | must | aim | met |\n|---|---|---|---|---|\n");
    for (PaperBudgets.Budget budget : report.budgets()) {
      Bounded figure = budget.figure();
      String met = figure.met().equals("missed") ? "**missed**" : figure.met();
      page.append(
          String.format(
              Locale.ROOT,
              "| %s | %.2f %s | %s | %s | %s |%n",
              budget.what(),
              figure.measured().median(),
              budget.unit(),
              figure.must(),
              figure.aim(),
              met));
    }
  }

  private static void figures(StringBuilder page, PaperReport report) {
    page.append("\n## Figures\n\nThe paper's plots print no numbers. Its curves here are what its");
    page.append(" tables state: the time per packet until the links are full.\n");
    for (PaperFigure figure : report.figures()) {
      String name = "paper/" + figure.id();
      page.append(String.format("%n![%s](%s.svg)%n", figure.title(), name));
      page.append(withheld(figure));
    }
  }

  /** Which points of our curves the host may have pulled down; empty when none. */
  private static String withheld(PaperFigure figure) {
    List<String> curves = new ArrayList<>();
    for (PaperFigure.Curve curve : figure.curves()) {
      if (curve.withheld() != null) {
        List<String> points = new ArrayList<>();
        for (int i = 0; i < curve.withheld().size(); i++) {
          double share = curve.withheld().get(i);
          if (Withheld.isNoted(share)) {
            points.add(
                String.format(
                    Locale.ROOT,
                    "%,d B %d %%",
                    curve.sizesBytes().get(i),
                    Math.round(100 * share)));
          }
        }
        if (!points.isEmpty()) {
          curves.add(curve.label() + ": " + String.join(", ", points));
        }
      }
    }
    return curves.isEmpty()
        ? ""
        : "\nWhat the host took in the worst run of a point: " + String.join("; ", curves) + ".\n";
  }

  private static String cell(PaperTable.Cell cell) {
    return ours(cell, "**")
        + "; paper "
        + (cell.paper() == null ? NONE : number(cell.paper(), cell.digits(), cell.unit()));
  }

  /** For a terminal: the median, the paper's figure in brackets. */
  static String plain(PaperTable.Cell cell) {
    String paper = cell.paper() == null ? NONE : number(cell.paper(), cell.digits(), "").strip();
    Spread ours = cell.ours();
    return String.format(
        "%14s (%s)",
        ours == null ? NONE : number(ours.median(), cell.digits(), cell.unit()), paper);
  }

  private static String ours(PaperTable.Cell cell, String bold) {
    Spread ours = cell.ours();
    if (ours == null) {
      return NONE;
    }
    String median = bold + number(ours.median(), cell.digits(), cell.unit()) + bold;
    return ours.runs() == 1
        ? median
        : median
            + " "
            + number(ours.min(), cell.digits(), "").strip()
            + " to "
            + number(ours.max(), cell.digits(), "").strip();
  }

  private static String number(double value, int digits, String unit) {
    return String.format(Locale.ROOT, "%,." + digits + "f %s", value, unit);
  }
}
