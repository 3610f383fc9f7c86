package org.pmhxb.cli.bench;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.pmhxb.cli.node.PolledNode;
import org.pmhxb.pm.PollIdle;
import org.pmhxb.pm.port.PortFaults;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;

/**
 * A cluster whose nodes are joined by rings within this process and driven by one thread. Owner:
 * one thread.
 */
public final class RingBench implements MeasuredCluster {
  private static final Duration UP_LIMIT = Duration.ofSeconds(60);

  /** Until the first message: the nodes hear of a run as soon as two threads have started. */
  private static final Duration LEAD = Duration.ofMillis(10);

  private final List<PolledNode> nodes;
  private final int rails;
  private final Consumer<String> progress;

  private RingBench(List<PolledNode> nodes, int rails, Consumer<String> progress) {
    this.nodes = nodes;
    this.rails = rails;
    this.progress = progress;
  }

  /** One of its own; returns when it is ready. */
  public static RingBench up(Shape shape, int rails, PortFaults faults, Consumer<String> progress)
      throws InterruptedException {
    RingCluster.Options wanted = RingCluster.Options.of(shape, rails).withFaults(faults);
    // One poller: it may spin without taking the core from another.
    List<PolledNode> nodes = PolledNode.launch(RingCluster.create(wanted), PollIdle.SPIN);
    RingBench ring = new RingBench(nodes, rails, progress);
    try {
      ring.awaitReady();
    } catch (InterruptedException | RuntimeException e) {
      ring.close();
      throw e;
    }
    return ring;
  }

  private void awaitReady() throws InterruptedException {
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

  @Override
  public int rails() {
    return rails;
  }

  @Override
  public List<Long> processes() {
    return List.of(ProcessHandle.current().pid());
  }

  @Override
  public Benchmark.Outcome measure(TrafficPlan plan, int sizeBytes, long warmUpMs, long measureMs)
      throws IOException, InterruptedException {
    return run(new Benchmark(plan, sizeBytes, warmUpMs, measureMs, progress));
  }

  @Override
  public Benchmark.Outcome warmUp(TrafficPlan plan, int sizeBytes, long ms)
      throws IOException, InterruptedException {
    return run(new Benchmark(plan, sizeBytes, 0, ms, line -> {}));
  }

  private Benchmark.Outcome run(Benchmark benchmark) throws IOException, InterruptedException {
    Map<Integer, LocalNode> byNumber = new TreeMap<>();
    nodes.forEach(node -> byNumber.put(node.self(), new LocalNode(node)));
    try {
      return benchmark.startingIn(LEAD).run(byNumber, null);
    } finally {
      byNumber.values().forEach(LocalNode::close);
    }
  }

  @Override
  public void close() {
    nodes.getFirst().close();
  }
}
