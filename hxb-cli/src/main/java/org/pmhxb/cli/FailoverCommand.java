package org.pmhxb.cli;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.pmhxb.cli.bench.BenchCluster;
import org.pmhxb.cli.bench.BenchKind;
import org.pmhxb.cli.bench.Benchmark;
import org.pmhxb.cli.bench.Bounded;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.bench.Spread;
import org.pmhxb.cli.bench.Timeline;
import org.pmhxb.cli.bench.TrafficPlan;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.cluster.ClusterSpec;
import org.pmhxb.cli.cluster.NodeOptions;
import org.pmhxb.cli.cluster.PollPolicy;
import org.pmhxb.cli.cluster.TakeDown;
import org.pmhxb.cli.veth.VethFabric;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.RailLayout;
import org.pmhxb.router.Shape;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** One rail of several is cut under load, and mended, several times. */
@Command(
    name = "failover",
    description = {
      "Stream between two nodes over shaped veth links, cut one of them, and mend it again.",
      "ok needs 0.97 of the other links' share of the goodput before, nothing lost, and the rail's"
          + " return. Missing is what a cut cost, as the time that the other links take for it."
    },
    footer = {"", "Example: hxb bench failover --links 6 --rate 200mbit --cut silent --json"})
final class FailoverCommand extends ClusterCommand {
  private static final Duration UP_LIMIT = Duration.ofSeconds(60);
  private static final int SIZE_BYTES = 8_192;
  private static final String DEVICE = "x1";
  private static final long WARM_UP_MS = 2_000;
  private static final long SETTLE_MS = 300;
  private static final long SETTLE_NS = SETTLE_MS * 1_000_000;
  private static final double FULL = 0.97;
  private static final double MISSING_MUST_MS = 5;
  private static final double MISSING_AIM_MS = 1;

  @Option(
      names = "--links",
      paramLabel = "N",
      defaultValue = "6",
      description = "Links between the two nodes, 2 to 9.")
  private int links;

  @Mixin private RateOption rate;

  @Mixin private BudgetsOption budgets;

  @Option(
      names = "--cut",
      paramLabel = "HOW",
      defaultValue = "silent",
      description = "down or silent: the carrier goes or stays.")
  private VethFabric.Cut cut;

  @Option(
      names = "--cuts",
      paramLabel = "N",
      defaultValue = "5",
      description = "How often the link is cut and mended, 1 to 20.")
  private int cuts;

  @Option(
      names = "--phase",
      paramLabel = "S",
      defaultValue = "2",
      description =
          "Seconds measured before each cut, during it and after it, 1 to 60; the stream may take"
              + " 0.3 s to settle after the cut and 0.6 s after mending.")
  private double phaseSeconds;

  /**
   * One cut; goodput in payload bytes a second.
   *
   * @param before goodput before it
   * @param share goodput while the rail was cut, as a share of (N - 1) / N of that before
   * @param missingMs what did not arrive in 300 ms from the cut on, as the time that the goodput of
   *     the other links takes for it: a stop of all delivery for so long would have cost as much.
   *     At most: the rail counts as whole until the tool that cuts it is back
   * @param resolutionMs by how much {@code missingMs} may be too much
   */
  record Incident(
      double before,
      double during,
      double after,
      double share,
      double missingMs,
      double resolutionMs) {}

  /**
   * What came of it.
   *
   * @param missingMs of all cuts
   * @param undisturbedMissingMs the same of each 300 ms before a cut and behind it, in which
   *     nothing was done: what the machine costs by itself
   * @param longestStopMs longest time without a delivery in the whole measurement: what came over
   *     other links waits for what was lost on the cut one
   * @param heldUpMs time that no goodput counts, because this process was held up then
   */
  record Result(
      boolean ok,
      String machine,
      String command,
      int links,
      String rate,
      String cut,
      List<Incident> cuts,
      Bounded missingMs,
      Spread undisturbedMissingMs,
      double longestStopMs,
      double heldUpMs,
      List<String> missed,
      long messages,
      long lost,
      long duplicated,
      long misordered,
      long corrupt,
      long resent,
      List<String> failures)
      implements Report {
    @Override
    public void print(PrintWriter out) {
      out.printf("1 of %d links of %s cut, %s%n", links, rate, cut);
      for (Incident one : cuts) {
        out.printf(
            Locale.ROOT,
            "  MB/s before %.1f, during %.1f (%.3f of %d/%d of before), after %.1f;"
                + " missing at most %.1f ms, known to %.1f%n",
            one.before / 1e6,
            one.during / 1e6,
            one.share,
            links - 1,
            links,
            one.after / 1e6,
            one.missingMs,
            one.resolutionMs);
      }
      out.printf("  missing after a cut: %s%n", missingMs.line("ms"));
      if (undisturbedMissingMs != null) {
        out.printf(
            Locale.ROOT,
            "  the same without a cut, %d times 300 ms: %.1f ms (%.1f to %.1f)%n",
            undisturbedMissingMs.runs(),
            undisturbedMissingMs.median(),
            undisturbedMissingMs.min(),
            undisturbedMissingMs.max());
      }
      out.printf(Locale.ROOT, "  longest time without a delivery %.1f ms%n", longestStopMs);
      if (heldUpMs > 0) {
        out.printf(Locale.ROOT, "  not counted, as this process was held up: %.0f ms%n", heldUpMs);
      }
      out.printf(
          "  %d messages: lost %d, duplicated %d, misordered %d, corrupt %d; frames resent %d%n",
          messages, lost, duplicated, misordered, corrupt, resent);
      out.printf("machine: %s%ncommand: %s%n", machine, command);
      failures.forEach(line -> out.println("  FAILED: " + line));
    }
  }

  @Override
  protected Result run() throws Exception {
    range("--links", links, 2, RailLayout.MAX_PER_DIMENSION);
    range("--cuts", cuts, 1, 20);
    range("--phase", phaseSeconds, 1, 60);
    PollPolicy poll = new PollPolicy(HxbConfig.Idle.BACKOFF, false);
    ClusterSpec spec =
        new ClusterSpec(
            ClusterSpec.Fabric.VETH, Shape.of(2), links, rate.rate(), poll, NodeOptions.NONE);
    ClusterPaths own = ownPaths(BenchCluster.ownName());
    try (TakeDown guard = new TakeDown(own);
        BenchCluster cluster =
            BenchCluster.up(own, spec, UpCommand.nodeCommand(), UP_LIMIT, progress()::update)) {
      return measure(cluster);
    }
  }

  private long phaseMs() {
    return Math.round(phaseSeconds * 1_000);
  }

  /** From one cut to the next. */
  private long cycleMs() {
    return 2 * phaseMs() + 3 * SETTLE_MS;
  }

  private Result measure(BenchCluster cluster) throws Exception {
    TrafficPlan plan = TrafficPlan.pair(BenchKind.BANDWIDTH, Shape.of(2), links, 0, false);
    List<RailChange> changes = new ArrayList<>();
    try {
      List<Benchmark.Incident> incidents = new ArrayList<>();
      for (int i = 0; i < cuts; i++) {
        long cutMs = i * cycleMs() + phaseMs();
        String which = DEVICE + ", " + (i + 1) + " of " + cuts;
        changes.add(prepare(cluster, true));
        incidents.add(incident(cutMs, "cutting " + which, changes.getLast()));
        changes.add(prepare(cluster, false));
        long mendMs = cutMs + SETTLE_MS + phaseMs();
        incidents.add(incident(mendMs, "mending " + which, changes.getLast()));
      }
      long measureMs = cuts * cycleMs() + phaseMs() + SETTLE_MS;
      // Silent cuts replace the one link's queues, and links share the stream alike.
      double queuesKept = (links - 1.0) / links;
      return result(
          cluster.measure(plan, SIZE_BYTES, WARM_UP_MS, measureMs, incidents, queuesKept));
    } finally {
      // Before the cluster is: a tool that waits is a process in one of its namespaces.
      changes.forEach(RailChange::close);
    }
  }

  private RailChange prepare(BenchCluster cluster, boolean dead) {
    // One end down takes the carrier of both.
    int ends = cut == VethFabric.Cut.DOWN && dead ? 1 : 2;
    return new RailChange(
        cluster.namespaces().values().stream().limit(ends).toList(),
        namespace -> VethFabric.prepareCut(namespace, DEVICE, cut, dead, rate.rate()));
  }

  private Benchmark.Incident incident(long afterMs, String doing, RailChange change) {
    return new Benchmark.Incident(
        afterMs,
        () -> {
          progress().update(doing);
          return change.happen();
        });
  }

  private Result result(Benchmark.Outcome outcome) {
    Timeline timeline = outcome.timeline();
    List<Timeline.Happened> happened = timeline.incidents();
    if (happened.size() < 2 * cuts) {
      throw new IllegalStateException(
          "the stream ended before a rail was cut and mended %d times: %s"
              .formatted(cuts, outcome.failures()));
    }
    List<Incident> all = new ArrayList<>();
    List<Double> undisturbedMs = new ArrayList<>();
    List<String> failures = new ArrayList<>(outcome.failures());
    long wholeNs = timeline.beganNs();
    for (int i = 0; i < cuts; i++) {
      Timeline.Happened cutting = happened.get(2 * i);
      long cutNs = cutting.fromNs();
      long mendNs = happened.get(2 * i + 1).fromNs();
      long healedNs = mendNs + 2 * SETTLE_NS;
      long endNs = healedNs + phaseMs() * 1_000_000;
      if (i + 1 < cuts) {
        endNs = Math.min(endNs, happened.get(2 * i + 2).fromNs());
      }
      double before = timeline.bytesPerSecond(wholeNs, cutNs);
      double during = timeline.bytesPerSecond(cutNs + SETTLE_NS, mendNs);
      Incident one =
          new Incident(
              before,
              during,
              timeline.bytesPerSecond(healedNs, endNs),
              during / (before * (links - 1) / links),
              timeline.missingNs(cutting, cutNs + SETTLE_NS, before, during) / 1e6,
              timeline.uncertaintyNs(cutting, before, during) / 1e6);
      all.add(one);
      judge(one, failures);
      for (long ns : timeline.missingOfItself(wholeNs, cutNs, SETTLE_NS)) {
        undisturbedMs.add(ns / 1e6);
      }
      for (long ns : timeline.missingOfItself(cutNs + SETTLE_NS, mendNs, SETTLE_NS)) {
        undisturbedMs.add(ns / 1e6);
      }
      wholeNs = healedNs;
    }
    Bounded missingMs =
        Bounded.atMost(Spread.of(all, Incident::missingMs), MISSING_MUST_MS, MISSING_AIM_MS);
    return new Result(
        outcome.faulty() == 0 && failures.isEmpty(),
        MachineInfo.here(Version.project()).line(),
        command(),
        links,
        rate.rate().toString(),
        cut.name().toLowerCase(Locale.ROOT),
        all,
        missingMs,
        undisturbedMs.isEmpty() ? null : Spread.of(undisturbedMs),
        outcome.longestStopNs() / 1e6,
        timeline.heldUpNs() / 1e6,
        missingMs.missed("missing after a cut", "ms").stream().toList(),
        outcome.messages(),
        outcome.lost(),
        outcome.duplicated(),
        outcome.misordered(),
        outcome.corrupt(),
        outcome.resent(),
        failures);
  }

  private void judge(Incident one, List<String> failures) {
    if (!(one.share >= FULL)) {
      failures.add(
          String.format(
              Locale.ROOT,
              "goodput with %d of %d links is %.3f of its share; must be %.2f",
              links - 1,
              links,
              one.share,
              FULL));
    }
    if (!(one.after >= FULL * one.before)) {
      failures.add(
          String.format(
              Locale.ROOT,
              "goodput after mending is %.3f of that before; must be %.2f",
              one.after / one.before,
              FULL));
    }
  }

  private String command() {
    return "hxb bench failover --links %d --rate %s --cut %s --cuts %d --phase %s"
        .formatted(
            links,
            rate.rate(),
            cut.name().toLowerCase(Locale.ROOT),
            cuts,
            Words.number(phaseSeconds));
  }
}
