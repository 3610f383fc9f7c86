package org.pmhxb.collectives.algorithm;

import java.util.List;
import org.pmhxb.collectives.Accumulator;
import org.pmhxb.collectives.Algorithm;
import org.pmhxb.collectives.Area;
import org.pmhxb.collectives.Collective;
import org.pmhxb.collectives.PlanBuilder;
import org.pmhxb.collectives.Problem;
import org.pmhxb.collectives.Span;

/** For networks in which every node is as near as any other: what MPI libraries do. */
final class FlatAlgorithms {
  private FlatAlgorithms() {}

  static List<Algorithm> all() {
    return List.of(
        Recipe.of(
            Collective.BROADCAST, "binomial", FlatAlgorithms::tree, FlatAlgorithms::broadcastTree),
        Recipe.of(
            Collective.BROADCAST, "chain", FlatAlgorithms::chain, FlatAlgorithms::broadcastChain),
        Recipe.of(Collective.REDUCE, "binomial", FlatAlgorithms::tree, FlatAlgorithms::reduceTree),
        Recipe.of(Collective.REDUCE, "chain", FlatAlgorithms::chain, FlatAlgorithms::reduceChain),
        Recipe.of(
            Collective.ALLREDUCE,
            "recursive-doubling",
            FlatAlgorithms::doubling,
            FlatAlgorithms::allreduceDoubling),
        Recipe.of(
            Collective.ALLREDUCE,
            "rabenseifner",
            FlatAlgorithms::halvingDoubling,
            FlatAlgorithms::allreduceHalving),
        Recipe.of(
            Collective.ALLREDUCE, "ring", FlatAlgorithms::ring, FlatAlgorithms::allreduceRing));
  }

  // --- plans ------------------------------------------------------------------------------------

  private static Members circle(Problem p) {
    return Members.circle(p.size(), p.root(), p.rank());
  }

  private static void broadcastTree(Problem p, PlanBuilder plan) {
    Trees.broadcast(circle(p), Span.of(plan, Area.OUTPUT, 0), 0, p.blockBytes());
  }

  private static void broadcastChain(Problem p, PlanBuilder plan) {
    Trees.chainBroadcast(circle(p), Span.of(plan, Area.OUTPUT, 0), 0, p.blockBytes());
  }

  private static void reduceTree(Problem p, PlanBuilder plan) {
    Accumulator vector = new Accumulator(plan);
    Trees.reduce(circle(p), vector, 0, p.blockBytes());
    finishAtRoot(p, vector);
  }

  private static void reduceChain(Problem p, PlanBuilder plan) {
    Accumulator vector = new Accumulator(plan);
    Trees.chainReduce(circle(p), vector, 0, p.blockBytes());
    finishAtRoot(p, vector);
  }

  static void finishAtRoot(Problem p, Accumulator vector) {
    if (p.rank() == p.root()) {
      vector.finish();
    }
  }

  private static void allreduceDoubling(Problem p, PlanBuilder plan) {
    Accumulator vector = new Accumulator(plan);
    Exchanges.doubling(circle(p), vector, 0, p.blockBytes());
    vector.finish();
  }

  private static void allreduceHalving(Problem p, PlanBuilder plan) {
    Accumulator vector = new Accumulator(plan);
    Exchanges.halvingDoubling(plan, circle(p), vector);
    vector.finish();
  }

  private static void allreduceRing(Problem p, PlanBuilder plan) {
    Accumulator vector = new Accumulator(plan);
    Exchanges.Cuts cuts = Exchanges.Cuts.even(plan, 0, p.blockBytes(), p.size());
    Exchanges.ringReduceScatter(circle(p), vector, cuts);
    Exchanges.ringAllgather(circle(p), vector, cuts);
    vector.finish();
  }

  // --- predictions ------------------------------------------------------------------------------

  /** A binomial tree: each round twice as many messages, at half the distance. */
  private static void tree(Problem p, Estimate estimate) {
    int n = p.size();
    for (int step = Trees.topBit(n); step > 0; step >>= 1) {
      for (int at = 0; at + step < n; at += 2 * step) {
        estimate.flow((p.root() + at) % n, (p.root() + at + step) % n, p.blockBytes());
      }
      estimate.round();
    }
    reduceOnce(p, estimate);
  }

  private static void chain(Problem p, Estimate estimate) {
    int n = p.size();
    for (int at = 0; at + 1 < n; at++) {
      estimate.flow((p.root() + at) % n, (p.root() + at + 1) % n, p.blockBytes());
    }
    estimate.stream(n - 1, crossings(p, true), p.blockBytes());
    reduceOnce(p, estimate);
  }

  private static void reduceOnce(Problem p, Estimate estimate) {
    if (p.collective().isReducing()) {
      estimate.reduce(p.blockBytes());
    }
  }

  /** Neighbours in the order of ranks that are in different clusters. */
  private static int crossings(Problem p, boolean open) {
    int n = p.size();
    int crossings = 0;
    for (int at = 0; at < (open ? n - 1 : n); at++) {
      int a = p.group().node((p.root() + at) % n);
      int b = p.group().node((p.root() + at + 1) % n);
      crossings += p.topology().cluster(a) == p.topology().cluster(b) ? 0 : 1;
    }
    return crossings;
  }

  private static void doubling(Problem p, Estimate estimate) {
    exchange(p, estimate, step -> p.blockBytes(), false);
    estimate.reduce((double) p.blockBytes() * Trees.rounds(p.size()));
  }

  private static void halvingDoubling(Problem p, Estimate estimate) {
    int power = Integer.highestOneBit(p.size());
    exchange(p, estimate, step -> (double) p.blockBytes() * step / power, true);
    estimate.reduce(p.blockBytes());
  }

  private interface Share {
    double of(int step);
  }

  /** Rounds of pairs at doubling distance, and what folding a number into a power of two adds. */
  private static void exchange(Problem p, Estimate estimate, Share share, boolean twice) {
    int n = p.size();
    int power = Integer.highestOneBit(n);
    if (power < n) {
      estimate.flow(0, 1, p.blockBytes()).round();
      estimate.flow(1, 0, p.blockBytes()).round();
    }
    for (int pass = 0; pass < (twice ? 2 : 1); pass++) {
      for (int step = 1; step < power; step <<= 1) {
        for (int q = 0; q < power; q++) {
          estimate.flow(q, q ^ step, share.of(step));
        }
        estimate.round();
      }
    }
  }

  private static void ring(Problem p, Estimate estimate) {
    int n = p.size();
    for (int round = 0; round < 2 * (n - 1); round++) {
      for (int at = 0; at < n; at++) {
        estimate.flow(at, (at + 1) % n, (double) p.blockBytes() / n);
      }
      estimate.round();
    }
    estimate.reduce(p.blockBytes());
  }
}
