package org.pmhxb.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.pmhxb.cli.bench.BenchKind;
import org.pmhxb.cli.bench.BenchNode;
import org.pmhxb.cli.bench.Benchmark;
import org.pmhxb.cli.bench.LocalNode;
import org.pmhxb.cli.bench.RemoteNode;
import org.pmhxb.cli.bench.TrafficPlan;
import org.pmhxb.cli.cluster.ClusterLauncher;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.cluster.ClusterRemover;
import org.pmhxb.cli.cluster.ClusterSpec;
import org.pmhxb.cli.cluster.ClusterState;
import org.pmhxb.cli.cluster.TakeDown;
import org.pmhxb.cli.node.PolledNode;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.cli.workload.LatencyHistogram;
import org.pmhxb.cli.workload.PayloadPattern;
import org.pmhxb.pm.PollIdle;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.RailLayout;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Measures a cluster, its own or one that is up. */
@Command(
    name = "bench",
    description = {
      "Measure bandwidth, latency or the neighbour exchange. Every message is verified: content,"
          + " order, exactly once.",
      "Uses the cluster that is up, or brings one up for the run and takes it down again.",
      "Theoretical is the raw rate of the links in use; without --rate links have none."
    },
    footer = {
      "",
      "Example: hxb bench bandwidth --fabric veth --links 4 --rate 200mbit --size 8192",
      "Example: hxb bench exchange --fabric veth --shape 2x2x2 --rails 2 --rate 100mbit --json"
    })
final class BenchCommand extends ClusterCommand {
  /** What joins the nodes. */
  enum Fabric {
    RING,
    MEMIF,
    VETH
  }

  private static final double MOST_EFFICIENCY = 1.01;
  private static final Duration UP_LIMIT = Duration.ofSeconds(60);

  @Parameters(
      index = "0",
      paramLabel = "KIND",
      description =
          "bandwidth: streams between two nodes; latency: half round trips between two"
              + " nodes; exchange: every node with all its neighbours, both ways.")
  private BenchKind kind;

  @Option(
      names = "--fabric",
      paramLabel = "FABRIC",
      description =
          "ring (one process), memif or veth (a process per node). Default: that of the"
              + " cluster that is up, else ring.")
  private Fabric fabric;

  @Option(
      names = "--shape",
      paramLabel = "AxBxC",
      converter = Options.ShapeConverter.class,
      description = "Extents. Default: 2x2x2 for exchange, else the smallest that has the relays.")
  private Shape shape;

  @Option(
      names = "--rails",
      paramLabel = "R",
      description = "Links per node in each dimension, 1 to 9. Default: 2.")
  private Integer rails;

  @Option(
      names = "--links",
      paramLabel = "N",
      description = "Two nodes joined by N links: short for --shape 2 --rails N.")
  private Integer links;

  @Option(
      names = "--rate",
      paramLabel = "RATE",
      converter = Options.RateConverter.class,
      description = "Raw rate of each link, as in 200mbit; veth only. Default: unshaped.")
  private LinkRate rate;

  @Option(
      names = "--size",
      paramLabel = "BYTES",
      description =
          "Length of a message, 4 to what one frame carries. Default: 8192, for latency" + " 64.")
  private Integer size;

  @Option(
      names = "--relays",
      paramLabel = "K",
      defaultValue = "0",
      description = "Nodes between the two, 0 to 2.")
  private int relays;

  @Option(names = "--both", description = "Stream both ways at once.")
  private boolean both;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      defaultValue = "5",
      description = "Length of the measurement, 0.1 to 86400.")
  private double seconds;

  @Option(
      names = "--warm-up",
      paramLabel = "S",
      description =
          "Traffic before it: the code is compiled, the token buckets are emptied. Default: 1 s and"
              + " half a second per node, at most 10 s.")
  private Double warmUp;

  /**
   * The result; of a running cluster shape, rails and rate are its own.
   *
   * @param links links of a node in use
   * @param bytesPerSecond payload that receivers' programs got
   * @param theoreticalBytesPerSecond raw rate of the links in use; null when they are not shaped
   * @param halfRoundTripNs of latency
   * @param latencyNs one-way times of streams: under full load, so mostly waiting
   */
  record Result(
      boolean ok,
      String kind,
      String fabric,
      String shape,
      int rails,
      int links,
      int relays,
      boolean both,
      String rate,
      int size,
      double seconds,
      double bytesPerSecond,
      Double theoreticalBytesPerSecond,
      Double efficiency,
      double messagesPerSecond,
      long messages,
      long lost,
      long duplicated,
      long misordered,
      long corrupt,
      long resent,
      LatencyHistogram.Summary halfRoundTripNs,
      LatencyHistogram.Summary latencyNs,
      List<Benchmark.Pair> pairs,
      List<String> failures)
      implements Report {
    @Override
    public void print(PrintWriter out) {
      out.printf(
          "%s over %s, shape %s, %d rails%s, %d B, %.1f s%n",
          kind, fabric, shape, rails, rate == null ? "" : " of " + rate, size, seconds);
      if (halfRoundTripNs == null) {
        out.printf("  %.1f MB/s, %.0f messages/s", bytesPerSecond / 1e6, messagesPerSecond);
        out.printf(
            efficiency == null ? "%n" : ", %.2f %% of %.1f MB/s%n",
            efficiency == null ? 0 : 100 * efficiency,
            theoreticalBytesPerSecond == null ? 0 : theoreticalBytesPerSecond / 1e6);
      } else {
        out.printf(
            "  half round trip, us: min %.2f, p50 %.2f, p99 %.2f, p99.9 %.2f, max %.2f (%d)%n",
            halfRoundTripNs.min() / 1e3,
            halfRoundTripNs.p50() / 1e3,
            halfRoundTripNs.p99() / 1e3,
            halfRoundTripNs.p999() / 1e3,
            halfRoundTripNs.max() / 1e3,
            messages);
      }
      out.printf(
          "  lost %d, duplicated %d, misordered %d, corrupt %d, resent %d%n",
          lost, duplicated, misordered, corrupt, resent);
      failures.forEach(line -> out.println("  FAILED: " + line));
    }
  }

  @Override
  protected Report run() throws Exception {
    checkOptions();
    Optional<ClusterState> up = ClusterState.read(paths()).filter(s -> !s.nodes().isEmpty());
    if (up.isPresent() && usable(up.get())) {
      return overCluster(up.get());
    }
    completeShape();
    return switch (fabric == null ? Fabric.RING : fabric) {
      case RING -> overRing();
      case MEMIF -> overOwnCluster(ClusterSpec.Fabric.MEMIF);
      case VETH -> overOwnCluster(ClusterSpec.Fabric.VETH);
    };
  }

  private void checkOptions() {
    if (links != null && (shape != null || rails != null)) {
      throw wrongUsage("--links N stands for --shape 2 --rails N: give one or the other");
    }
    if (links != null) {
      shape = Shape.of(2);
      rails = links;
    }
    if (relays < 0 || relays > 2) {
      throw wrongUsage("--relays is " + relays + "; must be in 0..2");
    }
    if (kind == BenchKind.EXCHANGE && (relays > 0 || both)) {
      throw wrongUsage("an exchange is between neighbours and both ways: no --relays, no --both");
    }
    if (kind == BenchKind.LATENCY && both) {
      throw wrongUsage("a ping-pong has one message under way: no --both");
    }
    boolean warm = warmUp == null || warmUp >= 0 && warmUp <= 600;
    if (!warm || !(seconds >= 0.1 && seconds <= 86_400)) {
      throw wrongUsage("--seconds must be in 0.1..86400 and --warm-up in 0..600");
    }
    if (size == null) {
      size = kind == BenchKind.LATENCY ? 64 : 8_192;
    }
    range("--size", size, PayloadPattern.MIN_BYTES, HxbConfig.MTU_MAX_BYTES);
  }

  /**
   * Whether what is up is meant; a contradiction to an option is an error, not a reason for
   * another.
   */
  private boolean usable(ClusterState state) {
    if (fabric != null && !fabric.name().equalsIgnoreCase(state.fabric())) {
      return false;
    }
    requireSame("--shape", shape, state.shape(), state);
    requireSame("--rails", rails, String.valueOf(state.rails()), state);
    requireSame("--rate", rate, state.rate(), state);
    return true;
  }

  private void requireSame(String option, Object wanted, String there, ClusterState state) {
    if (wanted != null && !wanted.toString().equals(there)) {
      throw new IllegalStateException(
          "cluster '"
              + state.cluster()
              + "' is up with "
              + option
              + " "
              + (there.isEmpty() ? "none" : there)
              + ", not "
              + wanted
              + "; leave the option out, name another cluster, or take it down with: "
              + paths(state.cluster()).command("down"));
    }
  }

  private Result overCluster(ClusterState state) throws IOException, InterruptedException {
    shape = Shape.parse(state.shape());
    rails = state.rails();
    rate = state.rate().isEmpty() ? null : LinkRate.parse(state.rate());
    Map<Integer, RemoteNode> nodes = new TreeMap<>();
    Map<Integer, String> absent = new TreeMap<>();
    try {
      for (ClusterState.Node node : state.nodes()) {
        try {
          nodes.put(node.node(), RemoteNode.connect(node.node(), Path.of(node.socket())));
        } catch (IOException e) {
          absent.put(node.node(), e.getMessage());
        }
      }
      return measure(plan(absent), nodes, state.fabric(), absent);
    } finally {
      for (RemoteNode node : nodes.values()) {
        node.close();
      }
    }
  }

  private Result overOwnCluster(ClusterSpec.Fabric kindOfFabric)
      throws IOException, InterruptedException {
    ClusterSpec spec = Options.spec(this, kindOfFabric, shape, rails, rate);
    plan(Map.of());
    // A name of its own: two benchmarks, and a cluster that is up, do not meet.
    ClusterPaths own = paths("b" + Long.toString(ProcessHandle.current().pid(), 36));
    try (TakeDown guard = new TakeDown(own)) {
      try {
        ClusterState state =
            new ClusterLauncher(own, UpCommand.nodeCommand(), progress()::update)
                .up(spec, UP_LIMIT);
        return overCluster(state);
      } finally {
        boolean interrupted = Thread.interrupted();
        ClusterRemover.remove(own);
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }

  private Result overRing() throws IOException, InterruptedException {
    if (rate != null) {
      throw wrongUsage("--rate " + rate + ": the ring fabric has no links to shape; use veth");
    }
    TrafficPlan plan = plan(Map.of());
    progress().update("building " + shape.nodes() + " nodes");
    // One poller: it may spin without taking the core from another.
    List<PolledNode> nodes =
        PolledNode.launch(RingCluster.create(RingCluster.Options.of(shape, rails)), PollIdle.SPIN);
    try {
      awaitReady(nodes);
      Map<Integer, LocalNode> byNumber = new TreeMap<>();
      nodes.forEach(node -> byNumber.put(node.self(), new LocalNode(node)));
      try {
        return measure(plan, byNumber, "ring", Map.of());
      } finally {
        byNumber.values().forEach(LocalNode::close);
      }
    } finally {
      nodes.getFirst().close();
    }
  }

  private static void awaitReady(List<PolledNode> nodes) throws InterruptedException {
    long deadlineNs = System.nanoTime() + UP_LIMIT.toNanos();
    while (!nodes.stream().allMatch(PolledNode::ready)) {
      Throwable failure = nodes.getFirst().failure();
      if (failure != null || System.nanoTime() - deadlineNs >= 0) {
        throw new IllegalStateException(
            "the ring cluster is not ready: " + (failure == null ? "no reason known" : failure),
            failure);
      }
      Thread.sleep(5);
    }
  }

  /** The nodes' compilers share this machine's cores. */
  private double warmUpSeconds() {
    return warmUp == null ? Math.min(10, 1 + shape.nodes() / 2.0) : warmUp;
  }

  private void completeShape() {
    if (shape == null) {
      int dimensions = kind == BenchKind.EXCHANGE ? 3 : relays + 1;
      shape = Shape.parse("2" + "x2".repeat(dimensions - 1));
    }
    rails = rails == null ? Integer.valueOf(2) : rails;
    range(links == null ? "--rails" : "--links", rails, 1, RailLayout.MAX_PER_DIMENSION);
  }

  /**
   * @param absent nodes that do not answer: an exchange goes on without them
   */
  private TrafficPlan plan(Map<Integer, String> absent) {
    TrafficPlan plan;
    try {
      plan =
          kind == BenchKind.EXCHANGE
              ? TrafficPlan.exchange(shape, rails, absent.keySet())
              : TrafficPlan.pair(kind, shape, rails, relays, both);
    } catch (IllegalArgumentException e) {
      throw wrongUsage(e.getMessage());
    }
    for (int node : plan.destinations().keySet()) {
      if (absent.containsKey(node)) {
        throw new IllegalStateException(
            "node "
                + node
                + " takes part and is not there: "
                + absent.get(node)
                + "; see "
                + paths().command("status"));
      }
    }
    return plan;
  }

  private Result measure(
      TrafficPlan plan,
      Map<Integer, ? extends BenchNode> nodes,
      String fabricName,
      Map<Integer, String> absent)
      throws IOException, InterruptedException {
    Benchmark.Outcome outcome =
        new Benchmark(
                plan,
                size,
                Math.round(warmUpSeconds() * 1e3),
                Math.round(seconds * 1e3),
                progress()::update)
            .run(nodes);
    if (kind == BenchKind.EXCHANGE) {
      absent.forEach(
          (node, reason) -> outcome.failures().add("node " + node + " was left out: " + reason));
    }
    boolean latency = kind == BenchKind.LATENCY;
    Double theoretical =
        rate == null || latency ? null : Double.valueOf(plan.links() * rate.bytesPerSecond());
    Double efficiency =
        theoretical == null ? null : Double.valueOf(outcome.bytesPerSecond() / theoretical);
    if (efficiency != null && efficiency > MOST_EFFICIENCY) {
      outcome
          .failures()
          .add(
              String.format(
                  "efficiency %.3f is above %.2f: the shaping did not bite, the figure is void;"
                      + " see tc -n NAMESPACE -s qdisc show",
                  efficiency, MOST_EFFICIENCY));
    }
    long faults = outcome.lost() + outcome.duplicated() + outcome.misordered() + outcome.corrupt();
    boolean ok = faults == 0 && outcome.messages() > 0 && outcome.failures().isEmpty();
    return new Result(
        ok,
        kind.toString(),
        fabricName,
        shape.toString(),
        rails,
        plan.linksPerNode(),
        relays,
        both,
        rate == null ? null : rate.toString(),
        size,
        outcome.seconds(),
        outcome.bytesPerSecond(),
        theoretical,
        efficiency,
        outcome.messagesPerSecond(),
        outcome.messages(),
        outcome.lost(),
        outcome.duplicated(),
        outcome.misordered(),
        outcome.corrupt(),
        outcome.resent(),
        latency ? outcome.latency() : null,
        latency ? null : outcome.latency(),
        outcome.pairs(),
        outcome.failures());
  }
}
