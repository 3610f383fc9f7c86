package org.pmhxb.cli.bench.collective;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.pmhxb.cli.bench.Spread;
import org.pmhxb.collectives.Algorithm;
import org.pmhxb.collectives.AlgorithmRegistry;
import org.pmhxb.collectives.Choice;
import org.pmhxb.collectives.Collective;
import org.pmhxb.collectives.CollectiveCall;
import org.pmhxb.collectives.CollectiveLimits;
import org.pmhxb.collectives.Collectives;
import org.pmhxb.collectives.Communicator;
import org.pmhxb.collectives.CostModel;
import org.pmhxb.collectives.Group;
import org.pmhxb.collectives.Topology;
import org.pmhxb.collectives.algorithm.StandardAlgorithms;
import org.pmhxb.router.fabric.RingCluster;

/** All algorithms over a ring cluster whose nodes this thread polls. Owner: that thread. */
public final class RingCollectives implements AutoCloseable {
  private static final int ENDPOINT = 5;
  private static final int WARM_UP_OPERATIONS = 300;
  private static final long WARM_UP_NS = 1_500_000_000L;
  private static final long ROUND_NS = 100_000_000L;

  /** One operation takes no longer, or there is a defect. */
  private static final long OPERATION_NS_MOST = 30_000_000_000L;

  private final RingCluster cluster;
  private final CostModel model;
  private final AlgorithmRegistry registry = StandardAlgorithms.registry();
  private final List<Collectives> collectives = new ArrayList<>();
  private final List<Communicator> ranks = new ArrayList<>();
  private final List<CollectiveCall> calls = new ArrayList<>();

  public RingCollectives(RingCluster cluster, CostModel model) {
    this.cluster = cluster;
    this.model = model;
    Topology topology = Topology.crossbar(cluster.options().shape());
    for (int n = 0; n < cluster.size(); n++) {
      Collectives all =
          new Collectives(cluster.node(n), ENDPOINT, registry, model, CollectiveLimits.defaults());
      collectives.add(all);
      ranks.add(all.join(Group.all(1, cluster.node(n)), topology));
    }
  }

  /**
   * Measures every algorithm that can do it.
   *
   * @param rounds 3 or more
   * @param progress takes lines for people
   */
  public List<CollectivePoint> measure(
      Collective collective, int bytes, int rounds, Consumer<String> progress) {
    List<CollectivePoint> points = new ArrayList<>();
    int elementBytes = collective.isReducing() ? Integer.BYTES : 1;
    Choice choice = ranks.getFirst().choose(collective, bytes, elementBytes, 0);
    for (Algorithm algorithm : registry.of(collective)) {
      if (algorithm.objection(choice.problem()) == null) {
        progress.accept(collective + " " + algorithm.name() + " " + bytes + " B");
        points.add(measure(algorithm, choice, rounds));
      }
    }
    return points;
  }

  private CollectivePoint measure(Algorithm algorithm, Choice choice, int rounds) {
    int bytes = (int) choice.problem().blockBytes();
    List<RankData> data = new ArrayList<>();
    for (Communicator c : ranks) {
      c.use(algorithm.collective(), algorithm.name());
      data.add(new RankData(algorithm.collective(), bytes, ranks.size(), c.group().rank()));
    }
    warmUp(data);
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
      us.add((endNs - startNs) / 1e3 / done);
      operations += done;
    }
    ranks.forEach(c -> c.use(algorithm.collective(), null));
    Spread spread = Spread.of(us);
    long most = Math.max(choice.problem().inputBytes(), choice.problem().outputBytes());
    return new CollectivePoint(
        algorithm.collective().toString(),
        algorithm.name(),
        bytes,
        algorithm.name().equals(choice.algorithm().name()),
        algorithm.predictNs(choice.problem(), model) / 1e3,
        spread,
        most / spread.median(),
        operations);
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
