package org.pmhxb.cli.bench;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.pmhxb.cli.Report;
import org.pmhxb.cli.bench.PacketCostReport.Line;

/**
 * Two sets of packet-cost reports, scenario by scenario.
 *
 * <p>What a JVM makes of the code differs from run to run, so of three runs or more on either side
 * it is their medians that are told apart. Runs that met the machine at its slower speed all but
 * throughout do not count for that; of fewer all rounds of all runs are, which takes more.
 *
 * @param ok every report counts, every scenario is in both, and none is a regression
 */
public record PacketCostComparison(
    boolean ok, double threshold, List<Change> results, List<String> faults) implements Report {
  private static final int MANY_RUNS = 3;

  /**
   * One scenario. Times are ns per packet of the Java node: least, median, most of the runs'
   * medians, or of all rounds where the runs are few.
   *
   * @param byRuns whether the spreads are of the runs' medians; else of all rounds
   * @param ratio of the medians, new to base
   * @param moved the spreads do not touch: the difference is not noise
   * @param regression moved, and slower by more than the threshold
   */
  @JsonInclude(JsonInclude.Include.ALWAYS)
  public record Change(
      String scenario,
      List<Double> baseNs,
      List<Double> newNs,
      boolean byRuns,
      double ratio,
      boolean moved,
      boolean regression) {}

  /** All lines of one scenario in one set of reports. */
  private record Runs(double median, double least, double most) {
    static Runs of(List<Line> lines, boolean many) {
      Quartiles medians = Quartiles.of(lines.stream().map(Line::javaNs).toList());
      return many
          ? new Runs(medians.median(), medians.min(), medians.max())
          : new Runs(
              medians.median(),
              lines.stream().mapToDouble(l -> l.javaRange().getFirst()).min().orElseThrow(),
              lines.stream().mapToDouble(l -> l.javaRange().getLast()).max().orElseThrow());
    }

    List<Double> spread() {
      return List.of(least, median, most);
    }
  }

  /**
   * Compares.
   *
   * @param threshold part by which a median may grow before it counts as a regression
   */
  public static PacketCostComparison of(
      List<PacketCostReport> base, List<PacketCostReport> with, double threshold) {
    List<String> faults = new ArrayList<>();
    Map<String, List<Line>> before = byScenario("base", base, faults);
    Map<String, List<Line>> after = byScenario("new", with, faults);
    List<Change> changes = new ArrayList<>();
    for (String scenario : before.keySet()) {
      if (after.containsKey(scenario)) {
        changes.add(change(scenario, before.get(scenario), after.get(scenario), threshold));
      } else {
        faults.add(scenario + " is not among the new figures");
      }
    }
    for (String scenario : after.keySet()) {
      if (!before.containsKey(scenario)) {
        faults.add(scenario + " is not among the base's figures");
      }
    }
    boolean ok =
        faults.isEmpty() && !changes.isEmpty() && changes.stream().noneMatch(Change::regression);
    return new PacketCostComparison(ok, threshold, changes, faults);
  }

  private static Change change(
      String scenario, List<Line> base, List<Line> with, double threshold) {
    List<Line> baseFast = base.stream().filter(line -> !line.slow()).toList();
    List<Line> withFast = with.stream().filter(line -> !line.slow()).toList();
    boolean byRuns = baseFast.size() >= MANY_RUNS && withFast.size() >= MANY_RUNS;
    Runs before = Runs.of(byRuns ? baseFast : base, byRuns);
    Runs after = Runs.of(byRuns ? withFast : with, byRuns);
    double ratio = after.median() / before.median();
    boolean moved = after.least() > before.most() || after.most() < before.least();
    return new Change(
        scenario,
        before.spread(),
        after.spread(),
        byRuns,
        Math.round(ratio * 1e3) / 1e3,
        moved,
        moved && ratio > 1 + threshold);
  }

  private static Map<String, List<Line>> byScenario(
      String set, List<PacketCostReport> reports, List<String> faults) {
    Map<String, List<Line>> lines = new LinkedHashMap<>();
    for (PacketCostReport report : reports) {
      for (Line l : report.results() == null ? List.<Line>of() : report.results()) {
        String scenario =
            "%s burst %d rails %d peers %d %d B"
                .formatted(l.path(), l.burst(), l.rails(), l.peers(), l.payloadBytes());
        if (l.fault() == null) {
          lines.computeIfAbsent(scenario, key -> new ArrayList<>()).add(l);
        } else {
          faults.add(set + ": " + scenario + ": " + l.fault());
        }
      }
    }
    return lines;
  }

  @Override
  public void print(PrintWriter out) {
    out.println(
        "Java, ns per packet: least / median / most of the runs' medians; *: of all rounds");
    out.printf("%-40s %-24s %-24s %6s%n", "scenario", "base", "new", "ratio");
    for (Change c : results) {
      out.printf(
          Locale.ROOT,
          "%-40s %-24s %-24s %6.3f%s %s%n",
          c.scenario(),
          text(c.baseNs()),
          text(c.newNs()),
          c.ratio(),
          c.byRuns() ? " " : "*",
          c.regression()
              ? "REGRESSION"
              : c.moved() ? c.ratio() < 1 ? "faster" : "slower" : "noise");
    }
    faults.forEach(fault -> out.println("FAULT: " + fault));
    out.printf(
        Locale.ROOT, "%s (threshold %.0f %%)%n", ok ? "no regression" : "FAILED", 100 * threshold);
  }

  private static String text(List<Double> spread) {
    return String.format(
        Locale.ROOT, "%.1f/%.1f/%.1f", spread.get(0), spread.get(1), spread.get(2));
  }
}
