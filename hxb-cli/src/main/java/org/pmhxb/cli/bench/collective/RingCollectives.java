package org.pmhxb.cli.bench.collective;

import java.util.ArrayList;
import java.util.List;
import org.pmhxb.cli.bench.Spread;
import org.pmhxb.cli.workload.RankData;
import org.pmhxb.collectives.Algorithm;
import org.pmhxb.collectives.CollectiveCall;
import org.pmhxb.collectives.CollectiveLimits;
import org.pmhxb.collectives.Collectives;
import org.pmhxb.collectives.Communicator;
import org.pmhxb.collectives.CostModel;
import org.pmhxb.collectives.Group;
import org.pmhxb.collectives.Problem;
import org.pmhxb.collectives.Topology;
import org.pmhxb.collectives.algorithm.StandardAlgorithms;
import org.pmhxb.router.fabric.RingCluster;

/** All algorithms over a ring cluster whose nodes this thread polls. Owner: that thread. */
public final class RingCollectives implements CollectiveMachine {
  private static final int ENDPOINT = 5;
  private static final int WARM_UP_OPERATIONS = 300;
  private static final long WARM_UP_NS = 1_500_000_000L;

  /** One operation takes no longer, or there is a defect. */
  private static final long OPERATION_NS_MOST = 30_000_000_000L;

  private final RingCluster cluster;
  private final List<Collectives> collectives = new ArrayList<>();
  private final List<Communicator> ranks = new ArrayList<>();
  private final List<CollectiveCall> calls = new ArrayList<>();

  public RingCollectives(RingCluster cluster) {
    this.cluster = cluster;
    Topology topology = Topology.crossbar(cluster.options().shape());
    for (int n = 0; n < cluster.size(); n++) {
      Collectives all =
          new Collectives(
              cluster.node(n),
              ENDPOINT,
              StandardAlgorithms.registry(),
              CostModel.gigabit(), // every algorithm is named: it chooses nothing
              CollectiveLimits.defaults());
      collectives.add(all);
      ranks.add(all.join(Group.all(1, cluster.node(n)), topology));
    }
  }

  /** Of one operation: from the first rank's call to the last rank's end. */
  @Override
  public Taken measure(Algorithm algorithm, Problem problem, int rounds) {
    int bytes = (int) problem.blockBytes();
    List<RankData> data = new ArrayList<>();
    for (Communicator c : ranks) {
      c.use(algorithm.collective(), algorithm.name());
      data.add(new RankData(algorithm.collective(), bytes, ranks.size(), c.group().rank()));
    }
    warmUp(data);
    long copies = collectives.stream().mapToLong(Collectives::earlyCopies).sum();
    long loans = collectives.stream().mapToLong(Collectives::earlyLoans).sum();
    List<Double> us = new ArrayList<>();
    long operations = 0;
    for (int round = 0; round < rounds; round++) {
      int iteration = round;
      data.forEach(d -> d.fill(iteration));
      long startNs = System.nanoTime();
      long endNs = startNs;
      int done = 0;
      for (; endNs - startNs < ROUND_NS; done++) {
        operation(data);
        endNs = System.nanoTime();
      }
      data.forEach(d -> d.check(iteration));
      // Nor has the first of them done all of it: once more, with other data and nothing there yet.
      data.forEach(d -> d.fill(~iteration));
      operation(data);
      data.forEach(d -> d.check(~iteration));
      us.add((endNs - startNs) / 1e3 / done);
      operations += done;
    }
    ranks.forEach(c -> c.use(algorithm.collective(), null));
    return new Taken(
        Spread.of(us),
        operations,
        collectives.stream().mapToLong(Collectives::earlyCopies).sum() - copies,
        collectives.stream().mapToLong(Collectives::earlyLoans).sum() - loans);
  }

  /** Sessions open, windows grow, the code is compiled. */
  private void warmUp(List<RankData> data) {
    data.forEach(d -> d.fill(-1));
    long startNs = System.nanoTime();
    for (int i = 0; i < WARM_UP_OPERATIONS && System.nanoTime() - startNs < WARM_UP_NS; i++) {
      operation(data);
    }
    data.forEach(d -> d.check(-1));
  }

  /** All ranks call, and all go on until the last is done. */
  private void operation(List<RankData> data) {
    calls.clear();
    for (int r = 0; r < ranks.size(); r++) {
      calls.add(data.get(r).start(ranks.get(r)));
    }
    long startNs = System.nanoTime();
    for (int left = 0; left < calls.size(); ) {
      long nowNs = System.nanoTime();
      if (nowNs - startNs > OPERATION_NS_MOST) {
        throw new IllegalStateException(
            "an operation was not done after 30 s: " + calls.get(left).choice().explain());
      }
      cluster.doWork(nowNs);
      for (int n = 0; n < collectives.size(); n++) {
        collectives.get(n).poll();
      }
      while (left < calls.size() && calls.get(left).isDone()) {
        left++;
      }
    }
    for (int r = 0; r < calls.size(); r++) {
      calls.get(r).check();
    }
  }

  @Override
  public void close() {
    collectives.forEach(Collectives::close);
  }
}
