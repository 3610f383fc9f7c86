package org.pmhxb.cli.bench.paper;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.ToDoubleFunction;
import org.pmhxb.cli.bench.Spread;
import org.pmhxb.cli.bench.paper.PaperFigure.Curve;
import org.pmhxb.cli.bench.paper.PaperPlan.Section;
import org.pmhxb.cli.bench.paper.PaperPoint.Traffic;
import org.pmhxb.cli.bench.paper.PaperTable.Cell;
import org.pmhxb.cli.bench.paper.PaperTable.Row;

/** Puts what was measured into the paper's tables and figures. */
final class PaperTables {
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

  private Spread spread(PaperPoint point, Function<Measured, Spread> which) {
    Measured measured = findings.found().get(point);
    return measured == null ? null : which.apply(measured);
  }

  private Spread percent(PaperPoint point) {
    Spread share = spread(point, Measured::efficiency);
    return share == null ? null : share.map(s -> 100 * s);
  }

  private String limit(PaperPoint point) {
    Measured measured = findings.found().get(point);
    return measured == null ? "not measured" : measured.limit();
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
      Spread rate = spread(small, Measured::messagesPerSecond);
      rows.add(
          new Row(
              links + (links == 1 ? " link" : " links"),
              List.of(
                  new Cell(
                      MB, 1, spread(large, Measured::megabytesPerSecond), of(paper, p -> p.mb())),
                  new Cell(PERCENT, 2, percent(large), of(paper, p -> 100 * p.share())),
                  new Cell(
                      "M/s",
                      3,
                      rate == null ? null : rate.map(r -> r / 1e6),
                      of(paper, p -> 1 / p.us())),
                  new Cell(
                      US, 3, rate == null ? null : rate.map(r -> 1e6 / r), of(paper, p -> p.us()))),
              "8 KB: " + limit(large) + "; 4 B: " + limit(small)));
    }
    return new PaperTable(
        "table 4",
        "One way over 1 to 9 links",
        "Bandwidth and share of the raw rate: 8,192 B messages, links of "
            + plan.rates().get(Section.ONE_WAY)
            + " (the paper's: 1gbit). Rate and time of 4 B messages: links not shaped.",
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
      rows.add(
          new Row(
              dimensions + "-D",
              List.of(
                  new Cell(MB, 1, spread(send, Measured::megabytesPerSecond), paper.send()),
                  new Cell(PERCENT, 2, percent(send), 100 * paper.sendShare()),
                  new Cell(MB, 1, spread(receive, Measured::megabytesPerSecond), paper.receive()),
                  new Cell(PERCENT, 2, percent(receive), 100 * paper.receiveShare()),
                  new Cell(MB, 1, spread(both, Measured::megabytesPerSecond), paper.both()),
                  new Cell(PERCENT, 2, percent(both), 100 * paper.bothShare())),
              "both: " + limit(both)));
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
    Spread direct = spread(plan.smallRelayed(0), Measured::messagesPerSecond);
    for (int relays = 0; relays <= 2; relays++) {
      PaperFigures.Relayed paper = PaperFigures.TABLE_6.get(relays);
      PaperPoint two = plan.relayed(relays, PaperPlan.LARGE_BYTES);
      PaperPoint four = plan.relayedFourLinks(relays);
      Spread small = spread(plan.smallRelayed(relays), Measured::messagesPerSecond);
      Spread lost =
          small == null || direct == null
              ? null
              : small.map(rate -> 100 * (1 - rate / direct.median()));
      rows.add(
          new Row(
              relays + (relays == 1 ? " relay" : " relays"),
              List.of(
                  new Cell(MB, 1, spread(two, Measured::megabytesPerSecond), paper.twoLinksMb()),
                  new Cell(PERCENT, 2, percent(two), 100 * paper.twoLinksMb() / twoLinks()),
                  new Cell(MB, 1, spread(four, Measured::megabytesPerSecond), paper.fourLinksMb()),
                  new Cell(
                      US,
                      2,
                      spread(plan.ping(relays), Measured::halfRoundTripUs),
                      paper.halfRoundTripUs()),
                  new Cell(PERCENT, 1, lost, 100 * paper.smallLoss())),
              "8 KB: " + limit(two) + "; 4 B: " + limit(plan.smallRelayed(relays))));
    }
    return new PaperTable(
        "table 6",
        "Through relays",
        "Bandwidth: 8,192 B messages, links of "
            + plan.rates().get(Section.RELAYS)
            + " (the paper's: 1gbit). Half round trip (median of a run) and loss of 4 B rate against"
            + " no relay (the paper's section 5.3): links not shaped. The paper's half round trips"
            + " hold 5.1 us of switch a hop, which there is none of here; without it they are 9.8,"
            + " 17.3 and 24.0 us. Two to four processes share this machine's processors: a relay"
            + " that has none of its own costs a change of process.",
        List.of(
            "2 links", "of theoretical", "4 links", "half round trip, 2 links", "4 B rate lost"),
        rows);
  }

  private static double twoLinks() {
    return 2 * PaperFigures.LINK_MB;
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
    for (int size : plan.sizes()) {
      Spread spread = spread(pointOf.apply(size), Measured::megabytesPerSecond);
      if (spread != null) {
        sizes.add(size);
        values.add(spread.median());
      }
    }
    if (!sizes.isEmpty()) {
      String name = String.format(Locale.ROOT, "hxb, %s of %s", label, rate);
      curves.add(new Curve(name, pair, false, sizes, values));
    }
  }

  private void addPapers(
      List<Curve> curves, String label, int pair, double usPerPacket, double fullMb) {
    List<Double> values =
        PaperPlan.FULL_SIZES.stream()
            .map(size -> PaperFigures.curveMb(usPerPacket, fullMb, size))
            .toList();
    curves.add(
        new Curve("paper, " + label + " of 1gbit", pair, true, PaperPlan.FULL_SIZES, values));
  }
}
