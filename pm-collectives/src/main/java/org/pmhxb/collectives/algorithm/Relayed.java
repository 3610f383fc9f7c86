package org.pmhxb.collectives.algorithm;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.pmhxb.collectives.Area;
import org.pmhxb.collectives.Collective;
import org.pmhxb.collectives.PlanBuilder;
import org.pmhxb.collectives.Problem;

/**
 * Blocks that go from a source to a destination over other ranks, in phases: gather, scatter and
 * alltoall. All that goes from one rank to another in a phase is one message, its blocks in the
 * order of source and destination. What ends here is received in its place where it can be.
 */
final class Relayed {
  /**
   * Where a block is after a phase. Before the first it is at its source, at last where it goes.
   */
  @FunctionalInterface
  interface Route {
    int holder(int phase, int source, int destination);
  }

  private record Block(int source, int destination) {}

  private record Spot(Area area, long offset) {}

  /** Larger groups' routes would take too long to work out at each rank. */
  static final int MOST_RANKS = 512;

  private final Problem problem;
  private final PlanBuilder plan;
  private final int phases;
  private final Route route;
  private final long bytes;
  private final int self;

  /** What is here at present. */
  private final Map<Block, Spot> spots = new HashMap<>();

  private Relayed(Problem problem, PlanBuilder plan, int phases, Route route) {
    this.problem = problem;
    this.plan = plan;
    this.phases = phases;
    this.route = route;
    this.bytes = problem.blockBytes();
    this.self = problem.rank();
  }

  /** Writes down this rank's steps. */
  static void plan(Problem problem, PlanBuilder plan, int phases, Route route) {
    if (problem.blockBytes() > 0) {
      new Relayed(problem, plan, phases, route).plan();
    }
  }

  static String objection(Problem p) {
    return p.size() > MOST_RANKS ? "groups of more than " + MOST_RANKS + " are not routed" : null;
  }

  /** Adds every phase's messages to an estimate. */
  static void estimate(Problem p, Estimate estimate, int phases, Route route) {
    for (int phase = 1; phase <= phases; phase++) {
      int[] messages = new int[p.size()];
      Map<Long, Boolean> pairs = new HashMap<>();
      for (Block b : blocks(p)) {
        int from = holder(route, phase - 1, phases, b);
        int to = holder(route, phase, phases, b);
        if (from != to) {
          estimate.flow(from, to, p.blockBytes());
          if (pairs.put((long) from << 32 | to, true) == null) {
            estimate.messages(++messages[from]);
          }
        }
      }
      estimate.round();
    }
  }

  private static int holder(Route route, int phase, int phases, Block b) {
    return phase == 0
        ? b.source
        : phase == phases ? b.destination : route.holder(phase, b.source, b.destination);
  }

  private static List<Block> blocks(Problem p) {
    List<Block> all = new ArrayList<>();
    for (int s = 0; s < p.size(); s++) {
      for (int d = 0; d < p.size(); d++) {
        boolean wanted =
            switch (p.collective()) {
              case GATHER -> d == p.root();
              case SCATTER -> s == p.root();
              default -> true;
            };
        if (wanted) {
          all.add(new Block(s, d));
        }
      }
    }
    return all;
  }

  private void plan() {
    List<Block> all = blocks(problem);
    for (Block b : all) {
      if (b.source == self) {
        spots.put(b, new Spot(Area.INPUT, inputOffset(b)));
      }
    }
    for (int phase = 1; phase <= phases; phase++) {
      move(all, phase);
    }
    for (Block b : all) {
      if (b.destination == self) {
        Spot spot = spots.get(b);
        if (spot.area != Area.OUTPUT) {
          plan.copy(spot.area, spot.offset, Area.OUTPUT, outputOffset(b), bytes);
        }
      }
    }
  }

  private void move(List<Block> all, int phase) {
    // In a circle from this rank on: not everybody begins with the same one.
    TreeMap<Integer, List<Block>> out = new TreeMap<>();
    TreeMap<Integer, List<Block>> in = new TreeMap<>();
    int n = problem.size();
    for (Block b : all) {
      int from = holder(route, phase - 1, phases, b);
      int to = holder(route, phase, phases, b);
      if (from != to && from == self) {
        out.computeIfAbsent(Math.floorMod(to - self, n), k -> new ArrayList<>()).add(b);
      } else if (from != to && to == self) {
        in.computeIfAbsent(Math.floorMod(self - from, n), k -> new ArrayList<>()).add(b);
      }
    }
    out.forEach((distance, blocks) -> send((self + distance) % n, blocks));
    in.forEach((distance, blocks) -> receive(Math.floorMod(self - distance, n), blocks));
  }

  private void send(int to, List<Block> blocks) {
    Spot first = spots.get(blocks.getFirst());
    boolean adjacent = true;
    for (int i = 0; i < blocks.size(); i++) {
      adjacent &= spots.get(blocks.get(i)).equals(new Spot(first.area, first.offset + i * bytes));
    }
    if (!adjacent) {
      long at = plan.scratch(blocks.size() * bytes);
      for (int i = 0; i < blocks.size(); i++) {
        Spot spot = spots.get(blocks.get(i));
        plan.copy(spot.area, spot.offset, Area.SCRATCH, at + i * bytes, bytes);
      }
      first = new Spot(Area.SCRATCH, at);
    }
    plan.send(to, first.area, first.offset, blocks.size() * bytes);
    blocks.forEach(spots::remove);
  }

  private void receive(int from, List<Block> blocks) {
    boolean inPlace = true;
    for (int i = 0; i < blocks.size(); i++) {
      Block b = blocks.get(i);
      inPlace &=
          b.destination == self && outputOffset(b) == outputOffset(blocks.getFirst()) + i * bytes;
    }
    Area area = inPlace ? Area.OUTPUT : Area.SCRATCH;
    long at = inPlace ? outputOffset(blocks.getFirst()) : plan.scratch(blocks.size() * bytes);
    plan.receive(from, area, at, blocks.size() * bytes);
    for (int i = 0; i < blocks.size(); i++) {
      spots.put(blocks.get(i), new Spot(area, at + i * bytes));
    }
  }

  private long inputOffset(Block b) {
    return problem.collective() == Collective.GATHER ? 0 : b.destination * bytes;
  }

  private long outputOffset(Block b) {
    return problem.collective() == Collective.SCATTER ? 0 : b.source * bytes;
  }
}
