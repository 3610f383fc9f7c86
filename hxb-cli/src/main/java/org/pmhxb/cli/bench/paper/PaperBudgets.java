package org.pmhxb.cli.bench.paper;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.pmhxb.cli.Words;
import org.pmhxb.cli.bench.Bounded;
import org.pmhxb.cli.bench.Spread;
import org.pmhxb.cli.bench.paper.PaperPoint.Traffic;

/** What the tables' figures must reach and are meant to. */
final class PaperBudgets {
  private static final String PERCENT = "%";

  private final PaperFindings findings;
  private final List<Budget> all = new ArrayList<>();

  /**
   * One of them.
   *
   * @param figure in {@code unit}
   */
  public record Budget(String what, String unit, Bounded figure) {
    /** Empty where it is kept to. */
    Stream<String> missed() {
      return figure.missed(what, unit).stream();
    }
  }

  private PaperBudgets(PaperFindings findings) {
    this.findings = findings;
  }

  /** Of what was measured; what was not has no entry. */
  static List<Budget> of(PaperFindings findings) {
    PaperBudgets budgets = new PaperBudgets(findings);
    PaperPlan plan = findings.plan();
    for (int links : PaperPlan.LINKS) {
      budgets.share(
          "8 KB one way, " + Words.count(links, "link"),
          plan.oneWay(links, PaperPlan.LARGE_BYTES),
          98,
          99);
    }
    for (int dimensions = 1; dimensions <= 3; dimensions++) {
      budgets.share(
          "neighbours in %d-D, both ways".formatted(dimensions),
          plan.neighbours(dimensions, Traffic.BOTH, PaperPlan.LARGE_BYTES),
          96,
          98.5);
    }
    for (int relays = 1; relays <= 2; relays++) {
      String through = "through " + Words.count(relays, "relay");
      budgets.share(through + ", 2 links", plan.relayed(relays, PaperPlan.LARGE_BYTES), 98, 99);
      budgets.share(through + ", 4 links", plan.relayedFourLinks(relays), 98, 99);
    }
    Measured ping = findings.found().get(plan.ping(0));
    if (ping != null) {
      budgets.add(
          "half round trip, 2 links", "us", Bounded.atMost(ping.halfRoundTripUs(), 2.5, 1.6));
    }
    return budgets.all;
  }

  /** Of the links' raw rate. */
  private void share(String what, PaperPoint point, double must, double aim) {
    Measured measured = findings.found().get(point);
    if (measured != null && measured.efficiency() != null) {
      Spread percent = measured.efficiency().map(share -> 100 * share);
      add(what, PERCENT, Bounded.atLeast(percent, must, aim));
    }
  }

  private void add(String what, String unit, Bounded figure) {
    all.add(new Budget(what, unit, figure));
  }
}
