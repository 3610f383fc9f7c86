package org.pmhxb.collectives.algorithm;

import org.pmhxb.collectives.Accumulator;
import org.pmhxb.collectives.Area;
import org.pmhxb.collectives.PlanBuilder;
import org.pmhxb.collectives.Problem;
import org.pmhxb.collectives.Span;

/**
 * A binomial tree over one node of each cluster, and one in each cluster: the fewest crossings and
 * the least latency, for short messages. The node of a cluster is the root's counterpart.
 */
final class ClusterTrees {
  private ClusterTrees() {}

  private static Members heads(Problem p, Clusters c) {
    return c.counterparts(c.cluster(p.root()), c.place(p.root()));
  }

  private static Members own(Problem p, Clusters c) {
    return c.members(c.cluster(p.rank()), c.place(p.root()));
  }

  static void broadcast(Problem p, PlanBuilder plan) {
    Clusters c = Clusters.of(p);
    Span span = Span.of(plan, Area.OUTPUT, 0);
    Trees.broadcast(heads(p, c), span, 0, p.blockBytes());
    Trees.broadcast(own(p, c), span, 0, p.blockBytes());
  }

  static void reduce(Problem p, PlanBuilder plan) {
    Clusters c = Clusters.of(p);
    Accumulator vector = new Accumulator(plan);
    Trees.reduce(own(p, c), vector, 0, p.blockBytes());
    Trees.reduce(heads(p, c), vector, 0, p.blockBytes());
    FlatAlgorithms.finishAtRoot(p, vector);
  }

  static void allreduce(Problem p, PlanBuilder plan) {
    Clusters c = Clusters.of(p);
    Accumulator vector = new Accumulator(plan);
    Trees.reduce(own(p, c), vector, 0, p.blockBytes());
    Exchanges.doubling(heads(p, c), vector, 0, p.blockBytes());
    Trees.broadcast(own(p, c), vector, 0, p.blockBytes());
    vector.finish();
  }

  static void predict(Problem p, Estimate estimate) {
    Clusters c = Clusters.of(p);
    Members heads = heads(p, c);
    tree(p, estimate, heads);
    int largest = 0;
    for (int i = 0; i < c.count(); i++) {
      largest = c.size(i) > c.size(largest) ? i : largest;
    }
    tree(p, estimate, c.members(largest, c.place(p.root())));
    if (p.collective().isReducing()) {
      estimate.reduce(p.blockBytes());
    }
  }

  /** There and back. */
  static void both(Problem p, Estimate estimate) {
    predict(p, estimate);
    Clusters c = Clusters.of(p);
    tree(p, estimate, c.members(0, c.place(p.root())));
  }

  private static void tree(Problem p, Estimate estimate, Members m) {
    for (int step = Trees.topBit(m.size()); step > 0; step >>= 1) {
      for (int at = 0; at + step < m.size(); at += 2 * step) {
        estimate.flow(m.rank(at), m.rank(at + step), p.blockBytes());
      }
      estimate.round();
    }
  }
}
