package org.pmhxb.collectives.algorithm;

import java.util.List;
import org.pmhxb.collectives.Algorithm;
import org.pmhxb.collectives.Area;
import org.pmhxb.collectives.Collective;
import org.pmhxb.collectives.PlanBuilder;
import org.pmhxb.collectives.Problem;
import org.pmhxb.collectives.Span;

/** Gather, scatter, allgather and alltoall for networks in which every node is as near. */
final class FlatBlocks {
  /** Exchanges that a pairwise alltoall has under way at each rank. */
  private static final int PAIRS_AT_A_TIME = 4;

  private FlatBlocks() {}

  static List<Algorithm> all() {
    return List.of(
        linear(Collective.GATHER),
        binomial(Collective.GATHER, FlatBlocks::towardsRoot),
        linear(Collective.SCATTER),
        binomial(Collective.SCATTER, FlatBlocks::fromRoot),
        Recipe.of(Collective.ALLGATHER, "ring", FlatBlocks::ring, FlatBlocks::allgatherRing),
        Recipe.of(Collective.ALLGATHER, "bruck", FlatBlocks::bruck, FlatBlocks::allgatherBruck),
        Recipe.of(
            Collective.ALLTOALL, "pairwise", FlatBlocks::pairwise, FlatBlocks::alltoallPairwise),
        new Recipe(
            Collective.ALLTOALL,
            "bruck",
            Relayed::objection,
            (p, e) -> Relayed.estimate(p, e, Trees.rounds(p.size()), bruckRoute(p)),
            (p, plan) -> Relayed.plan(p, plan, Trees.rounds(p.size()), bruckRoute(p))));
  }

  // --- gather and scatter -----------------------------------------------------------------------

  /** Every rank deals with the root itself. */
  private static Algorithm linear(Collective collective) {
    Relayed.Route direct = (phase, source, destination) -> destination;
    return Recipe.of(
        collective,
        "linear",
        FlatBlocks::linearEstimate,
        (p, plan) -> Relayed.plan(p, plan, 1, direct));
  }

  private static void linearEstimate(Problem p, Estimate estimate) {
    for (int r = 0; r < p.size(); r++) {
      boolean gather = p.collective() == Collective.GATHER;
      if (r != p.root()) {
        estimate.flow(gather ? r : p.root(), gather ? p.root() : r, p.blockBytes());
      }
    }
    estimate.messages(p.size() - 1).round();
  }

  private interface Step {
    int holder(int place, int phase, int rounds);
  }

  private static Algorithm binomial(Collective collective, Step step) {
    return new Recipe(
        collective,
        "binomial",
        Relayed::objection,
        (p, e) -> Relayed.estimate(p, e, Trees.rounds(p.size()), tree(p, step)),
        (p, plan) -> Relayed.plan(p, plan, Trees.rounds(p.size()), tree(p, step)));
  }

  /** Places count in a circle from the root. */
  private static Relayed.Route tree(Problem p, Step step) {
    int n = p.size();
    int rounds = Trees.rounds(n);
    return (phase, source, destination) -> {
      int other = p.collective() == Collective.GATHER ? source : destination;
      int place = Math.floorMod(other - p.root(), n);
      return (p.root() + step.holder(place, phase, rounds)) % n;
    };
  }

  /** After phase f the f lowest bits of the place are gone. */
  private static int towardsRoot(int place, int phase, int rounds) {
    return place & -(1 << phase);
  }

  private static int fromRoot(int place, int phase, int rounds) {
    return place & -(1 << rounds - phase);
  }

  // --- allgather --------------------------------------------------------------------------------

  private static void allgatherRing(Problem p, PlanBuilder plan) {
    long block = p.blockBytes();
    plan.copy(Area.INPUT, 0, Area.OUTPUT, p.rank() * block, block);
    Exchanges.ringAllgather(
        Members.circle(p.size(), 0, p.rank()), Span.of(plan, Area.OUTPUT, 0), i -> i * block);
  }

  private static void ring(Problem p, Estimate estimate) {
    int n = p.size();
    for (int round = 0; round < n - 1; round++) {
      for (int at = 0; at < n; at++) {
        estimate.flow(at, (at + 1) % n, p.blockBytes());
      }
      estimate.round();
    }
  }

  /** Rounds at doubling distance, each with twice as many blocks, in a circle from this rank on. */
  private static void allgatherBruck(Problem p, PlanBuilder plan) {
    int n = p.size();
    int r = p.rank();
    long block = p.blockBytes();
    long all = plan.scratch(n * block);
    plan.copy(Area.INPUT, 0, Area.SCRATCH, all, block);
    for (int step = 1; step < n; step <<= 1) {
      long bytes = Math.min(step, n - step) * block;
      plan.send(Math.floorMod(r - step, n), Area.SCRATCH, all, bytes);
      plan.receive((r + step) % n, Area.SCRATCH, all + step * block, bytes);
    }
    plan.copy(Area.SCRATCH, all, Area.OUTPUT, r * block, (n - r) * block);
    plan.copy(Area.SCRATCH, all + (n - r) * block, Area.OUTPUT, 0, r * block);
  }

  private static void bruck(Problem p, Estimate estimate) {
    int n = p.size();
    for (int step = 1; step < n; step <<= 1) {
      for (int at = 0; at < n; at++) {
        estimate.flow(
            at, Math.floorMod(at - step, n), (double) Math.min(step, n - step) * p.blockBytes());
      }
      estimate.round();
    }
    estimate.reduce((double) n * p.blockBytes());
  }

  // --- alltoall ---------------------------------------------------------------------------------

  /** With the one behind as with the one ahead, ever farther away; a few at a time. */
  private static void alltoallPairwise(Problem p, PlanBuilder plan) {
    int n = p.size();
    int r = p.rank();
    long block = p.blockBytes();
    plan.copy(Area.INPUT, r * block, Area.OUTPUT, r * block, block);
    int[] receives = new int[n];
    for (int distance = 1; distance < n; distance++) {
      int to = (r + distance) % n;
      int from = Math.floorMod(r - distance, n);
      int send = plan.send(to, Area.INPUT, to * block, block);
      receives[distance] = plan.receive(from, Area.OUTPUT, from * block, block);
      if (distance > PAIRS_AT_A_TIME) {
        plan.after(send, receives[distance - PAIRS_AT_A_TIME]);
      }
    }
  }

  private static void pairwise(Problem p, Estimate estimate) {
    int n = p.size();
    for (int first = 1; first < n; first += PAIRS_AT_A_TIME) {
      int last = Math.min(n, first + PAIRS_AT_A_TIME);
      for (int distance = first; distance < last; distance++) {
        for (int r = 0; r < n; r++) {
          estimate.flow(r, (r + distance) % n, p.blockBytes());
        }
      }
      estimate.messages(last - first).round();
    }
  }

  /** A block goes by the bits of its distance. */
  private static Relayed.Route bruckRoute(Problem p) {
    int n = p.size();
    return (phase, source, destination) -> {
      int distance = Math.floorMod(destination - source, n);
      return (source + (distance & (1 << phase) - 1)) % n;
    };
  }
}
