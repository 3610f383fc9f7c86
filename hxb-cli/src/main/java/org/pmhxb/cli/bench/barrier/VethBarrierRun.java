package org.pmhxb.cli.bench.barrier;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.pmhxb.cli.bench.RemoteNode;
import org.pmhxb.cli.bench.RemoteNodes;
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
  /** Barriers of the first run; later runs have as many as take about {@link #RUN_NS}. */
  private static final int FIRST_RUN = 32;

  private static final int LONGEST_RUN = 1 << 18;
  private static final long RUN_NS = 250_000_000L;
  private static final long LIMIT_MS = 60_000;
  private static final long CONNECT_LIMIT_NS = 20_000_000_000L;

  private final RemoteNodes nodes;
  private final Participants group;
  private int number;

  /**
   * @param sockets of the nodes, by number
   */
  public VethBarrierRun(Map<Integer, Path> sockets, Participants group) throws IOException {
    this.group = group;
    this.nodes = new RemoteNodes(sockets);
  }

  /**
   * Barriers that nobody measures, so that the compilers have seen the way of a frame on all nodes
   * before anything is.
   *
   * @param nsPerNode of these barriers, since the nodes' compilers share the processors
   */
  public void warmUp(long nsPerNode) throws IOException, InterruptedException {
    open(BarrierSpec.of(BarrierAlgorithm.DISSEMINATION));
    repeat(group.size() * nsPerNode, times -> {});
  }

  /**
   * LogP between node 0 and others, which all wait meanwhile as they do in a barrier; after {@link
   * #warmUp}, since only a node with a barrier answers.
   */
  public FabricLogp logp(int repetitions) throws IOException, InterruptedException {
    return nodes.get(0).probe(repetitions, LIMIT_MS);
  }

  private void open(BarrierSpec spec) throws IOException, InterruptedException {
    int mine = ++number;
    nodes.all(node -> node.openBarrier(mine, spec.toString()));
    long startNs = System.nanoTime();
    while (!nodes.all(RemoteNode::barrierConnected).stream().allMatch(Boolean::booleanValue)) {
      if (System.nanoTime() - startNs > CONNECT_LIMIT_NS) {
        throw new IOException("barrier " + spec + ": not all sessions are up after 20 s");
      }
      Thread.sleep(5);
    }
  }

  /** Barriers in runs, at least one, until the time is over; the nodes know counts alone. */
  private void repeat(long forNs, Consumer<List<BarrierTimes>> each)
      throws IOException, InterruptedException {
    long startNs = System.nanoTime();
    long nowNs = startNs;
    int count = FIRST_RUN;
    do {
      int run = count;
      each.accept(nodes.all(node -> node.runBarrier(run, LIMIT_MS)));
      long endNs = System.nanoTime();
      count = endNs - nowNs < RUN_NS / 2 ? Math.min(2 * count, LONGEST_RUN) : count;
      nowNs = endNs;
    } while (nowNs - startNs < forNs);
  }

  /** Opens a barrier on all nodes, repeats it for two times, and measures in the second. */
  public BarrierLine measure(BarrierSpec spec, BarrierModel model, long warmUpNs, long measureNs)
      throws IOException, InterruptedException {
    open(spec);
    repeat(warmUpNs, times -> {});
    LatencyHistogram latency = new LatencyHistogram();
    LongAdder barriers = new LongAdder();
    LongAdder frames = new LongAdder();
    LongAdder beyond = new LongAdder();
    repeat(
        measureNs,
        times -> {
          latency.add(times.getFirst().latency());
          barriers.add(times.getFirst().barriers());
          for (BarrierTimes of : times) {
            frames.add(of.frames());
            beyond.add(of.beyond());
          }
        });
    return new BarrierLine(
            spec.toString(),
            group.size(),
            spec.rails(),
            latency.summary(),
            (double) frames.sum() / barriers.sum(),
            Planner.frames(group, spec),
            barriers.sum(),
            beyond.sum(),
            0,
            0)
        .predicted(model.predictNs(group, spec));
  }

  @Override
  public void close() throws IOException {
    nodes.close();
  }
}
