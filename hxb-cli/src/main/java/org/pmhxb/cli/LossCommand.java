package org.pmhxb.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.pmhxb.cli.bench.BenchCluster;
import org.pmhxb.cli.bench.BenchKind;
import org.pmhxb.cli.bench.Benchmark;
import org.pmhxb.cli.bench.Bounded;
import org.pmhxb.cli.bench.Efficiency;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.bench.Spread;
import org.pmhxb.cli.bench.TrafficPlan;
import org.pmhxb.cli.bench.WarmUp;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.cluster.ClusterSpec;
import org.pmhxb.cli.cluster.NodeOptions;
import org.pmhxb.cli.cluster.PollPolicy;
import org.pmhxb.cli.cluster.TakeDown;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.RailLayout;
import org.pmhxb.router.Shape;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What the loss of frames costs, beside links that lose none. */
@Command(
    name = "loss",
    description = {
      "Stream between two nodes whose ports lose one frame of a hundred at random, in turn with two whose"
          + " ports lose none, and compare the goodput. Over shaped veth links, messages of 8 KB.",
      "Each run has nodes of its own."
    },
    footer = {"", "Example: hxb bench loss --links 2 --rate 200mbit --json"})
final class LossCommand extends ClusterCommand {
  private static final Duration UP_LIMIT = Duration.ofSeconds(60);
  private static final int SIZE_BYTES = 8_192;

  private static final String FAULTS = "loss=0.01";
  private static final double LOST_MUST_PERCENT = 2;
  private static final double LOST_AIM_PERCENT = 1.2;

  @Option(
      names = "--links",
      paramLabel = "N",
      defaultValue = "2",
      description = "Links between the two nodes, 1 to 9.")
  private int links;

  @Mixin private RateOption rate;

  @Mixin private BudgetsOption budgets;

  @Mixin private RunsOption runsGiven;

  private int runs;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      defaultValue = "5",
      description = "Length of each measurement, 0.1 to 3600.")
  private double seconds;

  @Option(
      names = "--warm-up",
      paramLabel = "S",
      description =
          "Traffic before each, 0.1 to 600. Default: until the nodes' JIT compilers rest, at most "
              + WarmUp.LONGEST_SECONDS
              + " s.")
  private Double warmUpSeconds;

  /**
   * What came of it.
   *
   * @param clean share of the links' raw rate that was goodput without loss, 0 to 1
   * @param lossy the same with it
   * @param lostPercent of each run's goodput, beside the one before it that lost no frames
   * @param resent frames sent again in all runs with loss
   */
  record Result(
      boolean ok,
      String machine,
      String command,
      int links,
      String rate,
      Spread clean,
      Spread lossy,
      Bounded lostPercent,
      List<String> missed,
      long messages,
      long resent,
      List<String> failures)
      implements Report {
    @Override
    public void print(PrintWriter out) {
      out.printf("%s of %s, 1 %% of the frames lost%n", Words.count(links, "link"), rate);
      out.printf(Locale.ROOT, "  goodput without loss %s of the links%n", share(clean));
      out.printf(Locale.ROOT, "  goodput with it %s%n", share(lossy));
      out.printf("  lost of it: %s%n", lostPercent.line("%"));
      out.printf(
          "  %d messages, each whole, once and in order; frames resent %d%n", messages, resent);
      out.printf("machine: %s%ncommand: %s%n", machine, command);
      failures.forEach(line -> out.println("  FAILED: " + line));
    }

    private static String share(Spread spread) {
      return String.format(
          Locale.ROOT,
          "%.1f %% (%.1f to %.1f)",
          100 * spread.median(),
          100 * spread.min(),
          100 * spread.max());
    }
  }

  @Override
  protected Result run() throws Exception {
    range("--links", links, 1, RailLayout.MAX_PER_DIMENSION);
    runs = runsGiven.runsOr(this, 3);
    range("--seconds", seconds, 0.1, 3_600);
    if (warmUpSeconds != null) {
      range("--warm-up", warmUpSeconds, 0.1, 600);
    }
    List<Double> clean = new ArrayList<>();
    List<Double> lossy = new ArrayList<>();
    List<Double> lostPercent = new ArrayList<>();
    List<String> failures = new ArrayList<>();
    long messages = 0;
    long resent = 0;
    for (int i = 1; i <= runs; i++) {
      String which = ", run " + i + " of " + runs;
      Benchmark.Outcome without = measure("", "no loss" + which, failures);
      Benchmark.Outcome with = measure(FAULTS, FAULTS + which, failures);
      if (with.resent() == 0) {
        failures.add("run " + i + ": no frame was sent again, so none was lost");
      }
      clean.add(share(without, failures));
      lossy.add(share(with, failures));
      lostPercent.add(100 * (1 - with.bytesPerSecond() / without.bytesPerSecond()));
      messages += without.messages() + with.messages();
      resent += with.resent();
    }
    Bounded lost = Bounded.atMost(Spread.of(lostPercent), LOST_MUST_PERCENT, LOST_AIM_PERCENT);
    return new Result(
        failures.isEmpty(),
        MachineInfo.here(Version.project()).line(),
        command(),
        links,
        rate.rate().toString(),
        Spread.of(clean),
        Spread.of(lossy),
        lost,
        lost.missed("goodput lost", "%").stream().toList(),
        messages,
        resent,
        failures);
  }

  private double share(Benchmark.Outcome outcome, List<String> failures) {
    Efficiency efficiency = Efficiency.of(outcome.bytesPerSecond(), links, rate.rate());
    efficiency.objection().ifPresent(failures::add);
    return efficiency.share();
  }

  /** Two nodes of their own; what went wrong is added to the failures. */
  private Benchmark.Outcome measure(String faults, String title, List<String> failures)
      throws IOException, InterruptedException {
    NodeOptions options = new NodeOptions("", HxbConfig.Tag.OFF, faults, NodeOptions.VETH_DRIVER);
    ClusterSpec spec =
        new ClusterSpec(
            ClusterSpec.Fabric.VETH, Shape.of(2), links, rate.rate(), PollPolicy.DEFAULT, options);
    TrafficPlan plan = TrafficPlan.pair(BenchKind.BANDWIDTH, Shape.of(2), links, 0, false);
    Consumer<String> said = line -> progress().update(title + ": " + line);
    ClusterPaths own = ownPaths(BenchCluster.ownName());
    try (TakeDown guard = new TakeDown(own);
        BenchCluster cluster =
            BenchCluster.up(own, spec, UpCommand.nodeCommand(), UP_LIMIT, said)) {
      Benchmark.Outcome outcome =
          WarmUp.thenMeasure(
              cluster, plan, SIZE_BYTES, warmUpSeconds, Math.round(1e3 * seconds), said);
      failures.addAll(outcome.failures());
      if (outcome.messages() == 0) {
        throw new IllegalStateException(title + ": no message arrived; " + outcome.failures());
      }
      if (outcome.faulty() > 0) {
        failures.add(
            "%s: of %d messages %d were lost, came twice, out of order or changed"
                .formatted(title, outcome.messages(), outcome.faulty()));
      }
      return outcome;
    }
  }

  private String command() {
    return "hxb bench loss --links %d --rate %s --runs %d --seconds %s"
            .formatted(links, rate.rate(), runs, Words.number(seconds))
        + (warmUpSeconds == null ? "" : " --warm-up " + Words.number(warmUpSeconds));
  }
}
