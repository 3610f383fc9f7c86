package org.pmhxb.cli;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.pmhxb.cli.bench.BenchCluster;
import org.pmhxb.cli.bench.BenchKind;
import org.pmhxb.cli.bench.Benchmark;
import org.pmhxb.cli.bench.Spread;
import org.pmhxb.cli.bench.Timeline;
import org.pmhxb.cli.bench.TrafficPlan;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.cluster.ClusterSpec;
import org.pmhxb.cli.cluster.NodeOptions;
import org.pmhxb.cli.cluster.PollPolicy;
import org.pmhxb.cli.cluster.TakeDown;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.cli.veth.VethFabric;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.RailLayout;
import org.pmhxb.router.Shape;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** One rail of several is cut under load, and mended. */
@Command(
    name = "failover",
    description = {
      "Stream between two nodes over shaped veth links, cut one of them, and mend it again.",
      "ok needs 0.97 of the other links' share of the goodput before, nothing lost, and the rail's"
          + " return. Missing is what the cut cost, as the time that the other links take for it."
    },
    footer = {"", "Example: hxb bench failover --links 6 --rate 200mbit --cut silent --json"})
final class FailoverCommand extends ClusterCommand {
  private static final Duration UP_LIMIT = Duration.ofSeconds(60);
  private static final int SIZE_BYTES = 8_192;
  private static final String DEVICE = "x1";
  private static final long WARM_UP_MS = 2_000;
  private static final long SETTLE_NS = 300_000_000L;
  private static final double FULL = 0.97;

  @Option(
      names = "--links",
      paramLabel = "N",
      defaultValue = "6",
      description = "Links between the two nodes, 2 to 9.")
  private int links;

  @Option(
      names = "--rate",
      paramLabel = "RATE",
      converter = Options.RateConverter.class,
      defaultValue = "200mbit",
      description = "Raw rate of each link.")
  private LinkRate rate;

  @Option(
      names = "--cut",
      paramLabel = "HOW",
      defaultValue = "silent",
      description = "down or silent: the carrier goes or stays.")
  private VethFabric.Cut cut;

  @Option(
      names = "--phase",
      paramLabel = "S",
      defaultValue = "2",
      description =
          "Seconds measured before the cut, during it and after it, 1 to 60; the stream may take"
              + " 0.3 s to settle after the cut and 0.6 s after mending.")
  private double phaseSeconds;

  /**
   * What came of it; goodput in payload bytes a second.
   *
   * @param share goodput while the rail was cut, as a share of (N - 1) / N of that before
   * @param missingNs what did not arrive in 300 ms from the cut on, as the time that the goodput of
   *     the other links takes for it: a stop of all delivery for so long would have cost as much.
   *     At most: the rail counts as whole until the tool that cuts it is back
   * @param longestStopNs longest time without a delivery in the whole measurement: what came over
   *     other links waits for what was lost on the cut one
   * @param undisturbedMissingNs the same of each 300 ms before the cut and behind it, in which
   *     nothing was done: what the machine costs by itself
   * @param resolutionNs by how much {@code missingNs} may be too much
   * @param heldUpNs time that no goodput counts, because this process was held up then
   */
  record Result(
      boolean ok,
      int links,
      String rate,
      String cut,
      double before,
      double during,
      double after,
      double share,
      long missingNs,
      List<Long> undisturbedMissingNs,
      long longestStopNs,
      long resolutionNs,
      long heldUpNs,
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
      out.printf(
          "  MB/s before %.1f, during %.1f, after %.1f; during is %.3f of %d/%d of before%n",
          before / 1e6, during / 1e6, after / 1e6, share, links - 1, links);
      out.printf(
          "  missing after the cut: at most %.1f ms of the others' delivery, known to %.1f ms;"
              + " longest time without a delivery %.1f ms%n",
          missingNs / 1e6, resolutionNs / 1e6, longestStopNs / 1e6);
      if (!undisturbedMissingNs.isEmpty()) {
        Spread undisturbed = Spread.of(undisturbedMissingNs, Long::doubleValue);
        out.printf(
            "  the same without a cut, %d times 300 ms: %.1f ms (%.1f to %.1f)%n",
            undisturbed.runs(),
            undisturbed.median() / 1e6,
            undisturbed.min() / 1e6,
            undisturbed.max() / 1e6);
      }
      if (heldUpNs > 0) {
        out.printf("  not counted, as this process was held up: %.0f ms%n", heldUpNs / 1e6);
      }
      out.printf(
          "  %d messages: lost %d, duplicated %d, misordered %d, corrupt %d; frames resent %d%n",
          messages, lost, duplicated, misordered, corrupt, resent);
      failures.forEach(line -> out.println("  FAILED: " + line));
    }
  }

  @Override
  protected Result run() throws Exception {
    range("--links", links, 2, RailLayout.MAX_PER_DIMENSION);
    range("--phase", phaseSeconds, 1, 60);
    PollPolicy poll = new PollPolicy(HxbConfig.Idle.BACKOFF, false);
    ClusterSpec spec =
        new ClusterSpec(ClusterSpec.Fabric.VETH, Shape.of(2), links, rate, poll, NodeOptions.NONE);
    ClusterPaths own = ownPaths(BenchCluster.ownName());
    try (TakeDown guard = new TakeDown(own);
        BenchCluster cluster =
            BenchCluster.up(own, spec, UpCommand.nodeCommand(), UP_LIMIT, progress()::update)) {
      return measure(cluster);
    }
  }

  private Result measure(BenchCluster cluster) throws Exception {
    long phaseMs = Math.round(phaseSeconds * 1_000);
    long settleMs = Duration.ofNanos(SETTLE_NS).toMillis();
    TrafficPlan plan = TrafficPlan.pair(BenchKind.BANDWIDTH, Shape.of(2), links, 0, false);
    Benchmark.Outcome outcome;
    // Closed before the cluster is: a tool that waits is a process in one of its namespaces.
    try (RailChange cutting = prepare(cluster, true);
        RailChange mending = prepare(cluster, false)) {
      outcome =
          cluster.measure(
              plan,
              SIZE_BYTES,
              WARM_UP_MS,
              3 * phaseMs + 4 * settleMs,
              List.of(
                  incident(phaseMs, "cutting", cutting),
                  incident(2 * phaseMs + settleMs, "mending", mending)));
    }
    Timeline timeline = outcome.timeline();
    List<Timeline.Happened> incidents = timeline.incidents();
    if (incidents.size() < 2) {
      throw new IllegalStateException(
          "the stream ended before a rail was cut and mended: " + outcome.failures());
    }
    Timeline.Happened cutting = incidents.getFirst();
    long cutNs = cutting.fromNs();
    long mendNs = incidents.getLast().fromNs();
    long healedNs = mendNs + 2 * SETTLE_NS;
    double before = timeline.bytesPerSecond(timeline.beganNs(), cutNs);
    double during = timeline.bytesPerSecond(cutNs + SETTLE_NS, mendNs);
    double after = timeline.bytesPerSecond(healedNs, healedNs + phaseMs * 1_000_000);
    long missingNs = timeline.missingNs(cutting, cutNs + SETTLE_NS, before, during);
    List<Long> undisturbed =
        new ArrayList<>(timeline.missingOfItself(timeline.beganNs(), cutNs, SETTLE_NS));
    undisturbed.addAll(timeline.missingOfItself(cutNs + SETTLE_NS, mendNs, SETTLE_NS));
    long uncertaintyNs = timeline.uncertaintyNs(cutting, before, during);
    return result(outcome, before, during, after, missingNs, undisturbed, uncertaintyNs);
  }

  private RailChange prepare(BenchCluster cluster, boolean dead) {
    // One end down takes the carrier of both.
    int ends = cut == VethFabric.Cut.DOWN && dead ? 1 : 2;
    return new RailChange(
        cluster.namespaces().values().stream().limit(ends).toList(),
        namespace -> VethFabric.prepareCut(namespace, DEVICE, cut, dead, rate));
  }

  private Benchmark.Incident incident(long afterMs, String doing, RailChange change) {
    return new Benchmark.Incident(
        afterMs,
        () -> {
          progress().update(doing + " " + DEVICE);
          return change.happen();
        });
  }

  private Result result(
      Benchmark.Outcome outcome,
      double before,
      double during,
      double after,
      long missingNs,
      List<Long> undisturbedMissingNs,
      long uncertaintyNs) {
    List<String> failures = new ArrayList<>(outcome.failures());
    double share = during / (before * (links - 1) / links);
    if (!(share >= FULL)) {
      failures.add(
          String.format(
              "goodput with %d of %d links is %.3f of its share; must be %.2f",
              links - 1, links, share, FULL));
    }
    if (!(after >= FULL * before)) {
      failures.add(
          String.format(
              "goodput after mending is %.3f of that before; must be %.2f", after / before, FULL));
    }
    return new Result(
        outcome.faulty() == 0 && failures.isEmpty(),
        links,
        rate.toString(),
        cut.name().toLowerCase(Locale.ROOT),
        before,
        during,
        after,
        share,
        missingNs,
        undisturbedMissingNs,
        outcome.longestStopNs(),
        uncertaintyNs,
        outcome.timeline().heldUpNs(),
        outcome.messages(),
        outcome.lost(),
        outcome.duplicated(),
        outcome.misordered(),
        outcome.corrupt(),
        outcome.resent(),
        failures);
  }
}
