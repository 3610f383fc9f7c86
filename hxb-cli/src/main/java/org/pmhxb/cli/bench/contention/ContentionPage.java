package org.pmhxb.cli.bench.contention;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.pmhxb.cli.bench.CpuUse;
import org.pmhxb.cli.bench.Quartiles;
import org.pmhxb.cli.bench.Spread;
import org.pmhxb.cli.bench.Withheld;

/** Writes a {@link ContentionReport} as a Markdown page. */
final class ContentionPage {
  private ContentionPage() {}

  static String of(ContentionReport report) {
    StringBuilder page = new StringBuilder();
    page.append("# Streams that compete, and relays between\n\n");
    page.append("Messages of 8 KB, every one verified: content, order, exactly once. Links are");
    page.append(" shaped by `tc tbf`, and each run checked that its bytes went through the");
    page.append(" shaped queues. *Share* is the goodput against what the raw rates of the links");
    page.append(" in use allow (99.2 % is what 8 KB messages can reach); an all-to-all of a cube");
    page.append(" crosses 12/7 links a message. *Slowest* is the goodput of the slowest stream");
    page.append(" against the mean, *by relays* that of streams over 0, 1 and 2 relays. *Resent*");
    page.append(" is frames sent again by messages. *Machine full*: its processors were busy for");
    page.append(
        " 90 % of the time or more, so they may be the limit, not the links. Half round trips");
    page.append(
        " are of 64 B over shared memory (shm): one process polls both ends, another the relays.\n\n");
    page.append("- Command: `").append(report.command()).append("`, ");
    page.append(report.measuredAt()).append(", ");
    page.append(String.format(Locale.ROOT, "%.0f s%n", report.seconds()));
    page.append("- Machine: ").append(report.machine().line()).append('\n');
    page.append("- ").append(Withheld.of(withheld(report)).line()).append('\n');
    page.append("- ").append(report.disturbed().line()).append('\n');
    page.append("- Runs of each line: ").append(report.runs());
    page.append(report.quick() ? " (quick: no spread, short runs)\n" : "\n");
    report.results().stream()
        .filter(line -> line.messagesPerSecond() != null)
        .findFirst()
        .ifPresent(
            line ->
                page.append("- Of 4 B messages: ")
                    .append(Slices.title(line.messagesPerSecond().runs()))
                    .append(" each, in turn\n"));
    if (!report.finished()) {
      page.append("- **Not finished**: `--resume` measures what is missing.\n");
    }
    page.append("\nMedian in bold, then least to most of the runs.\n\n");
    page.append("| | over | goodput, MB/s | share | must | slowest | by relays, % | resent");
    page.append(" | processors |\n|---|---|---|---|---|---|---|---|---|\n");
    for (ContentionLine line : report.results()) {
      if (line.halfRoundTripUs() == null && line.messagesPerSecond() == null) {
        page.append(
            String.format(
                Locale.ROOT,
                "| %s | %s | %s | %s | %s | %s | %s | %.2f %% | %s |%n",
                line.title(),
                line.site(),
                spread(line.megabytesPerSecond(), 1, 1),
                spread(line.share(), 100, 1, " %"),
                line.must() == null ? "" : Math.round(100 * line.must()) + " %",
                spread(line.fairness(), 100, 0, " %"),
                line.byRelays() == null ? "" : byRelays(line),
                100 * line.resentShare(),
                processors(line)));
      }
    }
    page.append("\n*Store* is the time until one processor sees what another stored, medians of");
    page.append(" the runs: on a virtual machine it jumps by a factor of five within seconds, and");
    page.append(" a relayed frame waits for several such ways.\n\n");
    page.append("| | over | half round trip, us | added by each relay, us | aim | store, ns |\n");
    page.append("|---|---|---|---|---|---|\n");
    for (int k = 0; k <= 2; k++) {
      String added = added(report, k);
      String aim = k > 0 ? "1.00" : "";
      ContentionReport.relayed(report.results(), k)
          .ifPresent(line -> page.append(ping(line, added, aim)));
    }
    page.append(rates(report));
    if (!report.failures().isEmpty()) {
      page.append("\n## What failed\n\n");
      report.failures().forEach(line -> page.append("- ").append(line).append('\n'));
    }
    return page.toString();
  }

  private static String added(ContentionReport report, int relays) {
    Double us = report.perRelayUs().get(relays);
    if (us == null) {
      return "";
    }
    return ContentionReport.areAtOtherDistances(report.results(), relays)
        ? round(us, 2) + " (processors at another distance)"
        : round(us, 2);
  }

  private static List<Spread> withheld(ContentionReport report) {
    return report.results().stream().map(ContentionLine::withheld).toList();
  }

  private static String ping(ContentionLine line, String added, String aim) {
    return String.format(
        "| %s | %s | %s | %s | %s | %s |%n",
        line.title(),
        line.site(),
        spread(line.halfRoundTripUs(), 1, 2) + Withheld.note(line.withheld()),
        added,
        aim,
        spread(line.storeNs(), 1, 0));
  }

  private static String rates(ContentionReport report) {
    StringBuilder table = new StringBuilder();
    table.append("\n4 B messages one way, each in a frame of its own, over rings: one thread is");
    table.append(" all nodes, their programs and the switches between them, which copy each");
    table.append(" frame. A relay adds a switch, too. The three are measured in turn on one");
    table.append(" cluster, a slice of some milliseconds of each in every round, because many a");
    table.append(
        " machine changes its speed by half within seconds. *Lost* compares the slices of");
    table.append(" a round: median of the rounds in bold, which is what must and aim bound, then");
    table.append(" the quartiles. What is missed here is said, and is no fault of the run.\n\n");
    table.append("| | over | M/s | ns per message | lost | must | aim | met |\n");
    table.append("|---|---|---|---|---|---|---|---|\n");
    for (int k = 0; k <= 2; k++) {
      int relays = k;
      ContentionReport.relayedRate(report.results(), k)
          .ifPresent(
              line ->
                  table.append(
                      String.format(
                          "| %s | %s | %s | %s | %s |%n",
                          line.title(),
                          line.site(),
                          spread(line.messagesPerSecond(), 1e-6, 2)
                              + Withheld.note(line.withheld()),
                          spread(line.nsPerMessage(), 1, 0),
                          line.rateLost() == null ? " |  |  | " : lost(line, relays))));
    }
    return table.toString();
  }

  private static String lost(ContentionLine line, int relays) {
    double lost = line.rateLost().median();
    double must = ContentionReport.RATE_LOST_MUST.get(relays);
    double aim = ContentionReport.RATE_LOST_AIM.get(relays);
    String met = lost <= aim ? "aim" : lost <= must ? "must" : "**missed**";
    return String.format(
        Locale.ROOT,
        "**%.1f %%** %.1f to %.1f | %.0f %% | %.0f %% | %s",
        100 * lost,
        100 * line.rateLost().lower(),
        100 * line.rateLost().upper(),
        100 * must,
        100 * aim,
        met);
  }

  /** For a terminal. */
  static String rateLost(ContentionLine line) {
    Quartiles lost = line.rateLost();
    return String.format(
        Locale.ROOT,
        "%.1f %%, quartiles %.1f and %.1f, of %d rounds %.1f to %.1f",
        100 * lost.median(),
        100 * lost.lower(),
        100 * lost.upper(),
        lost.values(),
        100 * lost.min(),
        100 * lost.max());
  }

  private static String processors(ContentionLine line) {
    if (line.processorsUsed() == null) {
      return "";
    }
    boolean starved = line.share() != null && CpuUse.isFull(line.machineBusy());
    return round(line.processorsUsed(), 2)
        + (starved ? ", **machine full**" : "")
        + Withheld.note(line.withheld());
  }

  private static String byRelays(ContentionLine line) {
    return line.byRelays().stream()
        .map(share -> round(100 * share, 0))
        .collect(Collectors.joining(" / "));
  }

  /** For a terminal. */
  static String figures(ContentionLine line) {
    if (line.halfRoundTripUs() != null) {
      return String.format(Locale.ROOT, "%6.2f us", line.halfRoundTripUs().median());
    }
    if (line.messagesPerSecond() != null) {
      return String.format(
          Locale.ROOT,
          "%6.2f M/s, %.0f ns each",
          line.messagesPerSecond().median() / 1e6,
          line.nsPerMessage().median());
    }
    String share =
        line.share() == null
            ? ""
            : String.format(Locale.ROOT, ", %.1f %% of the links", 100 * line.share().median());
    return String.format(
        Locale.ROOT,
        "%6.1f MB/s%s, slowest stream %.0f %% of the mean%s, resent %.2f %%",
        line.megabytesPerSecond().median(),
        share,
        100 * line.fairness().median(),
        line.byRelays() == null ? "" : ", by relays " + byRelays(line) + " %",
        100 * line.resentShare());
  }

  private static String spread(Spread spread, double factor, int digits) {
    return spread(spread, factor, digits, "");
  }

  private static String spread(Spread spread, double factor, int digits, String unit) {
    if (spread == null) {
      return "";
    }
    String median = "**" + round(factor * spread.median(), digits) + unit + "**";
    return spread.runs() == 1
        ? median
        : median
            + " "
            + round(factor * spread.min(), digits)
            + " to "
            + round(factor * spread.max(), digits);
  }

  private static String round(double value, int digits) {
    return String.format(Locale.ROOT, "%." + digits + "f", value);
  }
}
