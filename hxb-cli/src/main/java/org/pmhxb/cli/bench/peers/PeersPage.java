package org.pmhxb.cli.bench.peers;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.pmhxb.cli.bench.Spread;
import org.pmhxb.cli.bench.Withheld;
import org.pmhxb.cli.bench.peers.PeerCase.Medium;
import org.pmhxb.cli.cluster.NodeOptions;

/** Writes a {@link PeersReport} as a Markdown page. */
final class PeersPage {
  private static final String NONE = "-";

  private final PeersReport report;
  private final StringBuilder text = new StringBuilder();

  private PeersPage(PeersReport report) {
    this.report = report;
  }

  static String of(PeersReport report) {
    PeersPage page = new PeersPage(report);
    page.head();
    page.text.append(tables(report));
    page.plots();
    page.lines();
    page.programs();
    return page.text.toString();
  }

  /** The tables alone, which a terminal shows as well. */
  static String tables(PeersReport report) {
    PeersPage page = new PeersPage(report);
    page.aims();
    page.shares();
    page.cpu();
    page.small(Medium.VETH, "One unshaped veth link");
    page.small(Medium.SHARED_MEMORY, "Shared memory between two processes");
    page.idle();
    return page.text.toString();
  }

  private void head() {
    text.append("# Peers in the same namespaces, over the same links\n\n");
    text.append("For each set of links our nodes were measured first; then they ended, and the");
    text.append(" peers ran in the namespaces and over the veth links that they left, one after");
    text.append(" the other. Our messages are made and verified byte by byte, which the peers'");
    text.append(" are not.\n\n");
    text.append("- Command: `").append(report.command()).append("`, ");
    text.append(report.measuredAt());
    text.append(String.format(Locale.ROOT, ", %.0f s%n", report.seconds()));
    text.append("- Machine: ").append(report.machine().line()).append('\n');
    text.append("- ").append(Withheld.of(withheld()).line()).append('\n');
    text.append("- ").append(report.disturbed().line()).append('\n');
    text.append("- Runs of each figure: ").append(report.runs());
    text.append(report.quick() ? " (quick: no spread, short runs)\n" : "\n");
    if (!report.finished()) {
      text.append("- **Not finished**: `--resume` measures what is missing.\n");
    }
    report
        .missing()
        .forEach(
            (name, reason) ->
                text.append("- Not measured: **")
                    .append(name)
                    .append("**: ")
                    .append(reason)
                    .append('\n'));
    text.append("\nCells have the median, then least to most of the runs. `-`: does not apply;");
    text.append(" `failed`: see the end of the page. A run of a peer that ends in an error,");
    text.append(" measures nothing or more than the links carry is tried again, up to ");
    text.append(PeersSuite.TRIES).append(" tries. *Limited by* is what was seen: links whose");
    text.append(
        " rate is used up, or how busy the processors were. *Polling*: Open MPI, MPICH, UCX,");
    text.append(" Aeron, testpmd and spinning poll threads keep their processors busy while they");
    text.append(" wait, too, so it may as well be their own protocol that waits.\n");
  }

  /** Of every figure, those of the idle strategies too. */
  private List<Spread> withheld() {
    return Stream.concat(
            report.found().stream().filter(f -> f.failure() == null).map(PeerFound::withheld),
            report.idle().stream()
                .flatMap(idle -> Stream.of(idle.pingWithheld(), idle.streamWithheld())))
        .toList();
  }

  private void programs() {
    text.append("\n## What was run\n\n");
    text.append("- **hxb**: this project; two processes, over veth by the driver ");
    text.append(NodeOptions.VETH_DRIVER);
    text.append(" and through shared memory by lines of its own, or by memif where it says so");
    text.append(" (half round trips and small messages: poll threads spin, one per processor)\n");
    for (PeersReport.Program program : report.programs()) {
      text.append("- **").append(program.name()).append("** (").append(program.version());
      text.append("): ").append(program.how()).append('\n');
    }
    if (!report.failures().isEmpty()) {
      text.append("\n## What failed\n\n");
      report.failures().forEach(line -> text.append("- ").append(oneLine(line)).append('\n'));
    }
    refused();
  }

  /** Every try of a peer that does not count, in cases with figures, too. */
  private void refused() {
    List<PeerFound> refused = report.found().stream().filter(f -> !f.refused().isEmpty()).toList();
    if (refused.isEmpty()) {
      return;
    }
    text.append("\n## Refused tries of peers\n\n");
    for (PeerFound of : refused) {
      text.append("- ").append(of.peer()).append(": ").append(of.what().key());
      text.append(of.failure() != null ? ", **failed**: " : ": ");
      text.append(PeerFound.Refused.words(of.refused())).append('\n');
      of.refused().stream()
          .map(PeerFound.Refused::message)
          .forEach(message -> text.append("  - ").append(oneLine(message)).append('\n'));
    }
  }

  private static String oneLine(String line) {
    return line.replaceAll("\\s+", " ");
  }

  private List<String> peers(Medium medium) {
    return report.found().stream()
        .filter(f -> f.what().medium() == medium)
        .map(PeerFound::peer)
        .distinct()
        .toList();
  }

  private Optional<PeerFound> find(String peer, PeerCase what) {
    return report.found().stream()
        .filter(f -> f.peer().equals(peer) && f.what().equals(what))
        .findFirst();
  }

  private String cell(
      String peer, PeerCase what, Function<PeerFound, Spread> which, double unit, int digits) {
    return find(peer, what)
        .map(
            f ->
                f.failure() != null
                    ? failed(f)
                    : cell(which.apply(f), unit, digits) + Withheld.note(f.withheld()))
        .orElse(NONE);
  }

  private static String cell(Spread spread, double unit, int digits) {
    if (spread == null) {
      return NONE;
    }
    String median = number(spread.median() / unit, digits);
    return spread.runs() == 1
        ? median
        : median
            + " ("
            + number(spread.min() / unit, digits)
            + "-"
            + number(spread.max() / unit, digits)
            + ")";
  }

  private static String number(double value, int digits) {
    return String.format(Locale.ROOT, "%,." + digits + "f", value);
  }

  private static String number(Double value, int digits) {
    return value == null ? NONE : number(value.doubleValue(), digits);
  }

  private List<Integer> links() {
    return report.found().stream()
        .map(PeerFound::what)
        .filter(w -> w.medium() == Medium.SHAPED)
        .map(PeerCase::links)
        .distinct()
        .sorted()
        .toList();
  }

  private void row(String first, List<String> cells) {
    text.append("| ").append(first);
    cells.forEach(cell -> text.append(" | ").append(cell));
    text.append(" |\n");
  }

  private void header(String title, String conditions, List<String> columns) {
    text.append("\n## ").append(title).append("\n\n").append(conditions).append("\n\n");
    row("", columns);
    text.append("|---".repeat(columns.size() + 1)).append("|\n");
  }

  private void aims() {
    if (report.aims().isEmpty()) {
      return;
    }
    header(
        "What ours are meant to reach",
        "By the median; of several link counts the one that came off worst. *Best peer*: in the"
            + " same case.",
        List.of("must", "aim", "measured", "met", "best peer"));
    for (PeersAims.Aim aim : report.aims()) {
      int digits = aim.unit().equals("of the links") ? 3 : 2;
      String sign = aim.most() ? "<= " : ">= ";
      row(
          aim.what() + ", " + aim.unit(),
          List.of(
              sign + number(aim.must(), digits),
              sign + number(aim.aim(), digits),
              number(aim.measured(), digits)
                  + (digits == 3 ? ", " + links(aim.links()) : "")
                  + Withheld.note(aim.withheld()),
              aim.met().equals("missed") ? "**missed**" : aim.met(),
              aim.peer() == null ? NONE : aim.peer() + ": " + number(aim.peerMeasured(), digits)));
    }
  }

  /** Of a table or plot of shares. */
  static String title(PeerCase of) {
    return String.format(
        Locale.ROOT, "%,d B messages, %s", of.sizeBytes(), of.both() ? "both ways" : "one way");
  }

  private static String links(int count) {
    return count + (count == 1 ? " link" : " links");
  }

  private void plots() {
    text.append("\n## Plots\n");
    for (PeerCase of : PeersPlan.FULL.shaped(1)) {
      String file = "peers/" + PeersPlots.id(of) + ".svg";
      if (report.files().names().contains(file)) {
        text.append(String.format("%n![%s](%s)%n", title(of), file));
      }
    }
  }

  /** Each figure that stands above, with what it cost. */
  private void lines() {
    header(
        "Every line",
        "Figure: half round trip in us, share of shaped links, or million messages a second.",
        List.of(
            "figure",
            "processors",
            "CPU ns per message",
            "CPU ns per KB",
            "a store takes, ns",
            "limited by"));
    for (PeerFound of : report.found()) {
      if (of.failure() == null) {
        boolean rate = of.figure() == of.messagesPerSecond();
        row(
            of.peer() + ": " + of.what().key(),
            List.of(
                cell(of.figure(), rate ? 1e6 : 1, rate || of.what().ping() ? 2 : 3),
                number(of.processorsUsed(), 2),
                number(of.cpuNsPerMessage(), 0),
                number(of.cpuNsPerKilobyte(), 0),
                cell(of.storeNs(), 1, 0),
                limit(of) + again(of)));
      }
    }
  }

  private static String limit(PeerFound of) {
    return of.failure() != null ? failed(of) : of.limit() + Withheld.note(of.withheld());
  }

  private static String failed(PeerFound of) {
    return "failed" + (of.refused().isEmpty() ? "" : ": " + PeerFound.Refused.words(of.refused()));
  }

  private static String again(PeerFound of) {
    return of.refused().isEmpty() ? "" : "; tried again: " + PeerFound.Refused.words(of.refused());
  }

  private void shares() {
    for (PeerCase of : PeersPlan.FULL.shaped(1)) {
      header(
          title(of),
          "Payload as a share of " + (of.both() ? "2 x " : "") + "N x " + report.rate() + ".",
          links().stream().map(PeersPage::links).toList());
      for (String peer : peers(Medium.SHAPED)) {
        List<String> cells = new ArrayList<>();
        for (int links : links()) {
          cells.add(cell(peer, of.over(links), PeerFound::share, 1, 3));
        }
        row(peer, cells);
      }
    }
  }

  private void cpu() {
    if (links().isEmpty()) {
      return;
    }
    int most = links().getLast();
    header(
        "Processor time of streams over " + most + " links",
        "User and system time of all processes of both sides; the kernel's own threads are not in"
            + " it. A program that polls uses its processors whether it has work or not.",
        List.of(
            "8 KB: processors",
            "ns per KB",
            "ns per message",
            "limited by",
            "1 MB: processors",
            "ns per KB",
            "limited by"));
    for (String peer : peers(Medium.SHAPED)) {
      Optional<PeerFound> medium =
          find(peer, new PeerCase(Medium.SHAPED, false, most, PeersPlan.MEDIUM_BYTES, false));
      Optional<PeerFound> large =
          find(peer, new PeerCase(Medium.SHAPED, false, most, PeersPlan.LARGE_BYTES, false));
      row(
          peer,
          List.of(
              medium.map(f -> number(f.processorsUsed(), 2)).orElse(NONE),
              medium.map(f -> number(f.cpuNsPerKilobyte(), 0)).orElse(NONE),
              medium.map(f -> number(f.cpuNsPerMessage(), 0)).orElse(NONE),
              medium.map(PeersPage::limit).orElse(NONE),
              large.map(f -> number(f.processorsUsed(), 2)).orElse(NONE),
              large.map(f -> number(f.cpuNsPerKilobyte(), 0)).orElse(NONE),
              large.map(PeersPage::limit).orElse(NONE)));
    }
  }

  private void small(Medium medium, String title) {
    List<PeerCase> cases = PeersPlan.unshaped(medium);
    header(
        title,
        "Half round trip: 64 B, median of a run.",
        List.of(
            "half round trip, us",
            "processors",
            "64 B messages, M/s",
            "CPU ns per message",
            "8,900 B messages, Gbit/s",
            "CPU ns per KB"));
    for (String peer : peers(medium)) {
      row(
          peer,
          List.of(
              cell(peer, cases.get(0), PeerFound::halfRoundTripUs, 1, 2),
              find(peer, cases.get(0)).map(f -> number(f.processorsUsed(), 2)).orElse(NONE),
              cell(peer, cases.get(1), PeerFound::messagesPerSecond, 1e6, 2),
              find(peer, cases.get(1)).map(f -> number(f.cpuNsPerMessage(), 0)).orElse(NONE),
              cell(peer, cases.get(2), PeerFound::megabytesPerSecond, 125, 1),
              find(peer, cases.get(2)).map(f -> number(f.cpuNsPerKilobyte(), 0)).orElse(NONE)));
    }
  }

  private void idle() {
    if (report.idle().isEmpty()) {
      return;
    }
    header(
        "Our idle strategies: latency against processor time",
        "What a poll thread does when a round found nothing; each thread on a processor of its"
            + " own. Half round trip: 64 B over an unshaped veth link. Stream: 8 KB messages over"
            + " one link of "
            + report.rate()
            + ".",
        List.of("half round trip, us", "processors", "stream, share", "processors"));
    for (IdleFound found : report.idle()) {
      row(
          found.strategy(),
          List.of(
              cell(found.halfRoundTripUs(), 1, 2) + Withheld.note(found.pingWithheld()),
              number(found.pingProcessors(), 2),
              found.failure() != null
                  ? "failed"
                  : cell(found.share(), 1, 3) + Withheld.note(found.streamWithheld()),
              number(found.streamProcessors(), 2)));
    }
  }
}
