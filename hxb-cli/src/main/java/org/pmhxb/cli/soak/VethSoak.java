package org.pmhxb.cli.soak;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.pmhxb.cli.bench.Benchmark;
import org.pmhxb.cli.bench.RemoteNode;
import org.pmhxb.cli.bench.TrafficPlan;
import org.pmhxb.cli.cluster.ClusterLauncher;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.cluster.ClusterRemover;
import org.pmhxb.cli.cluster.ClusterSpec;
import org.pmhxb.cli.cluster.ClusterState;
import org.pmhxb.cli.process.Signals;
import org.pmhxb.router.Shape;

/**
 * A cluster of processes on faulty ports that stays up through a soak, while its nodes are stopped
 * in mid-traffic, and killed and started again between two runs. Owner: the main thread.
 */
final class VethSoak implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int SIZE_BYTES = 2_048;
  private static final long WARM_UP_MS = 1_000;
  private static final long MEASURE_MS = 6_000;
  private static final long STOP_MS = 3_000;

  private final Soak soak;
  private final ClusterSpec spec;
  private final ClusterPaths paths;
  private final ClusterLauncher launcher;
  private final Consumer<String> progress;
  private final Map<Long, Vitals> first = new HashMap<>();
  private ClusterState state;
  private int round;

  VethSoak(
      Soak soak,
      ClusterSpec spec,
      ClusterPaths paths,
      ClusterLauncher launcher,
      Consumer<String> progress)
      throws IOException {
    this.soak = soak;
    this.spec = spec;
    this.paths = paths;
    this.launcher = launcher;
    this.progress = progress;
    this.state = launcher.up(spec, LIMIT);
  }

  /** Traffic with one node stopped in its midst; then one killed and restarted, each third time. */
  void round() throws IOException, InterruptedException {
    int node = soak.random.nextInt(state.nodes().size());
    long pid = state.nodes().get(node).pid();
    FutureTask<Boolean> stop = new FutureTask<>(() -> stop(pid));
    Thread stopper = Thread.ofPlatform().name("soak-stopper").start(stop);
    try {
      exchange();
    } finally {
      stopper.interrupt();
      stopper.join();
    }
    List<String> ended = launcher.ended(state);
    if (!ended.isEmpty()) {
      ended.forEach(line -> soak.failures.add("veth round " + round + ": " + line));
      soak.nodeEnded = true;
      return;
    }
    if (hasStopped(stop)) {
      soak.stops++;
    }
    takeVitals();
    if (++round % 3 == 0) {
      kill(soak.random.nextInt(state.nodes().size()));
    }
  }

  private void exchange() throws IOException, InterruptedException {
    Map<Integer, RemoteNode> nodes = new TreeMap<>();
    try {
      for (ClusterState.Node node : state.nodes()) {
        nodes.put(node.node(), RemoteNode.connect(node.node(), Path.of(node.socket())));
      }
      TrafficPlan plan = TrafficPlan.exchange(Shape.parse(state.shape()), state.rails(), Set.of());
      Benchmark.Outcome outcome =
          new Benchmark(plan, SIZE_BYTES, WARM_UP_MS, MEASURE_MS, progress).run(nodes, null);
      soak.count(
          "veth round " + round,
          outcome.messages(),
          outcome.lost(),
          outcome.duplicated(),
          outcome.misordered(),
          outcome.corrupt(),
          outcome.resent());
      outcome.failures().forEach(line -> soak.failures.add("veth round " + round + ": " + line));
    } finally {
      for (RemoteNode node : nodes.values()) {
        node.close();
      }
    }
  }

  /** False when it was cut short, as the traffic ended before. */
  private static boolean stop(long pid) throws IOException {
    try {
      Thread.sleep(WARM_UP_MS + MEASURE_MS / 4);
      Signals.send("STOP", pid);
      Thread.sleep(STOP_MS);
      return true;
    } catch (InterruptedException e) {
      return false;
    } finally {
      Signals.send("CONT", pid);
    }
  }

  private static boolean hasStopped(FutureTask<Boolean> stop)
      throws IOException, InterruptedException {
    try {
      return stop.get();
    } catch (ExecutionException e) {
      throw new IOException("a node could not be stopped: " + e.getCause().getMessage(), e);
    }
  }

  private void kill(int node) throws IOException, InterruptedException {
    ProcessHandle handle = ProcessHandle.of(state.nodes().get(node).pid()).orElseThrow();
    handle.destroyForcibly();
    handle.onExit().orTimeout(10, TimeUnit.SECONDS).join();
    state = launcher.restart(state, node, LIMIT);
    soak.kills++;
  }

  /** From the second look on: the first finds the compiler at work. */
  private void takeVitals() throws IOException {
    for (ClusterState.Node node : state.nodes()) {
      Vitals now = Vitals.of(node.pid());
      Vitals then = round < 2 ? null : first.putIfAbsent(node.pid(), now);
      if (then != null) {
        soak.grown("node " + node.node(), now.since(then));
      }
    }
  }

  @Override
  public void close() throws IOException {
    ClusterRemover.Removed removed = ClusterRemover.remove(paths);
    removed.leftovers().forEach(line -> soak.failures.add("left over: " + line));
    if (removed.processes() != spec.shape().nodes()) {
      soak.failures.add(removed.processes() + " node processes at the end");
    }
  }
}
