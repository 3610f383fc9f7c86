package org.pmhxb.cli.bench.barrier;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.pmhxb.cli.bench.RemoteNode;
import org.pmhxb.cli.node.BarrierTimes;
import org.pmhxb.cli.workload.LatencyHistogram;
import org.pmhxb.collectives.barrier.plan.BarrierAlgorithm;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.collectives.barrier.plan.Planner;
import org.pmhxb.collectives.logp.BarrierModel;
import org.pmhxb.collectives.probe.FabricLogp;

/**
 * Barriers of a cluster of processes: every node's poll thread arrives and leaves as often as the
 * others. A barrier's time is node 0's, from arriving to having left.
 */
public final class VethBarrierRun implements AutoCloseable {
  private static final int WARM_UP_BARRIERS = 1_000;
  private static final long LIMIT_MS = 60_000;
  private static final long CONNECT_LIMIT_NS = 20_000_000_000L;

  private final Map<Integer, RemoteNode> nodes = new TreeMap<>();
  private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
  private final Participants group;
  private int number;

  /**
   * @param sockets of the nodes, by number
   */
  public VethBarrierRun(Map<Integer, Path> sockets, Participants group) throws IOException {
    this.group = group;
    for (Map.Entry<Integer, Path> node : sockets.entrySet()) {
      nodes.put(node.getKey(), RemoteNode.connect(node.getKey(), node.getValue()));
    }
  }

  /** One node's part. */
  private interface Call<T> {
    T on(RemoteNode node) throws IOException;
  }

  private <T> List<T> all(Call<T> call) throws IOException, InterruptedException {
    List<Future<T>> answers = new ArrayList<>();
    nodes.values().forEach(node -> answers.add(callers.submit(() -> call.on(node))));
    List<T> values = new ArrayList<>();
    for (Future<T> answer : answers) {
      try {
        values.add(answer.get());
      } catch (ExecutionException e) {
        throw new IOException(e.getCause().getMessage(), e.getCause());
      }
    }
    return values;
  }

  /**
   * LogP between node 0 and others, which all poll meanwhile, as they do in a barrier. Barriers
   * that nobody measures go before, so that the compilers have seen the way of a frame on all
   * nodes.
   */
  public FabricLogp logp(int repetitions) throws IOException, InterruptedException {
    open(BarrierSpec.of(BarrierAlgorithm.DISSEMINATION)); // so that somebody answers on each node
    all(node -> node.runBarrier(0, WARM_UP_BARRIERS, LIMIT_MS));
    return nodes.get(0).probe(repetitions, LIMIT_MS);
  }

  private void open(BarrierSpec spec) throws IOException, InterruptedException {
    int mine = ++number;
    all(node -> node.openBarrier(mine, spec.toString()));
    long startNs = System.nanoTime();
    while (!all(RemoteNode::barrierConnected).stream().allMatch(Boolean::booleanValue)) {
      if (System.nanoTime() - startNs > CONNECT_LIMIT_NS) {
        throw new IOException("barrier " + spec + ": not all sessions are up after 20 s");
      }
      Thread.sleep(5);
    }
  }

  /** Opens a barrier on all nodes, and measures it. */
  public BarrierLine measure(BarrierSpec spec, BarrierModel model, int warmUp, int count)
      throws IOException, InterruptedException {
    open(spec);
    List<BarrierTimes> times = all(node -> node.runBarrier(warmUp, count, LIMIT_MS));
    LatencyHistogram latency = new LatencyHistogram();
    latency.add(times.getFirst().latency());
    long arrivals = times.stream().mapToLong(BarrierTimes::arrivals).sum();
    long beyond = times.stream().mapToLong(t -> t.asks() + t.answers()).sum();
    return new BarrierLine(
            spec.toString(),
            group.size(),
            spec.rails(),
            latency.summary(),
            (double) (arrivals + beyond) / count,
            Planner.frames(group, spec),
            count,
            beyond,
            0,
            0)
        .predicted(model.predictNs(group, spec));
  }

  @Override
  public void close() throws IOException {
    callers.shutdownNow();
    for (RemoteNode node : nodes.values()) {
      node.close();
    }
  }
}
