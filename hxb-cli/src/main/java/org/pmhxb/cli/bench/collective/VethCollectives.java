package org.pmhxb.cli.bench.collective;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.pmhxb.cli.bench.RemoteNodes;
import org.pmhxb.cli.bench.Spread;
import org.pmhxb.cli.node.CollectiveOrder;
import org.pmhxb.cli.node.CollectiveTimes;
import org.pmhxb.cli.workload.LatencyHistogram;
import org.pmhxb.collectives.Algorithm;
import org.pmhxb.collectives.Problem;

/**
 * Collectives of a cluster of processes. A barrier goes before each operation, and its time is that
 * of the rank whose median is longest, from its call to its end.
 */
public final class VethCollectives implements CollectiveMachine {
  private static final int FIRST_RUN = 8;
  private static final long WARM_UP_NS = 500_000_000L;
  private static final long LIMIT_MS = 60_000;

  private final RemoteNodes nodes;
  private int runs;

  /**
   * @param sockets of the nodes, by number
   */
  public VethCollectives(Map<Integer, Path> sockets) throws IOException, InterruptedException {
    nodes = new RemoteNodes(sockets);
    try {
      nodes.all(node -> node.joinCollectives());
    } catch (IOException | InterruptedException | RuntimeException e) {
      nodes.close();
      throw e;
    }
  }

  @Override
  public Taken measure(Algorithm algorithm, Problem problem, int rounds)
      throws IOException, InterruptedException {
    int count = warmUp(algorithm, problem);
    List<Double> us = new ArrayList<>();
    long operations = 0;
    long copies = 0;
    long loans = 0;
    for (int round = 0; round < rounds; round++) {
      List<CollectiveTimes> times = run(algorithm, problem, count);
      us.add(slowestMedianNs(times) / 1e3);
      operations += count;
      copies += times.stream().mapToLong(CollectiveTimes::earlyCopies).sum();
      loans += times.stream().mapToLong(CollectiveTimes::earlyLoans).sum();
    }
    return new Taken(Spread.of(us), operations, copies, loans);
  }

  /** Returns how many operations make up a round. */
  private int warmUp(Algorithm algorithm, Problem problem)
      throws IOException, InterruptedException {
    int count = FIRST_RUN;
    long startNs = System.nanoTime();
    long nowNs = startNs;
    while (nowNs - startNs < WARM_UP_NS) {
      run(algorithm, problem, count);
      long endNs = System.nanoTime();
      count = endNs - nowNs < ROUND_NS / 2 ? 2 * count : count;
      nowNs = endNs;
    }
    return count;
  }

  private List<CollectiveTimes> run(Algorithm algorithm, Problem problem, int count)
      throws IOException, InterruptedException {
    CollectiveOrder order =
        new CollectiveOrder(
            problem.collective(), algorithm.name(), (int) problem.blockBytes(), count, ++runs);
    return nodes.all(node -> node.runCollective(order, LIMIT_MS));
  }

  private static double slowestMedianNs(List<CollectiveTimes> times) {
    double slowest = 0;
    for (CollectiveTimes of : times) {
      LatencyHistogram latency = new LatencyHistogram();
      latency.add(of.latency());
      slowest = Math.max(slowest, latency.summary().p50());
    }
    return slowest;
  }

  @Override
  public void close() throws IOException {
    nodes.close();
  }
}
