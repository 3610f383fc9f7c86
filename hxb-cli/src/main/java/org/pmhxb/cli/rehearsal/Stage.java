package org.pmhxb.cli.rehearsal;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.pmhxb.cli.bench.Benchmark;
import org.pmhxb.cli.bench.RemoteNode;
import org.pmhxb.cli.bench.TrafficPlan;
import org.pmhxb.cli.control.ControlServer;
import org.pmhxb.cli.node.NodeService;
import org.pmhxb.cli.node.PolledNode;
import org.pmhxb.router.HxbConfig;

/**
 * The nodes of a small cluster, all in this process, as {@code hxb node} runs them: poll threads,
 * control sockets, workloads. Owner: one thread.
 */
final class Stage implements AutoCloseable {
  private static final Duration UP_LIMIT = Duration.ofSeconds(20);
  private static final Duration LEAD = Duration.ofMillis(20);

  private final List<PolledNode> nodes = new ArrayList<>();
  private final List<ControlServer> controls = new ArrayList<>();
  private final Map<Integer, Path> sockets = new TreeMap<>();
  private final Consumer<String> progress;

  /**
   * Starts them in their order, each with a poll thread; returns when all are ready.
   *
   * @throws IllegalStateException they do not get ready
   */
  Stage(List<HxbConfig> configs, Consumer<String> progress)
      throws IOException, InterruptedException {
    this.progress = progress;
    try {
      for (HxbConfig config : configs) {
        PolledNode node = PolledNode.launch(List.of(config)).getFirst();
        nodes.add(node);
        serve(config, node);
      }
      awaitReady();
    } catch (IOException | InterruptedException | RuntimeException e) {
      try {
        close();
      } catch (IOException second) {
        e.addSuppressed(second);
      }
      throw e;
    }
  }

  private void serve(HxbConfig config, PolledNode node) throws IOException {
    Path socket = Path.of(config.controlSocket());
    controls.add(ControlServer.start(socket, new NodeService(node)::conversation));
    sockets.put(node.self(), socket);
  }

  private void awaitReady() throws InterruptedException {
    long deadlineNs = System.nanoTime() + UP_LIMIT.toNanos();
    while (!nodes.stream().allMatch(PolledNode::ready)) {
      for (PolledNode node : nodes) {
        if (node.failure() != null) {
          throw new IllegalStateException("node " + node.self() + " broke", node.failure());
        }
      }
      if (System.nanoTime() - deadlineNs >= 0) {
        throw new IllegalStateException("not ready after " + UP_LIMIT.toSeconds() + " s");
      }
      Thread.sleep(2);
    }
  }

  /** Runs traffic for so long; it ends when all has arrived. */
  Benchmark.Outcome run(TrafficPlan plan, int sizeBytes, long ms)
      throws IOException, InterruptedException {
    Map<Integer, RemoteNode> asked = new TreeMap<>();
    try {
      for (Map.Entry<Integer, Path> each : sockets.entrySet()) {
        asked.put(each.getKey(), RemoteNode.connect(each.getKey(), each.getValue()));
      }
      return new Benchmark(plan, sizeBytes, 0, ms, progress).startingIn(LEAD).run(asked, null);
    } finally {
      for (RemoteNode each : asked.values()) {
        each.close();
      }
    }
  }

  /** Counters of all nodes together. */
  Map<String, Long> counters() {
    Map<String, Long> sums = new TreeMap<>();
    nodes.forEach(n -> n.status().counters().forEach((k, v) -> sums.merge(k, v, Long::sum)));
    return sums;
  }

  /** All of it, whatever some of it throws: the first failure, with the others suppressed. */
  @Override
  public void close() throws IOException {
    List<Throwable> failures = new ArrayList<>();
    close(controls, failures);
    close(nodes, failures);
    if (!failures.isEmpty()) {
      Throwable first = failures.getFirst();
      failures.stream().filter(other -> other != first).forEach(first::addSuppressed);
      throw first instanceof IOException given ? given : new IOException(first);
    }
  }

  /** All at once: a node that ends waits for the answers of the others. */
  private static void close(List<? extends AutoCloseable> all, List<Throwable> failures) {
    List<Future<?>> ends = new ArrayList<>();
    try (ExecutorService enders = Executors.newCachedThreadPool()) {
      for (AutoCloseable each : all) {
        ends.add(
            enders.submit(
                () -> {
                  each.close();
                  return null;
                }));
      }
    }
    for (Future<?> end : ends) {
      if (end.state() == Future.State.FAILED) {
        failures.add(end.exceptionNow());
      }
    }
  }
}
