package org.pmhxb.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.pmhxb.cli.bench.BenchCluster;
import org.pmhxb.cli.bench.BenchKind;
import org.pmhxb.cli.bench.Benchmark;
import org.pmhxb.cli.bench.Efficiency;
import org.pmhxb.cli.bench.MeasuredCluster;
import org.pmhxb.cli.bench.RingBench;
import org.pmhxb.cli.bench.TrafficPlan;
import org.pmhxb.cli.bench.WarmUp;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.cluster.ClusterSpec;
import org.pmhxb.cli.cluster.ClusterState;
import org.pmhxb.cli.cluster.ClusterView;
import org.pmhxb.cli.cluster.TakeDown;
import org.pmhxb.cli.veth.FabricPlan;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.cli.workload.PayloadPattern;
import org.pmhxb.cli.workload.WorkloadSpec;
import org.pmhxb.router.Coordinates;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;
import org.pmhxb.router.node.NodeSizing;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures a cluster, its own or one that is up. */
abstract class ClusterBench extends ClusterCommand {
  /** Which cluster is measured, for the help of each of these benchmarks. */
  static final String USES =
      "Measures the cluster that is up (--cluster); all nodes that take part have to answer. Without"
          + " one, or where --fabric is not that cluster's, it builds one for the run and takes it"
          + " down again. Another --shape, --rails or --rate than that cluster's is refused.";

  /** What joins the nodes. */
  enum Fabric {
    RING,
    SHM,
    MEMIF,
    VETH
  }

  private static final Duration UP_LIMIT = Duration.ofSeconds(60);

  private static final int RAILS = 2;

  /** All fabrics of this machine have the same MTU. */
  private static final int MAX_SIZE_BYTES = NodeSizing.maxPayloadBytes(FabricPlan.MTU_BYTES);

  @Option(
      names = "--fabric",
      paramLabel = "FABRIC",
      description =
          "ring (one process), shm, memif (shared memory, by lines of our own or by memif's) or veth (a"
              + " process per node). Default: that of the cluster that is up, else ring. Another than"
              + " that cluster's: one is built beside it.")
  private Fabric fabric;

  @Mixin private ClusterOptions options;

  @Option(
      names = "--size",
      paramLabel = "BYTES",
      description =
          "Length of a message, 4 to 16777216; to and fro at most 8950, what one frame carries."
              + " Default: 8192, for latency 64.")
  private Integer size;

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
          "Traffic before it: the code is compiled, the token buckets are emptied. Default: until the"
              + " nodes' JIT compilers rest, at most "
              + WarmUp.LONGEST_SECONDS
              + " s.")
  private Double warmUp;

  abstract BenchKind kind();

  abstract int defaultSizeBytes();

  /** The shape that a cluster of this benchmark's own has when none is given. */
  abstract Shape smallestShape();

  /**
   * @param absent nodes that do not answer
   * @throws IllegalArgumentException when the shape does not have what is wanted
   */
  abstract TrafficPlan traffic(Shape shape, int rails, Set<Integer> absent);

  /** Whether the nodes that send or receive share a process, and all others another. */
  boolean together() {
    return false;
  }

  /** Nodes between sender and receiver. */
  int relays() {
    return 0;
  }

  /** Whether to go on without nodes that do not answer. */
  boolean withoutAbsent() {
    return false;
  }

  /** Whether nodes stream to each other, both ways at once. */
  boolean both() {
    return false;
  }

  /** The shape that was asked for, or null. */
  Shape wantedShape() {
    return options.shape();
  }

  /** The rails that were asked for, or null. */
  Integer wantedRails() {
    return options.rails();
  }

  /** What was given in place of --shape and --rails, for a message that names these; or nothing. */
  String standsFor() {
    return "";
  }

  final ClusterOptions options() {
    return options;
  }

  void checkOptions() {
    if (together() && fabric != Fabric.SHM && fabric != Fabric.MEMIF) {
      throw wrongUsage("--together needs --fabric shm or memif");
    }
    range("--size", sizeBytes(), PayloadPattern.MIN_BYTES, largestBytes());
    range("--seconds", seconds, 0.1, 86_400);
    if (warmUp != null) {
      range("--warm-up", warmUp, 0, 600);
    }
  }

  private int largestBytes() {
    return kind() == BenchKind.LATENCY ? MAX_SIZE_BYTES : WorkloadSpec.LARGEST_BYTES;
  }

  private int sizeBytes() {
    return size == null ? defaultSizeBytes() : size;
  }

  @Override
  protected final Report run() throws Exception {
    checkOptions();
    Optional<ClusterState> up = up();
    if (up.isPresent() && usable(up.get())) {
      return overRunning(BenchCluster.of(up.get(), progress()::update));
    }
    sayBeside();
    Shape shape = wantedShape() == null ? smallestShape() : wantedShape();
    int rails = wantedRails() == null ? RAILS : wantedRails();
    return switch (fabric == null ? Fabric.RING : fabric) {
      case RING -> overRing(shape, rails);
      case SHM -> overOwnCluster(ClusterSpec.Fabric.SHM, shape, rails);
      case MEMIF -> overOwnCluster(ClusterSpec.Fabric.MEMIF, shape, rails);
      case VETH -> overOwnCluster(ClusterSpec.Fabric.VETH, shape, rails);
    };
  }

  /**
   * Whether what is up is meant; a contradiction to an option is an error, not a reason for
   * another.
   */
  private boolean usable(ClusterState state) {
    if (fabric != null && !fabric.name().equalsIgnoreCase(state.fabric())) {
      return false;
    }
    requireSame("--shape", wantedShape(), state.shape(), state);
    requireSame("--rails", wantedRails(), String.valueOf(state.rails()), state);
    requireSame("--rate", options.rate(), state.rate(), state);
    if (options.startGiven() || together()) {
      throw new UserErrorException(
          "--idle, --pin, --driver, --key-file, --tag, --faults and --together belong to a cluster's"
              + " start, and \""
              + state.cluster()
              + "\" is up; give them to hxb up, or name another cluster");
    }
    return true;
  }

  private void requireSame(String option, Object wanted, String there, ClusterState state) {
    if (wanted != null && !wanted.toString().equals(there)) {
      throw new UserErrorException(
          "cluster \""
              + state.cluster()
              + "\" is up with "
              + option
              + " "
              + (there.isEmpty() ? "none" : there)
              + ", not "
              + wanted
              + standsFor()
              + "; leave the option out, name another cluster, or take it down with: "
              + paths(state.cluster()).command("down"));
    }
  }

  /** One that is up may lack something, before it is measured and behind. */
  private BenchResult overRunning(BenchCluster cluster) throws IOException, InterruptedException {
    ClusterView before = cluster.look();
    Map<Integer, String> absent = before.absent();
    TrafficPlan plan =
        plan(cluster.shape(), cluster.rails(), withoutAbsent() ? absent.keySet() : Set.of());
    requirePresent(cluster, plan, absent);
    Set<String> notWell = new LinkedHashSet<>(before.complaints());
    notWell.forEach(line -> progress().say("NOT well: " + line));
    Benchmark.Outcome outcome = measure(cluster, plan);
    notWell.addAll(cluster.look().complaints());
    return result(plan, outcome, cluster, notWell);
  }

  private BenchResult result(
      TrafficPlan plan, Benchmark.Outcome outcome, BenchCluster of, Set<String> notWell) {
    return result(plan, outcome, of.fabric(), of.shape(), of.rails(), of.rate(), notWell);
  }

  private BenchResult overOwnCluster(ClusterSpec.Fabric kindOfFabric, Shape shape, int rails)
      throws IOException, InterruptedException {
    ClusterSpec spec =
        options.spec(this, kindOfFabric, shape, ClusterOptions.requireRails(this, rails));
    TrafficPlan plan = plan(shape, rails, Set.of());
    if (together()) {
      spec = spec.withPoll(spec.poll().sharing(plan.endsAndRelays(shape)));
    }
    // A name of its own: two benchmarks, and a cluster that is up, do not meet.
    ClusterPaths own = ownPaths(BenchCluster.ownName());
    try (TakeDown guard = new TakeDown(own);
        BenchCluster cluster =
            BenchCluster.up(own, spec, UpCommand.nodeCommand(), UP_LIMIT, progress()::update)) {
      return result(plan, measure(cluster, plan), cluster, Set.of());
    }
  }

  private BenchResult overRing(Shape shape, int rails) throws IOException, InterruptedException {
    if (options.rate() != null) {
      throw wrongUsage(
          "--rate " + options.rate() + ": the ring fabric has no links to shape; use veth");
    }
    options.refuseDriver(this, "ring");
    if (options.tagGiven()) {
      throw wrongUsage(
          "--key-file, --tag: frames of the ring fabric carry no tag; use --fabric shm, memif or"
              + " veth");
    }
    if (options.pollGiven()) {
      throw wrongUsage("--idle, --pin: the ring fabric has one thread for all nodes; it spins");
    }
    TrafficPlan plan = plan(shape, ClusterOptions.requireRails(this, rails), Set.of());
    try {
      RingCluster.requireFits(shape, rails);
    } catch (IllegalArgumentException e) {
      throw wrongUsage("--shape: " + e.getMessage());
    }
    progress().update("building " + shape.nodes() + " nodes");
    try (RingBench ring = RingBench.up(shape, rails, options.portFaults(), progress()::update)) {
      return result(plan, measure(ring, plan), "ring", shape, rails, null, Set.of());
    }
  }

  private Benchmark.Outcome measure(MeasuredCluster cluster, TrafficPlan plan)
      throws IOException, InterruptedException {
    long measureMs = Math.round(seconds * 1e3);
    return WarmUp.thenMeasure(cluster, plan, sizeBytes(), warmUp, measureMs, progress()::update);
  }

  /**
   * @param leftOut nodes that take no part, of benchmarks that can do without
   */
  private TrafficPlan plan(Shape shape, int rails, Set<Integer> leftOut) {
    try {
      return traffic(shape, rails, leftOut);
    } catch (IllegalArgumentException e) {
      throw wrongUsage(e.getMessage());
    }
  }

  /**
   * Before anything is measured: refuses when a node that takes part does not answer, and names the
   * others that do not.
   *
   * @param absent with the reason
   */
  private void requirePresent(BenchCluster cluster, TrafficPlan plan, Map<Integer, String> absent) {
    List<String> needed = new ArrayList<>();
    absent.forEach(
        (node, reason) -> {
          Coordinates place = cluster.shape().coordinates(node);
          String line =
              "node "
                  + node
                  + " at "
                  + Options.place(place.toList())
                  + " does not answer: "
                  + reason;
          if (plan.destinations().containsKey(node)) {
            needed.add(line);
          } else {
            progress().say(line + "; it takes no part");
          }
        });
    if (!needed.isEmpty()) {
      throw new UserErrorException(
          String.join("; ", needed)
              + ". Bring the cluster up again: "
              + paths().command("down")
              + ", then "
              + again(cluster)
              + (kind() == BenchKind.EXCHANGE ? "; or measure the others: --survivors" : ""));
    }
    if (plan.destinations().values().stream().allMatch(Set::isEmpty)) {
      throw new UserErrorException(
          "no two neighbours are left; bring the cluster up again: "
              + paths().command("down")
              + ", then "
              + again(cluster));
    }
  }

  /** The command that brings up one like it. */
  private String again(BenchCluster cluster) {
    return paths().command("up")
        + " --shape "
        + cluster.shape()
        + " --rails "
        + cluster.rails()
        + (cluster.rate() == null ? "" : " --rate " + cluster.rate());
  }

  private BenchResult result(
      TrafficPlan plan,
      Benchmark.Outcome outcome,
      String fabricName,
      Shape shape,
      int rails,
      LinkRate rate,
      Set<String> notWell) {
    boolean latency = kind() == BenchKind.LATENCY;
    Efficiency efficiency =
        rate == null || latency
            ? null
            : Efficiency.of(outcome.bytesPerSecond(), plan.links(), rate);
    List<String> failures = new ArrayList<>(outcome.failures());
    if (efficiency != null) {
      efficiency.objection().ifPresent(failures::add);
    }
    boolean ok = outcome.faulty() == 0 && outcome.messages() > 0 && failures.isEmpty();
    return new BenchResult(
        ok,
        kind().toString(),
        fabricName,
        shape.toString(),
        rails,
        plan.linksPerNode(),
        relays(),
        both(),
        rate == null ? null : rate.toString(),
        sizeBytes(),
        outcome.seconds(),
        outcome.bytesPerSecond(),
        efficiency == null ? null : efficiency.theoreticalBytesPerSecond(),
        efficiency == null ? null : efficiency.share(),
        outcome.messagesPerSecond(),
        outcome.messages(),
        outcome.lost(),
        outcome.duplicated(),
        outcome.misordered(),
        outcome.corrupt(),
        outcome.resent(),
        latency ? outcome.latency() : null,
        latency ? null : outcome.latency(),
        outcome.cpu(),
        outcome.pairs(),
        List.copyOf(notWell),
        failures);
  }
}
