package org.pmhxb.cli.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.pmhxb.cli.cluster.ClusterLauncher;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.cluster.ClusterRemover;
import org.pmhxb.cli.cluster.ClusterSpec;
import org.pmhxb.cli.cluster.ClusterState;
import org.pmhxb.cli.cluster.ClusterView;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.cli.veth.VethFabric;
import org.pmhxb.router.Shape;

/**
 * A cluster of processes that is measured: one that is up already, or one of its own that closing
 * takes down. Owner: one thread, which a {@link org.pmhxb.cli.cluster.TakeDown} guards.
 */
public final class BenchCluster implements MeasuredCluster {
  /** The lead of a suite's runs: their own warm-ups begin late where an order comes late. */
  private static final Duration BRISK_LEAD = Duration.ofMillis(150);

  private final ClusterState state;
  private final ClusterPaths own;
  private final Consumer<String> progress;

  /** By device: another rate than that of the other links. */
  private final Map<String, LinkRate> exceptions = new TreeMap<>();

  private boolean brisk;

  private BenchCluster(ClusterState state, ClusterPaths own, Consumer<String> progress) {
    this.state = state;
    this.own = own;
    this.progress = progress;
  }

  /** One that is up; it stays. */
  public static BenchCluster of(ClusterState state, Consumer<String> progress) {
    return new BenchCluster(state, null, progress);
  }

  /**
   * One of our own; whatever fails, nothing of it is left. Its nodes end with the calling thread:
   * the one that will measure it.
   */
  public static BenchCluster up(
      ClusterPaths paths,
      ClusterSpec spec,
      List<String> nodeCommand,
      Duration limit,
      Consumer<String> progress)
      throws IOException {
    ClusterState state =
        new ClusterLauncher(paths, nodeCommand, progress).endingWithItsStarter().up(spec, limit);
    return new BenchCluster(state, paths, progress);
  }

  /**
   * The same, measured by hundreds of short runs: they begin 150 ms after their order instead of
   * 300, and what only warms up is not checked for whether its links shape.
   */
  public BenchCluster brisk() {
    brisk = true;
    return this;
  }

  /** A cluster's name that no other command of this machine uses at the same time. */
  public static String ownName() {
    return "b" + Long.toString(ProcessHandle.current().pid(), 36);
  }

  public Shape shape() {
    return Shape.parse(state.shape());
  }

  @Override
  public int rails() {
    return state.rails();
  }

  @Override
  public List<Long> processes() {
    return state.nodes().stream().map(ClusterState.Node::pid).distinct().toList();
  }

  /** Raw rate of each link; null when they are not shaped. */
  public LinkRate rate() {
    return state.rate().isEmpty() ? null : LinkRate.parse(state.rate());
  }

  /** Gives a rail of all nodes another rate than the others have: both ends of each link. */
  public void reshape(String device, LinkRate rate) {
    for (String namespace : namespaces().values()) {
      VethFabric.reshape(namespace, device, rate);
    }
    exceptions.put(device, rate);
  }

  public String fabric() {
    return state.fabric();
  }

  /** Network namespaces by node number; "" for a node in the host's. */
  public Map<Integer, String> namespaces() {
    Map<Integer, String> names = new TreeMap<>();
    state.nodes().forEach(node -> names.put(node.node(), node.namespace()));
    return names;
  }

  /** Control sockets by node number. */
  public Map<Integer, Path> sockets() {
    Map<Integer, Path> sockets = new TreeMap<>();
    state.nodes().forEach(node -> sockets.put(node.node(), Path.of(node.socket())));
    return sockets;
  }

  /** What its nodes say now; all are asked at once. */
  public ClusterView look() throws InterruptedException {
    return ClusterView.of(state);
  }

  @Override
  public Benchmark.Outcome measure(TrafficPlan plan, int sizeBytes, long warmUpMs, long measureMs)
      throws IOException, InterruptedException {
    Benchmark benchmark = new Benchmark(plan, sizeBytes, warmUpMs, measureMs, progress);
    return run(plan, benchmark, shaping(), sizeBytes);
  }

  /**
   * {@link #measure} of a time in which something happens.
   *
   * @param incidents in order
   * @param queuesKept share of the payload that passes queues which no incident replaces, at least:
   *     a new queue counts from 0, so of the others alone it is known what went through them
   */
  public Benchmark.Outcome measure(
      TrafficPlan plan,
      int sizeBytes,
      long warmUpMs,
      long measureMs,
      List<Benchmark.Incident> incidents,
      double queuesKept)
      throws IOException, InterruptedException {
    Benchmark calm = new Benchmark(plan, sizeBytes, warmUpMs, measureMs, progress);
    return run(plan, calm.with(incidents), shaping(), queuesKept * sizeBytes);
  }

  @Override
  public Benchmark.Outcome warmUp(TrafficPlan plan, int sizeBytes, long ms)
      throws IOException, InterruptedException {
    Benchmark benchmark = new Benchmark(plan, sizeBytes, 0, ms, line -> {});
    return run(plan, benchmark, brisk ? null : shaping(), sizeBytes);
  }

  /** Looks at the links' queues now; null when they are not shaped. */
  private ShapingCheck shaping() {
    return rate() == null ? null : new ShapingCheck(namespaces().values(), rate(), exceptions);
  }

  private Benchmark.Outcome run(
      TrafficPlan plan, Benchmark benchmark, ShapingCheck shaping, double queuedBytesEach)
      throws IOException, InterruptedException {
    Map<Integer, RemoteNode> nodes = new TreeMap<>();
    try {
      for (ClusterState.Node node : state.nodes()) {
        try {
          nodes.put(node.node(), RemoteNode.connect(node.node(), Path.of(node.socket())));
        } catch (IOException e) {
          if (plan.destinations().containsKey(node.node())) {
            throw e;
          }
        }
      }
      // What passes through shared memory passes between processors, and nowhere else.
      CoreDistance distance = fabric().equals("veth") ? null : CoreDistance.here();
      Benchmark led = brisk ? benchmark.startingIn(BRISK_LEAD) : benchmark;
      Benchmark.Outcome outcome = led.run(nodes, new CpuMeter(this::processes, distance));
      if (shaping != null) {
        outcome
            .failures()
            .addAll(shaping.objections((long) (outcome.messages() * queuedBytesEach)));
      }
      return outcome;
    } finally {
      for (RemoteNode node : nodes.values()) {
        node.close();
      }
    }
  }

  /** Ends the nodes of a cluster of our own; its namespaces and links stay for others. */
  public void endNodes() throws IOException {
    ClusterRemover.endNodes(own);
  }

  /** Takes a cluster of our own down, also when the thread was interrupted. */
  @Override
  public void close() throws IOException {
    if (own == null) {
      return;
    }
    boolean interrupted = Thread.interrupted();
    try {
      ClusterRemover.remove(own);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
