package org.pmhxb.collectives.algorithm;

import java.util.ArrayList;
import java.util.List;
import org.pmhxb.collectives.Accumulator;
import org.pmhxb.collectives.Algorithm;
import org.pmhxb.collectives.Area;
import org.pmhxb.collectives.Collective;
import org.pmhxb.collectives.PlanBuilder;
import org.pmhxb.collectives.Problem;
import org.pmhxb.collectives.Span;

/**
 * For clusters joined by slow links (GridMPI, sections 3.4 to 3.6): every byte crosses once to each
 * cluster that needs it, over as many links at a time as there are, in a stream of frames.
 */
final class ClusterAlgorithms {
  /** Parts below this are not worth a link of their own. */
  private static final int LEAST_PART_BYTES = 8_192;

  private ClusterAlgorithms() {}

  static List<Algorithm> all() {
    List<Algorithm> all = new ArrayList<>();
    add(all, Collective.BROADCAST, "cluster-tree", ClusterTrees::predict, ClusterTrees::broadcast);
    add(all, Collective.REDUCE, "cluster-tree", ClusterTrees::predict, ClusterTrees::reduce);
    add(all, Collective.ALLREDUCE, "cluster-tree", ClusterTrees::both, ClusterTrees::allreduce);
    for (boolean parallel : new boolean[] {false, true}) {
      String name = parallel ? "cluster-parallel" : "cluster-stream";
      Recipe.Prediction prediction = (p, e) -> stream(p, e, parallel);
      add(all, Collective.BROADCAST, name, prediction, (p, b) -> broadcast(p, b, parallel));
      add(all, Collective.REDUCE, name, prediction, (p, b) -> reduce(p, b, parallel));
    }
    all.add(
        new Recipe(
            Collective.ALLREDUCE,
            "cluster-ring",
            Clusters::objectionUnlessEqual,
            ClusterAlgorithms::rings,
            ClusterAlgorithms::allreduce));
    all.add(
        new Recipe(
            Collective.ALLGATHER,
            "cluster",
            Clusters::objectionUnlessEqual,
            ClusterAlgorithms::bundles,
            ClusterAlgorithms::allgather));
    routed(all, Collective.GATHER, "cluster", 2, ClusterAlgorithms::gather);
    routed(all, Collective.SCATTER, "cluster", 2, ClusterAlgorithms::scatter);
    routed(all, Collective.ALLTOALL, "cluster", 3, ClusterAlgorithms::alltoall);
    routed(all, Collective.ALLTOALL, "cluster-one", 3, ClusterAlgorithms::alltoallOverOne);
    return all;
  }

  private static void add(
      List<Algorithm> all,
      Collective collective,
      String name,
      Recipe.Prediction prediction,
      Recipe.Planner planner) {
    all.add(new Recipe(collective, name, Clusters::objection, prediction, planner));
  }

  private interface Routing {
    Relayed.Route of(Problem problem);
  }

  private static void routed(
      List<Algorithm> all, Collective collective, String name, int phases, Routing routing) {
    all.add(
        new Recipe(
            collective,
            name,
            p -> {
              String objection = Relayed.objection(p);
              return objection == null ? Clusters.objection(p) : objection;
            },
            (p, e) -> Relayed.estimate(p, e, phases, routing.of(p)),
            (p, plan) -> Relayed.plan(p, plan, phases, routing.of(p))));
  }

  // --- streams: broadcast and reduction of long messages ----------------------------------------

  /**
   * A chain through the root's cluster. Its last member, who has nobody to pass it on to, sends it
   * over one slow link; or its last members send a part each over as many links as there are, which
   * is better where these are slower than a node's own. In the other clusters each part goes round
   * a chain of its own.
   */
  private static void broadcast(Problem p, PlanBuilder plan, boolean parallel) {
    Clusters c = Clusters.of(p);
    Span span = Span.of(plan, Area.OUTPUT, 0);
    int home = c.cluster(p.root());
    Members chain = c.members(home, c.place(p.root()));
    Trees.chainBroadcast(chain, span, 0, p.blockBytes());
    int parts = parallel ? c.gateways(p.blockBytes(), LEAST_PART_BYTES) : 1;
    for (int i = 0; i < parts; i++) {
      long from = plan.cut(p.blockBytes(), i, parts);
      long bytes = plan.cut(p.blockBytes(), i + 1, parts) - from;
      int place = c.place(chain.rank(chain.size() - 1 - i));
      Trees.broadcast(c.counterparts(home, place), span, from, bytes);
      for (int cluster = 0; cluster < c.count(); cluster++) {
        if (cluster != home) {
          Trees.chainBroadcast(c.members(cluster, place), span, from, bytes);
        }
      }
    }
  }

  /** The same the other way round. */
  private static void reduce(Problem p, PlanBuilder plan, boolean parallel) {
    Clusters c = Clusters.of(p);
    Accumulator vector = new Accumulator(plan);
    int home = c.cluster(p.root());
    Members chain = c.members(home, c.place(p.root()));
    int parts = parallel ? c.gateways(p.blockBytes(), LEAST_PART_BYTES) : 1;
    for (int i = 0; i < parts; i++) {
      long from = plan.cut(p.blockBytes(), i, parts);
      long bytes = plan.cut(p.blockBytes(), i + 1, parts) - from;
      int place = c.place(chain.rank(chain.size() - 1 - i));
      for (int cluster = 0; cluster < c.count(); cluster++) {
        if (cluster != home) {
          Trees.chainReduce(c.members(cluster, place), vector, from, bytes);
        }
      }
      Trees.reduce(c.counterparts(home, place), vector, from, bytes);
    }
    Trees.chainReduce(chain, vector, 0, p.blockBytes());
    FlatAlgorithms.finishAtRoot(p, vector);
  }

  private static void stream(Problem p, Estimate estimate, boolean parallel) {
    Clusters c = Clusters.of(p);
    int home = c.cluster(p.root());
    Members chain = c.members(home, c.place(p.root()));
    for (int at = 0; at + 1 < chain.size(); at++) {
      estimate.flow(chain.rank(at), chain.rank(at + 1), p.blockBytes());
    }
    int parts = parallel ? c.gateways(p.blockBytes(), LEAST_PART_BYTES) : 1;
    int longest = 0;
    for (int i = 0; i < parts; i++) {
      int place = c.place(chain.rank(chain.size() - 1 - i));
      double bytes = (double) p.blockBytes() / parts;
      for (int cluster = 0; cluster < c.count(); cluster++) {
        if (cluster != home) {
          Members other = c.members(cluster, place);
          estimate.flow(chain.rank(chain.size() - 1 - i), other.rank(0), bytes);
          for (int at = 0; at + 1 < other.size(); at++) {
            estimate.flow(other.rank(at), other.rank(at + 1), bytes);
          }
          longest = Math.max(longest, other.size() - 1);
        }
      }
    }
    int crossings = Trees.rounds(c.count());
    estimate.stream(chain.size() - 1 + crossings + longest, crossings, p.blockBytes());
    if (p.collective().isReducing()) {
      estimate.reduce(p.blockBytes());
    }
  }

  // --- everybody with its counterparts ----------------------------------------------------------

  private static void allreduce(Problem p, PlanBuilder plan) {
    Clusters c = Clusters.of(p);
    Accumulator vector = new Accumulator(plan);
    Members own = c.members(c.cluster(p.rank()), 0);
    Exchanges.Cuts cuts = Exchanges.Cuts.even(plan, 0, p.blockBytes(), own.size());
    Exchanges.ringReduceScatter(own, vector, cuts);
    int place = own.place();
    long bytes = cuts.at(place + 1) - cuts.at(place);
    Exchanges.doubling(c.counterparts(0, place), vector, cuts.at(place), bytes);
    Exchanges.ringAllgather(own, vector, cuts);
    vector.finish();
  }

  private static void rings(Problem p, Estimate estimate) {
    Clusters c = Clusters.of(p);
    int n = c.size(0);
    double bytes = (double) p.blockBytes() / n;
    for (int round = 0; round < 2 * (n - 1); round++) {
      within(p, c, estimate, bytes);
    }
    for (int step = 1; step < c.count(); step <<= 1) {
      across(p, c, estimate, step, bytes);
    }
    estimate.reduce(p.blockBytes());
  }

  private static void allgather(Problem p, PlanBuilder plan) {
    Clusters c = Clusters.of(p);
    plan.copy(Area.INPUT, 0, Area.OUTPUT, p.rank() * p.blockBytes(), p.blockBytes());
    Members far = c.counterparts(0, c.place(p.rank()));
    Bundles.ringAllgather(plan, far, place -> new int[] {far.rank(place)});
    Members near = c.members(c.cluster(p.rank()), 0);
    Bundles.ringAllgather(plan, near, place -> c.counterparts(0, place).toArray());
  }

  private static void bundles(Problem p, Estimate estimate) {
    Clusters c = Clusters.of(p);
    for (int step = 1; step < c.count(); step++) {
      across(p, c, estimate, 1, p.blockBytes());
    }
    for (int round = 0; round < c.size(0) - 1; round++) {
      within(p, c, estimate, (double) p.blockBytes() * c.count());
    }
  }

  /** Everybody to the next in its cluster. */
  private static void within(Problem p, Clusters c, Estimate estimate, double bytes) {
    for (int r = 0; r < p.size(); r++) {
      estimate.flow(r, c.rank(c.cluster(r), c.place(r) + 1), bytes);
    }
    estimate.round();
  }

  /** Everybody to its counterpart so many clusters on. */
  private static void across(Problem p, Clusters c, Estimate estimate, int step, double bytes) {
    for (int r = 0; r < p.size(); r++) {
      estimate.flow(r, c.rank((c.cluster(r) + step) % c.count(), c.place(r)), bytes);
    }
    estimate.round();
  }

  // --- routes -----------------------------------------------------------------------------------

  /** Blocks of a cluster cross together, from its rank at the root's place. */
  private static Relayed.Route gather(Problem p) {
    Clusters c = Clusters.of(p);
    int place = c.place(p.root());
    return (phase, source, destination) ->
        c.cluster(source) == c.cluster(destination)
            ? destination
            : c.rank(c.cluster(source), place);
  }

  private static Relayed.Route scatter(Problem p) {
    Clusters c = Clusters.of(p);
    int place = c.place(p.root());
    return (phase, source, destination) ->
        c.cluster(source) == c.cluster(destination)
            ? destination
            : c.rank(c.cluster(destination), place);
  }

  /** Blocks for the ranks at one place elsewhere meet at that place here: all cross as one. */
  private static Relayed.Route alltoall(Problem p) {
    Clusters c = Clusters.of(p);
    return (phase, source, destination) -> {
      if (c.cluster(source) == c.cluster(destination)) {
        return destination;
      }
      int at = phase == 1 ? c.cluster(source) : c.cluster(destination);
      return c.rank(at, c.place(destination));
    };
  }

  /** All that leaves a cluster goes over one of its nodes, as IMPI has it for short blocks. */
  private static Relayed.Route alltoallOverOne(Problem p) {
    Clusters c = Clusters.of(p);
    return (phase, source, destination) ->
        c.cluster(source) == c.cluster(destination)
            ? destination
            : c.rank(phase == 1 ? c.cluster(source) : c.cluster(destination), 0);
  }
}
