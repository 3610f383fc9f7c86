package org.pmhxb.cli.bench.paper;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import org.pmhxb.cli.bench.Spread;
import org.pmhxb.cli.bench.Withheld;
import org.pmhxb.cli.bench.paper.PaperFigure.Curve;
import org.pmhxb.cli.bench.paper.PaperPlan.Section;
import org.pmhxb.cli.bench.paper.PaperPoint.Traffic;
import org.pmhxb.cli.bench.paper.PaperTable.Cell;
import org.pmhxb.cli.bench.paper.PaperTable.Row;

/** Puts what was measured into the paper's tables and figures. */
final class PaperTables {
  /** What small messages are to be compared by. */
  private static final String SHARED =
      "many of ours share a frame, each of the paper's had one of its own.";

  private static final String MB = "MB/s";
  private static final String PERCENT = "%";
  private static final String US = "us";

  private final PaperFindings findings;
  private final PaperPlan plan;

  PaperTables(PaperFindings findings) {
    this.findings = findings;
    this.plan = findings.plan();
  }

  List<PaperTable> tables() {
    return List.of(table4(), table5(), table6());
  }

  List<PaperFigure> figures() {
    return List.of(figure3(), figure4(), figure5());
  }

  private Measured found(PaperPoint point) {
    return findings.found().get(point);
  }

  private Cell cell(
      PaperPoint point, String unit, int digits, Function<Measured, Spread> ours, Double paper) {
    Measured measured = found(point);
    return measured == null
        ? new Cell(unit, digits, null, paper, null)
        : new Cell(unit, digits, ours.apply(measured), paper, measured.withheld());
  }

  private Cell megabytes(PaperPoint point, Double paper) {
    return cell(point, MB, 1, Measured::megabytesPerSecond, paper);
  }

  private Cell percent(PaperPoint point, Double paper) {
    return cell(
        point,
        PERCENT,
        2,
        m -> m.efficiency() == null ? null : m.efficiency().map(share -> 100 * share),
        paper);
  }

  /** What limited the figures of a row, by what they are called; those alike are named together. */
  private String limits(SequencedMap<String, PaperPoint> figures) {
    Map<String, String> names = new LinkedHashMap<>();
    figures.forEach((name, point) -> names.merge(limit(point), name, (a, b) -> a + ", " + b));
    return names.entrySet().stream()
        .map(group -> group.getValue() + ": " + group.getKey())
        .collect(Collectors.joining("; "));
  }

  private String limit(PaperPoint point) {
    Measured measured = found(point);
    return measured == null
        ? "not measured"
        : measured.limit() + Withheld.note(measured.withheld());
  }

  private static <T> Double of(T row, ToDoubleFunction<T> figure) {
    return row == null ? null : Double.valueOf(figure.applyAsDouble(row));
  }

  private PaperTable table4() {
    List<Row> rows = new ArrayList<>();
    for (int links : PaperPlan.LINKS) {
      PaperFigures.OneWay paper = PaperFigures.TABLE_4.get(links);
      PaperPoint large = plan.oneWay(links, PaperPlan.LARGE_BYTES);
      PaperPoint small = plan.smallOneWay(links);
      SequencedMap<String, PaperPoint> figures = new LinkedHashMap<>();
      figures.put("8 KB", large);
      figures.put("4 B", small);
      rows.add(
          new Row(
              links + (links == 1 ? " link" : " links"),
              List.of(
                  megabytes(large, of(paper, p -> p.mb())),
                  percent(large, of(paper, p -> 100 * p.share())),
                  cell(
                      small,
                      "M/s",
                      3,
                      m -> m.messagesPerSecond().map(rate -> rate / 1e6),
                      of(paper, p -> 1 / p.us())),
                  cell(
                      small,
                      US,
                      3,
                      m -> m.messagesPerSecond().map(rate -> 1e6 / rate),
                      of(paper, p -> p.us()))),
              limits(figures)));
    }
    return new PaperTable(
        "table 4",
        "One way over 1 to 9 links",
        "Bandwidth and share of the raw rate: 8,192 B messages, links of "
            + plan.rates().get(Section.ONE_WAY)
            + " (the paper's: 1gbit). Rate and time of 4 B messages: links not shaped; "
            + SHARED,
        List.of("bandwidth", "of theoretical", "4 B messages", "time per 4 B message"),
        rows);
  }

  private PaperTable table5() {
    List<Row> rows = new ArrayList<>();
    for (int dimensions = 1; dimensions <= 3; dimensions++) {
      PaperFigures.Neighbours paper = PaperFigures.TABLE_5.get(dimensions);
      PaperPoint send = plan.neighbours(dimensions, Traffic.SEND, PaperPlan.LARGE_BYTES);
      PaperPoint receive = plan.neighbours(dimensions, Traffic.RECEIVE, PaperPlan.LARGE_BYTES);
      PaperPoint both = plan.neighbours(dimensions, Traffic.BOTH, PaperPlan.LARGE_BYTES);
      SequencedMap<String, PaperPoint> figures = new LinkedHashMap<>();
      figures.put("send", send);
      figures.put("receive", receive);
      figures.put("both", both);
      rows.add(
          new Row(
              dimensions + "-D",
              List.of(
                  megabytes(send, paper.send()),
                  percent(send, 100 * paper.sendShare()),
                  megabytes(receive, paper.receive()),
                  percent(receive, 100 * paper.receiveShare()),
                  megabytes(both, paper.both()),
                  percent(both, 100 * paper.bothShare())),
              limits(figures)));
    }
    return new PaperTable(
        "table 5",
        "One node with a neighbour in each of 1 to 3 dimensions",
        "8,192 B messages, two links per dimension of "
            + plan.rates().get(Section.NEIGHBOURS)
            + " (the paper's: 1gbit). Both: what is sent plus what is received.",
        List.of("send", "share", "receive", "share", "both", "share"),
        rows);
  }

  private PaperTable table6() {
    List<Row> rows = new ArrayList<>();
    Measured direct = found(plan.smallRelayed(0));
    for (int relays = 0; relays <= 2; relays++) {
      PaperFigures.Relayed paper = PaperFigures.TABLE_6.get(relays);
      PaperPoint two = plan.relayed(relays, PaperPlan.LARGE_BYTES);
      PaperPoint four = plan.relayedFourLinks(relays);
      PaperPoint ping = plan.ping(relays);
      PaperPoint small = plan.smallRelayed(relays);
      SequencedMap<String, PaperPoint> figures = new LinkedHashMap<>();
      figures.put("2 links", two);
      if (paper.fourLinksMb() != null) {
        figures.put("4 links", four);
      }
      figures.put("half round trip", ping);
      figures.put("4 B", small);
      rows.add(
          new Row(
              relays + (relays == 1 ? " relay" : " relays"),
              List.of(
                  megabytes(two, paper.twoLinksMb()),
                  percent(two, share(paper.twoLinksMb(), 2)),
                  megabytes(four, paper.fourLinksMb()),
                  percent(four, share(paper.fourLinksMb(), 4)),
                  cell(ping, US, 2, Measured::halfRoundTripUs, paper.halfRoundTripUs()),
                  cell(small, PERCENT, 1, m -> lost(m, direct), 100 * paper.smallLoss())),
              limits(figures)));
    }
    return new PaperTable(
        "table 6",
        "Through relays",
        "Bandwidth: 8,192 B messages, 2 links of "
            + plan.rates().get(Section.RELAYS)
            + ", 4 links of "
            + plan.rates().get(Section.RELAYS_FOUR_LINKS)
            + " (the paper's: 1gbit). Half round trip (median of a run) and loss of 4 B rate against"
            + " no relay (the paper's section 5.3): links not shaped; "
            + SHARED
            + " The paper's half round trips"
            + " hold 5.1 us of switch a hop, which there is none of here; without it they are 9.8,"
            + " 17.3 and 24.0 us. Two to four processes share this machine's processors: a relay"
            + " that has none of its own costs a change of process.",
        List.of(
            "2 links",
            "of theoretical",
            "4 links",
            "of theoretical",
            "half round trip, 2 links",
            "4 B rate lost"),
        rows);
  }

  private static Spread lost(Measured relayed, Measured direct) {
    return direct == null
        ? null
        : relayed
            .messagesPerSecond()
            .map(rate -> 100 * (1 - rate / direct.messagesPerSecond().median()));
  }

  /** Percent of what the paper's links carry; null where it has no figure. */
  private static Double share(Double megabytes, int links) {
    return megabytes == null ? null : 100 * megabytes / (links * PaperFigures.LINK_MB);
  }

  private PaperFigure figure3() {
    List<Curve> curves = new ArrayList<>();
    for (int links : PaperPlan.LINKS) {
      PaperFigures.OneWay paper = PaperFigures.TABLE_4.get(links);
      String label = links + (links == 1 ? " link" : " links");
      addOurs(
          curves,
          label,
          links,
          plan.rates().get(Section.ONE_WAY),
          size -> plan.oneWay(links, size));
      if (paper != null) {
        addPapers(curves, label, links, paper.us(), paper.mb());
      }
    }
    return new PaperFigure("figure-3", "One way, 1 to 9 links", curves);
  }

  private PaperFigure figure4() {
    List<Curve> curves = new ArrayList<>();
    for (int dimensions = 1; dimensions <= 3; dimensions++) {
      int d = dimensions;
      addOurs(
          curves,
          d + "-D",
          d,
          plan.rates().get(Section.NEIGHBOURS),
          size -> plan.neighbours(d, Traffic.BOTH, size));
      // Section 5.2 says of small messages only that more dimensions cost little: table 4's time.
      double us = PaperFigures.TABLE_4.get(2 * d).us();
      addPapers(curves, d + "-D", d, us, PaperFigures.TABLE_5.get(d).both());
    }
    return new PaperFigure("figure-4", "Neighbours in 1 to 3 dimensions, both ways", curves);
  }

  private PaperFigure figure5() {
    List<Curve> curves = new ArrayList<>();
    for (int relays = 0; relays <= 2; relays++) {
      int r = relays;
      String label = r + (r == 1 ? " relay" : " relays");
      addOurs(curves, label, r, plan.rates().get(Section.RELAYS), size -> plan.relayed(r, size));
      addPapers(
          curves, label, r, PaperFigures.relayedUs(r), PaperFigures.TABLE_6.get(r).twoLinksMb());
    }
    return new PaperFigure("figure-5", "One way through 0 to 2 relays, 2 links", curves);
  }

  private void addOurs(
      List<Curve> curves, String label, int pair, Object rate, IntFunction<PaperPoint> pointOf) {
    List<Integer> sizes = new ArrayList<>();
    List<Double> values = new ArrayList<>();
    List<Double> least = new ArrayList<>();
    List<Double> most = new ArrayList<>();
    List<Double> withheld = new ArrayList<>();
    for (int size : plan.sizes()) {
      Measured measured = found(pointOf.apply(size));
      if (measured != null) {
        sizes.add(size);
        values.add(measured.megabytesPerSecond().median());
        least.add(measured.megabytesPerSecond().min());
        most.add(measured.megabytesPerSecond().max());
        if (measured.withheld() != null) {
          withheld.add(measured.withheld().max());
        }
      }
    }
    if (!sizes.isEmpty()) {
      String name = String.format(Locale.ROOT, "hxb, %s of %s", label, rate);
      curves.add(
          new Curve(
              name,
              pair,
              false,
              sizes,
              values,
              least,
              most,
              withheld.size() < sizes.size() ? null : withheld));
    }
  }

  private void addPapers(
      List<Curve> curves, String label, int pair, double usPerPacket, double fullMb) {
    List<Double> values =
        PaperPlan.FULL_SIZES.stream()
            .map(size -> PaperFigures.curveMb(usPerPacket, fullMb, size))
            .toList();
    curves.add(
        new Curve(
            "paper, " + label + " of 1gbit",
            pair,
            true,
            PaperPlan.FULL_SIZES,
            values,
            null,
            null,
            null));
  }
}
