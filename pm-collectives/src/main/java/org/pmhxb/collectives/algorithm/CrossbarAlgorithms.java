package org.pmhxb.collectives.algorithm;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.pmhxb.collectives.Accumulator;
import org.pmhxb.collectives.Algorithm;
import org.pmhxb.collectives.Area;
import org.pmhxb.collectives.Collective;
import org.pmhxb.collectives.PlanBuilder;
import org.pmhxb.collectives.Problem;
import org.pmhxb.collectives.Span;

/**
 * Dimension by dimension along the lines of the hyper-crossbar, as messages are routed: no message
 * needs a relay, and the dimensions' rails work side by side. For groups that fill a box.
 */
final class CrossbarAlgorithms {
  private CrossbarAlgorithms() {}

  static List<Algorithm> all() {
    List<Algorithm> all = new ArrayList<>();
    add(all, Collective.BROADCAST, "crossbar", (p, e) -> spread(p, e, false), trees(false));
    add(all, Collective.BROADCAST, "crossbar-chain", (p, e) -> spread(p, e, true), trees(true));
    add(all, Collective.REDUCE, "crossbar", (p, e) -> spread(p, e, false), reductions(false));
    add(all, Collective.REDUCE, "crossbar-chain", (p, e) -> spread(p, e, true), reductions(true));
    add(
        all,
        Collective.ALLREDUCE,
        "crossbar",
        CrossbarAlgorithms::doubling,
        CrossbarAlgorithms::allreduceDoubling);
    add(
        all,
        Collective.ALLREDUCE,
        "crossbar-ring",
        CrossbarAlgorithms::rings,
        CrossbarAlgorithms::allreduceRings);
    add(
        all,
        Collective.ALLGATHER,
        "crossbar",
        CrossbarAlgorithms::bundles,
        CrossbarAlgorithms::allgather);
    for (Collective c : List.of(Collective.GATHER, Collective.SCATTER, Collective.ALLTOALL)) {
      all.add(
          new Recipe(
              c,
              "crossbar",
              p -> {
                String objection = Relayed.objection(p);
                return objection == null ? Box.objection(p) : objection;
              },
              (p, e) -> Relayed.estimate(p, e, 3, route(p)),
              (p, plan) -> Relayed.plan(p, plan, 3, route(p))));
    }
    return all;
  }

  private static void add(
      List<Algorithm> all,
      Collective collective,
      String name,
      Recipe.Prediction prediction,
      Recipe.Planner planner) {
    all.add(new Recipe(collective, name, Box::objection, prediction, planner));
  }

  // --- plans ------------------------------------------------------------------------------------

  private static Recipe.Planner trees(boolean chains) {
    return (p, plan) -> {
      Box box = Box.of(p);
      Span span = Span.of(plan, Area.OUTPUT, 0);
      for (int d = 0; d < box.dimensions(); d++) {
        // The root's line in X, all lines in Y of its plane, all in Z.
        if (box.sameFrom(p.rank(), p.root(), d + 1)) {
          Members line = box.line(p.rank(), d, p.root());
          if (chains) {
            Trees.chainBroadcast(line, span, 0, p.blockBytes());
          } else {
            Trees.broadcast(line, span, 0, p.blockBytes());
          }
        }
      }
    };
  }

  private static Recipe.Planner reductions(boolean chains) {
    return (p, plan) -> {
      Box box = Box.of(p);
      Accumulator vector = new Accumulator(plan);
      for (int d = box.dimensions() - 1; d >= 0; d--) {
        if (box.sameFrom(p.rank(), p.root(), d + 1)) {
          Members line = box.line(p.rank(), d, p.root());
          if (chains) {
            Trees.chainReduce(line, vector, 0, p.blockBytes());
          } else {
            Trees.reduce(line, vector, 0, p.blockBytes());
          }
        }
      }
      FlatAlgorithms.finishAtRoot(p, vector);
    };
  }

  private static void allreduceDoubling(Problem p, PlanBuilder plan) {
    Box box = Box.of(p);
    Accumulator vector = new Accumulator(plan);
    for (int d = 0; d < box.dimensions(); d++) {
      Exchanges.doubling(box.line(p.rank(), d, 0), vector, 0, p.blockBytes());
    }
    vector.finish();
  }

  /** Each dimension's ring leaves a part of the last one's to the next; and all the way back. */
  private static void allreduceRings(Problem p, PlanBuilder plan) {
    Box box = Box.of(p);
    Accumulator vector = new Accumulator(plan);
    Members[] lines = new Members[box.dimensions()];
    Exchanges.Cuts[] cuts = new Exchanges.Cuts[box.dimensions()];
    long offset = 0;
    long bytes = p.blockBytes();
    for (int d = 0; d < lines.length; d++) {
      lines[d] = box.line(p.rank(), d, 0);
      cuts[d] = Exchanges.Cuts.even(plan, offset, bytes, lines[d].size());
      Exchanges.ringReduceScatter(lines[d], vector, cuts[d]);
      offset = cuts[d].at(lines[d].place());
      bytes = cuts[d].at(lines[d].place() + 1) - offset;
    }
    for (int d = lines.length - 1; d >= 0; d--) {
      Exchanges.ringAllgather(lines[d], vector, cuts[d]);
    }
    vector.finish();
  }

  private static void allgather(Problem p, PlanBuilder plan) {
    Box box = Box.of(p);
    plan.copy(Area.INPUT, 0, Area.OUTPUT, p.rank() * p.blockBytes(), p.blockBytes());
    for (int d = 0; d < box.dimensions(); d++) {
      Members line = box.line(p.rank(), d, 0);
      int dimension = d;
      Bundles.ringAllgather(
          plan,
          line,
          place ->
              IntStream.range(0, p.size())
                  .filter(r -> box.sameFrom(r, line.rank(place), dimension))
                  .toArray());
    }
  }

  /** X, then Y, then Z; towards a root the other way round, so that its line is the last. */
  private static Relayed.Route route(Problem p) {
    Box box = Box.of(p);
    return p.collective() == Collective.GATHER
        ? (phase, source, destination) -> box.mixed(source, destination, 3 - phase)
        : (phase, source, destination) -> box.mixed(destination, source, phase);
  }

  // --- predictions ------------------------------------------------------------------------------

  /** Broadcast, and reduction the other way round. */
  private static void spread(Problem p, Estimate estimate, boolean chains) {
    Box box = Box.of(p);
    int depth = 0;
    int slow = 0;
    for (int d = 0; d < box.dimensions(); d++) {
      int n = box.extent(d);
      depth += n - 1;
      for (int step = Trees.topBit(n); step > 0; step = chains ? 0 : step >> 1) {
        for (int r = 0; r < p.size(); r++) {
          Members line = box.line(r, d, p.root());
          if (box.sameFrom(r, p.root(), d) && !chains) {
            for (int at = 0; at + step < n; at += 2 * step) {
              estimate.flow(line.rank(at), line.rank(at + step), p.blockBytes());
            }
          } else if (box.sameFrom(r, p.root(), d)) {
            for (int at = 0; at + 1 < n; at++) {
              estimate.flow(line.rank(at), line.rank(at + 1), p.blockBytes());
              slow += r == p.root() ? estimate.crosses(line.rank(at), line.rank(at + 1)) : 0;
            }
          }
        }
        if (!chains) {
          estimate.round();
        }
      }
    }
    if (chains) {
      estimate.stream(depth, slow, p.blockBytes());
    }
    if (p.collective().isReducing()) {
      estimate.reduce(p.blockBytes());
    }
  }

  private static void doubling(Problem p, Estimate estimate) {
    Box box = Box.of(p);
    for (int d = 0; d < box.dimensions(); d++) {
      int n = box.extent(d);
      if (Integer.bitCount(n) != 1) {
        lineRound(p, estimate, box, d, 1, p.blockBytes());
        lineRound(p, estimate, box, d, 1, p.blockBytes());
      }
      for (int step = 1; step < Integer.highestOneBit(n); step <<= 1) {
        lineRound(p, estimate, box, d, step, p.blockBytes());
      }
      estimate.reduce((double) p.blockBytes() * Trees.rounds(n));
    }
  }

  private static void rings(Problem p, Estimate estimate) {
    Box box = Box.of(p);
    double bytes = p.blockBytes();
    for (int d = 0; d < box.dimensions(); d++) {
      int n = box.extent(d);
      for (int round = 0; round < 2 * (n - 1); round++) {
        lineRound(p, estimate, box, d, 1, bytes / n);
      }
      bytes /= n;
    }
    estimate.reduce(p.blockBytes());
  }

  private static void bundles(Problem p, Estimate estimate) {
    Box box = Box.of(p);
    double bytes = p.blockBytes();
    for (int d = 0; d < box.dimensions(); d++) {
      int n = box.extent(d);
      for (int round = 0; round < n - 1; round++) {
        lineRound(p, estimate, box, d, 1, bytes);
      }
      bytes *= n;
    }
  }

  /** Everybody sends to the one so many places on in its line. */
  private static void lineRound(
      Problem p, Estimate estimate, Box box, int dimension, int distance, double bytes) {
    for (int r = 0; r < p.size(); r++) {
      estimate.flow(r, box.line(r, dimension, r).circular(distance), bytes);
    }
    estimate.round();
  }
}
