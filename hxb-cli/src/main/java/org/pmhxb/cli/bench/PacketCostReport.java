package org.pmhxb.cli.bench;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.pmhxb.cli.Report;
import org.pmhxb.cli.Words;
import org.pmhxb.cost.Budget;
import org.pmhxb.cost.Figures;
import org.pmhxb.cost.Spread;

/**
 * What a packet costs, Java and C.
 *
 * @param ok every line counts: digests equal, allocation below its bound
 * @param met every budget is met; null where no line has one
 * @param missed the budgets that are not, for people
 * @param measuredAt ISO 8601, UTC
 * @param seconds that the measurement took
 * @param furtherRails what lines over several rails cost more than the same over one
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record PacketCostReport(
    boolean ok,
    Boolean met,
    List<String> missed,
    String machine,
    String command,
    String measuredAt,
    double seconds,
    List<Line> results,
    List<FurtherRail> furtherRails)
    implements Report {

  /**
   * What a rail beyond the first costs, ns per packet: the mean of them. A line's budget holds that
   * of one rail and {@code mustNs} for each further one; here the difference stands by itself.
   *
   * @param rails of the line
   */
  public record FurtherRail(
      String path,
      int burst,
      int peers,
      int payloadBytes,
      int rails,
      double javaNs,
      double cNs,
      double mustNs,
      double aimNs) {
    private static Stream<FurtherRail> of(Line line, List<Line> lines) {
      if (line.budgetNs() == null || line.javaNs() == null || line.rails() == 1) {
        return Stream.empty();
      }
      int further = line.rails() - 1;
      return lines.stream()
          .filter(one -> one.rails() == 1 && one.javaNs() != null && one.isBeside(line))
          .limit(1)
          .map(
              one ->
                  new FurtherRail(
                      line.path(),
                      line.burst(),
                      line.peers(),
                      line.payloadBytes(),
                      line.rails(),
                      Line.rounded((line.javaNs() - one.javaNs()) / further, 2),
                      Line.rounded((line.cNs() - one.cNs()) / further, 2),
                      Budget.FURTHER_RAIL_MUST_NS,
                      Budget.FURTHER_RAIL_AIM_NS));
    }

    private String line() {
      return String.format(
          Locale.ROOT, "%s %+.1f (C %+.1f)", name(path, burst, rails, peers), javaNs, cNs);
    }
  }

  /**
   * One scenario. Times are ns per packet; {@code javaNs} and {@code cNs} are medians.
   *
   * @param path {@link org.pmhxb.cost.Path}, or {@link org.pmhxb.cost.Path#withAcks}, from the same
   *     rounds and without a budget
   * @param ratio the same of each round's Java to its C
   * @param generatorNs what making and taking the frames costs, in none of the other figures
   * @param budgetNs what it must not exceed; null where there is no budget
   * @param met both budget and, on the receive path, the ratio to C; null without a budget, false
   *     of a void line
   * @param missed which of the two it misses, for people; none of a void line, for it says nothing
   * @param digest of what both sides delivered and emitted
   * @param fault why the line does not count; null when it does
   * @param rounds that count: of their batches those at the machine's faster speed, where most
   *     set-ups have a round with enough of them, else all
   * @param stepNs the machine's speed in the slowest of these: ns a step of six chains side by side
   * @param batchesCounted the part of a round's batches that count, 0 to 1, of Java and of C: those
   *     at the machine's faster speed
   * @param slow most set-ups did not meet the machine at its faster speed often enough
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.ALWAYS)
  public record Line(
      String path,
      int burst,
      int rails,
      int peers,
      int payloadBytes,
      Double javaNs,
      Double cNs,
      Double ratio,
      Double bytesAllocatedPerPacket,
      Double budgetNs,
      Double aimNs,
      Double budgetRatio,
      Boolean met,
      List<String> missed,
      Double generatorNs,
      List<Double> javaRange,
      List<Double> cRange,
      List<Double> ratioRange,
      long packets,
      String digest,
      String fault,
      int rounds,
      Double stepNs,
      List<Double> batchesCounted,
      boolean slow) {

    public static Line of(Figures f) {
      var s = f.scenario();
      Optional<Budget> budget = f.isOfPath() ? Budget.of(s) : Optional.empty();
      boolean againstC = budget.isPresent() && s.path() == org.pmhxb.cost.Path.RECEIVE;
      boolean measured = f.packets() > 0;
      List<String> missed =
          budget.filter(b -> f.fault() == null).map(b -> missed(f, b, againstC)).orElse(List.of());
      return new Line(
          f.name(),
          s.burst(),
          s.rails(),
          s.peers(),
          s.payloadBytes(),
          measured ? rounded(f.java().median(), 2) : null,
          measured ? rounded(f.c().median(), 2) : null,
          measured ? rounded(f.ratio().median(), 3) : null,
          measured ? rounded(f.bytesAllocatedPerPacket(), 5) : null,
          budget.map(Budget::mustNs).orElse(null),
          budget.map(Budget::aimNs).orElse(null),
          againstC ? Budget.MUST_RATIO : null,
          budget.isPresent() ? f.fault() == null && missed.isEmpty() : null,
          missed,
          measured ? rounded(f.generatorNs(), 2) : null,
          measured ? range(f.java(), 2) : null,
          measured ? range(f.c(), 2) : null,
          measured ? range(f.ratio(), 3) : null,
          f.packets(),
          f.digest(),
          f.fault(),
          f.rounds(),
          measured ? rounded(f.stepNs(), 2) : null,
          measured ? List.of(rounded(f.javaPart(), 2), rounded(f.cPart(), 2)) : null,
          f.slow());
    }

    /** Whether but for their rails the lines are of the same scenario. */
    private boolean isBeside(Line other) {
      return path.equals(other.path)
          && burst == other.burst
          && peers == other.peers
          && payloadBytes == other.payloadBytes;
    }

    /** By what was measured, not by what a line has of it. */
    private static List<String> missed(Figures f, Budget budget, boolean againstC) {
      var s = f.scenario();
      String name = name(f.name(), s.burst(), s.rails(), s.peers());
      List<String> missed = new ArrayList<>();
      if (f.java().median() > budget.mustNs()) {
        missed.add(Bounded.missed(name, f.java().median(), "ns", budget.mustNs(), true));
      }
      if (againstC && f.ratio().median() > Budget.MUST_RATIO) {
        missed.add(Bounded.missed(name, f.ratio().median(), "times C", Budget.MUST_RATIO, true));
      }
      return List.copyOf(missed);
    }

    private static List<Double> range(Spread spread, int digits) {
      return List.of(rounded(spread.min(), digits), rounded(spread.max(), digits));
    }

    private static double rounded(double value, int digits) {
      double scale = Math.pow(10, digits);
      return Math.round(value * scale) / scale;
    }
  }

  /** Sums lines up. */
  public static PacketCostReport of(
      String machine, String command, String measuredAt, double seconds, List<Line> lines) {
    boolean ok = !lines.isEmpty() && lines.stream().allMatch(l -> l.fault() == null);
    List<Boolean> met = lines.stream().map(Line::met).filter(Objects::nonNull).toList();
    return new PacketCostReport(
        ok,
        met.isEmpty() ? null : Boolean.valueOf(!met.contains(false)),
        lines.stream().map(Line::missed).flatMap(List::stream).toList(),
        machine,
        command,
        measuredAt,
        seconds,
        lines,
        lines.stream().flatMap(line -> FurtherRail.of(line, lines)).toList());
  }

  @Override
  public void print(PrintWriter out) {
    out.println("machine: " + machine);
    out.println("command: " + command);
    out.printf(Locale.ROOT, "%s, took %.0f s%n", measuredAt, seconds);
    out.println(
        "ns per packet, median of rounds (least..most); ratio: Java to C in the same"
            + " round; generator: in none of them");
    out.println();
    out.printf(
        "%-9s %5s %5s %5s %7s  %-19s %-19s %-18s %5s %5s %-4s %9s %9s%n",
        "path",
        "burst",
        "rails",
        "peers",
        "payload",
        "Java",
        "C",
        "ratio",
        "must",
        "aim",
        "met",
        "generator",
        "alloc B");
    for (Line line : results) {
      if (line.javaNs() != null) {
        print(out, line);
      }
      if (line.fault() != null) {
        out.printf(
            "%-9s %5d %5d %5d %7d  VOID: %s%n",
            line.path(),
            line.burst(),
            line.rails(),
            line.peers(),
            line.payloadBytes(),
            line.fault());
      }
    }
    out.println();
    out.println(paceNote());
    if (!furtherRails.isEmpty()) {
      out.println(railNote());
    }
    out.println(ok ? "equal digests, equal counters, no allocation" : "VOID: see above");
    out.println(
        met == null ? "no line has a budget" : met ? "every budget is met" : "budgets are not met");
  }

  /** As lines are named in one: "send/32/1/100". */
  private static String name(String path, int burst, int rails, int peers) {
    return "%s/%d/%d/%d".formatted(path, burst, rails, peers);
  }

  private String railNote() {
    return "Each further rail, ns: "
        + furtherRails.stream().map(FurtherRail::line).collect(Collectors.joining(", "))
        + ".";
  }

  /** What lines say of the machine's speed; a line that a slower one met is named. */
  private String paceNote() {
    DoubleSummaryStatistics step =
        results.stream()
            .filter(l -> l.stepNs() != null)
            .mapToDouble(Line::stepNs)
            .summaryStatistics();
    List<String> slow =
        results.stream()
            .filter(Line::slow)
            .map(l -> name(l.path(), l.burst(), l.rails(), l.peers()))
            .toList();
    String speed =
        String.format(
            Locale.ROOT,
            "Machine's speed: %.2f to %.2f ns a step; batches at a slower one left out, of Java's %.0f %%"
                + " and of C's %.0f %% at most",
            step.getMin(),
            step.getMax(),
            100 * mostLeftOut(0),
            100 * mostLeftOut(1));
    return slow.isEmpty() ? speed + "." : speed + " but for " + String.join(", ", slow) + ".";
  }

  /**
   * Of a line's batches.
   *
   * @param side 0: Java, 1: C
   */
  private double mostLeftOut(int side) {
    return results.stream()
        .filter(l -> l.batchesCounted() != null)
        .mapToDouble(l -> 1 - l.batchesCounted().get(side))
        .max()
        .orElse(0);
  }

  /** The same as a table for a page. */
  public String markdown() {
    StringBuilder text = new StringBuilder();
    text.append("`").append(command).append("` on ").append(machine).append(", ");
    text.append(String.format(Locale.ROOT, "%s, %.0f s.%n", measuredAt, seconds));
    text.append("ns per packet: median (least..most) of rounds. ")
        .append(paceNote())
        .append(furtherRails.isEmpty() ? "" : " " + railNote())
        .append("\n\n");
    text.append("| path | burst | rails | peers | Java | C | Java / C | must | aim | met |\n");
    text.append("|---|---|---|---|---|---|---|---|---|---|\n");
    for (Line l : results) {
      text.append(
          String.format(
              Locale.ROOT,
              "| %s | %d | %d | %d | %s | %s | %s | %s | %s | %s |%n",
              l.path(),
              l.burst(),
              l.rails(),
              l.peers(),
              l.javaNs() == null ? "void" : figure(l.javaNs(), l.javaRange(), 1),
              l.cNs() == null ? "void" : figure(l.cNs(), l.cRange(), 1),
              l.ratio() == null ? "void" : figure(l.ratio(), l.ratioRange(), 2),
              l.budgetNs() == null ? "" : Words.number(l.budgetNs()),
              l.aimNs() == null ? "" : Words.number(l.aimNs()),
              l.met() == null ? "" : l.met() ? "yes" : "**no**"));
    }
    return text.toString();
  }

  private static void print(PrintWriter out, Line l) {
    out.printf(
        Locale.ROOT,
        "%-9s %5d %5d %5d %7d  %-19s %-19s %-18s %5s %5s %-4s %9.1f %9.4f%n",
        l.path(),
        l.burst(),
        l.rails(),
        l.peers(),
        l.payloadBytes(),
        figure(l.javaNs(), l.javaRange(), 1),
        figure(l.cNs(), l.cRange(), 1),
        figure(l.ratio(), l.ratioRange(), 2),
        l.budgetNs() == null ? "-" : Words.number(l.budgetNs()),
        l.aimNs() == null ? "-" : Words.number(l.aimNs()),
        l.met() == null ? "-" : l.met() ? "yes" : "NO",
        l.generatorNs(),
        l.bytesAllocatedPerPacket());
  }

  private static String figure(double median, List<Double> range, int digits) {
    String one = "%." + digits + "f";
    return String.format(
        Locale.ROOT,
        one + " (" + one + ".." + one + ")",
        median,
        range.getFirst(),
        range.getLast());
  }
}
