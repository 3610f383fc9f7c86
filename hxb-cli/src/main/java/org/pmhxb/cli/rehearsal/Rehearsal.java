package org.pmhxb.cli.rehearsal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.pmhxb.cli.bench.BenchKind;
import org.pmhxb.cli.bench.Benchmark;
import org.pmhxb.cli.bench.TrafficPlan;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.cluster.ClusterSpec;
import org.pmhxb.cli.cluster.NodeConfigs;
import org.pmhxb.cli.cluster.NodeOptions;
import org.pmhxb.cli.cluster.PollPolicy;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.cli.veth.OwnLinks;
import org.pmhxb.cli.veth.VethFabric;
import org.pmhxb.cost.Bench;
import org.pmhxb.cost.Scenario;
import org.pmhxb.router.Dimension;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.RailLayout;
import org.pmhxb.router.Shape;

/**
 * Takes the code of a node through its life: usual traffic, relays, lost, repeated, late and broken
 * frames, full ports, rails that are cut and mended. A JVM that records what it runs (hxb-cli's
 * pom.xml) then knows of all these branches, and nodes that start from its archive compile them; a
 * JVM that has never met one leaves it out, and throws compiled code away when it comes. Owner: one
 * thread.
 *
 * <p>The nodes' classes are those of a cluster of processes: ports of the drivers {@code shm} and
 * {@code packet}, behind the first act's rings, and no simulated ones, because a call is compiled
 * for the few classes that it was seen with.
 */
public final class Rehearsal {
  private static final int LONG_BYTES = 8_192;
  private static final int SHORT_BYTES = 64;
  private static final long BURSTS_NS = 500_000_000;
  private static final int CUT_RAILS = 6;
  private static final int CUTS = 9;
  private static final LinkRate CUT_RATE = LinkRate.parse("200mbit");
  private static final Shape PAIR = Shape.of(2);
  private static final Shape SQUARE = Shape.of(2, 2);

  private final Path directory;
  private final Consumer<String> progress;
  private final List<Act> acts = new ArrayList<>();

  private Rehearsal(Path directory, Consumer<String> progress) {
    this.directory = directory;
    this.progress = progress;
  }

  /**
   * A part of it.
   *
   * @param seconds that it took
   * @param messages that arrived while it was measured, of the first act frames
   * @param faulty messages lost, repeated, out of order or changed
   * @param counters of all its nodes together, of {@link org.pmhxb.pm.Counter} and drops
   * @param failures what did not go as it should, for people
   */
  public record Act(
      String name,
      double seconds,
      long messages,
      long faulty,
      Map<String, Long> counters,
      List<String> failures) {}

  /**
   * Runs all of it, some twenty seconds, without links some twelve.
   *
   * @param links whether veth pairs may be made in this process's network namespace; else what
   *     needs them is left out
   * @param progress takes lines for people
   */
  public static List<Act> run(boolean links, Consumer<String> progress)
      throws IOException, InterruptedException {
    try (ScratchDirectory scratch = ScratchDirectory.open()) {
      Rehearsal rehearsal = new Rehearsal(scratch.path(), progress);
      rehearsal.act("bursts", Rehearsal::bursts);
      rehearsal.act("lines", rehearsal::lines);
      rehearsal.act("relays", () -> rehearsal.square("", 600));
      if (links) {
        rehearsal.act("cuts", rehearsal::cuts);
      }
      rehearsal.act(
          "faults",
          () -> rehearsal.square("loss=0.02,duplicate=0.02,reorder=0.05,corrupt=0.02,seed=1", 400));
      return rehearsal.acts;
    }
  }

  /** What an act plays on its stage. */
  private interface Play {
    Played play() throws Exception;
  }

  /**
   * @param frames that came without a workload
   */
  private record Played(List<Benchmark.Outcome> outcomes, Map<String, Long> counters, long frames) {
    Played(List<Benchmark.Outcome> outcomes, Map<String, Long> counters) {
      this(outcomes, counters, 0);
    }
  }

  private void act(String name, Play play) throws InterruptedException {
    progress.accept("rehearsal: " + name);
    long startNs = System.nanoTime();
    long messages = 0;
    long faulty = 0;
    Map<String, Long> counters = Map.of();
    List<String> failures = new ArrayList<>();
    try {
      Played played = play.play();
      counters = played.counters();
      messages = played.frames();
      for (Benchmark.Outcome outcome : played.outcomes()) {
        messages += outcome.messages();
        faulty += outcome.faulty();
        failures.addAll(outcome.failures());
      }
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      failures.add(e.toString());
    }
    double seconds = (System.nanoTime() - startNs) / 1e9;
    acts.add(new Act(name, seconds, messages, faulty, counters, failures));
  }

  /**
   * Full bursts and single frames, received, sent, relayed and acknowledged. First: what the
   * compiler makes of a loop follows from how often it went round when it was hot.
   */
  private static Played bursts() {
    long frames = 0;
    for (org.pmhxb.cost.Path path : org.pmhxb.cost.Path.values()) {
      for (Scenario scenario :
          List.of(
              new Scenario(path, 32, 1, 1),
              new Scenario(path, 32, 9, 1),
              new Scenario(path, 1, 1, 1))) {
        try (Bench bench = Bench.openAlone(scenario)) {
          long endNs = System.nanoTime() + BURSTS_NS;
          while (System.nanoTime() - endNs < 0) {
            frames += bench.java().batch();
          }
        }
      }
    }
    return new Played(List.of(), Map.of(), frames);
  }

  /** Rails of the kernel's, cut and mended while messages of all kinds are under way. */
  private Played cuts() throws Exception {
    List<OwnLinks.Pair> pairs = new ArrayList<>();
    RailLayout layout = new RailLayout(PAIR, CUT_RAILS);
    for (int rail = 0; rail < CUT_RAILS; rail++) {
      pairs.add(new OwnLinks.Pair(layout.name(rail) + "-0", layout.name(rail) + "-1"));
    }
    OwnLinks links = new OwnLinks(pairs, CUT_RATE);
    ClusterPaths paths = paths("cuts");
    List<HxbConfig> configs = new ArrayList<>();
    for (int node = 0; node < 2; node++) {
      HxbConfig.Builder config =
          HxbConfig.builder()
              .name("cuts-" + node)
              .key("cuts")
              .shape(PAIR)
              .coordinates(PAIR.coordinates(node))
              .controlSocket(paths.socket(node).toString());
      for (int rail = 0; rail < CUT_RAILS; rail++) {
        String device = node == 0 ? pairs.get(rail).a() : pairs.get(rail).b();
        config.rail(new HxbConfig.Rail(Dimension.X, rail, HxbConfig.Driver.PACKET, device));
      }
      configs.add(config.build());
    }
    try (Stage stage = new Stage(configs, progress)) {
      List<Benchmark.Outcome> outcomes = new ArrayList<>();
      TrafficPlan oneWay = TrafficPlan.pair(BenchKind.BANDWIDTH, PAIR, CUT_RAILS, 0, false);
      TrafficPlan bothWays = TrafficPlan.pair(BenchKind.BANDWIDTH, PAIR, CUT_RAILS, 0, true);
      TrafficPlan pingPong = TrafficPlan.pair(BenchKind.LATENCY, PAIR, CUT_RAILS, 0, false);
      outcomes.add(cutUnder(stage, oneWay, LONG_BYTES, links, pairs, VethFabric.Cut.SILENT));
      outcomes.add(cutUnder(stage, bothWays, LONG_BYTES, links, pairs, VethFabric.Cut.DOWN));
      outcomes.add(cutUnder(stage, bothWays, SHORT_BYTES, links, pairs, VethFabric.Cut.SILENT));
      outcomes.add(cutUnder(stage, pingPong, SHORT_BYTES, links, pairs, VethFabric.Cut.SILENT));
      return new Played(outcomes, stage.counters());
    }
  }

  /** One rail after the other. */
  private static Benchmark.Outcome cutUnder(
      Stage stage,
      TrafficPlan plan,
      int sizeBytes,
      OwnLinks links,
      List<OwnLinks.Pair> pairs,
      VethFabric.Cut how)
      throws Exception {
    try (ExecutorService thread = Executors.newSingleThreadExecutor()) {
      Future<Benchmark.Outcome> run = thread.submit(() -> stage.run(plan, sizeBytes, 1_900));
      Thread.sleep(200);
      for (int i = 0; i < CUTS; i++) {
        OwnLinks.Pair pair = pairs.get(i % CUT_RAILS);
        links.cut(pair, how, true);
        Thread.sleep(90);
        links.cut(pair, how, false);
        Thread.sleep(80);
      }
      return run.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }

  /** Two nodes and a line of shared memory, as fast as it goes. */
  private Played lines() throws Exception {
    ClusterSpec spec =
        new ClusterSpec(
            ClusterSpec.Fabric.SHM, PAIR, 1, null, PollPolicy.suiting(2), NodeOptions.NONE);
    try (Stage stage = new Stage(configs(spec), progress)) {
      List<Benchmark.Outcome> outcomes = new ArrayList<>();
      TrafficPlan oneWay = TrafficPlan.pair(BenchKind.BANDWIDTH, PAIR, 1, 0, false);
      TrafficPlan pingPong = TrafficPlan.pair(BenchKind.LATENCY, PAIR, 1, 0, false);
      outcomes.add(stage.run(oneWay, SHORT_BYTES, 700));
      outcomes.add(stage.run(pingPong, SHORT_BYTES, 500));
      outcomes.add(stage.run(oneWay.withOwnFrames(), SHORT_BYTES, 400));
      outcomes.add(stage.run(oneWay, LONG_BYTES, 400));
      return new Played(outcomes, stage.counters());
    }
  }

  /** Four nodes, of which each relays for two, all to all. */
  private Played square(String faults, long ms) throws Exception {
    NodeOptions options = new NodeOptions("", HxbConfig.Tag.OFF, faults, NodeOptions.VETH_DRIVER);
    PollPolicy poll = new PollPolicy(HxbConfig.Idle.BACKOFF, false);
    ClusterSpec spec = new ClusterSpec(ClusterSpec.Fabric.SHM, SQUARE, 2, null, poll, options);
    try (Stage stage = new Stage(configs(spec), progress)) {
      List<Benchmark.Outcome> outcomes = new ArrayList<>();
      TrafficPlan all = TrafficPlan.allToAll(SQUARE, 2);
      outcomes.add(stage.run(all, 2_048, ms));
      outcomes.add(stage.run(all, SHORT_BYTES, ms));
      return new Played(outcomes, stage.counters());
    }
  }

  /** In their order: a server of shared memory comes before its client. */
  private List<HxbConfig> configs(ClusterSpec spec) throws IOException {
    ClusterPaths paths = paths(spec.shape().equals(PAIR) ? "lines" : "square");
    List<HxbConfig> configs = new ArrayList<>();
    for (int node = 0; node < spec.shape().nodes(); node++) {
      configs.add(NodeConfigs.of(spec, paths, node));
    }
    return configs;
  }

  private ClusterPaths paths(String cluster) throws IOException {
    ClusterPaths paths = new ClusterPaths(directory, cluster);
    Files.createDirectories(paths.directory());
    return paths;
  }
}
