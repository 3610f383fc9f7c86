package org.pmhxb.collectives.barrier.plan;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.pmhxb.collectives.barrier.plan.BarrierPlan.Send;
import org.pmhxb.collectives.barrier.plan.BarrierPlan.Step;
import org.pmhxb.router.Coordinates;
import org.pmhxb.router.Dimension;

/**
 * {@link Planner} as plainly as can be: everything anew for each rank, by looking at all others.
 */
final class PlainPlanner {
  private static final int X = 0;
  private static final int Y = 1;
  private static final int Z = 2;

  /** Step numbers of a tree: arrivals, then the exit. */
  private static final int UP = 0;

  private static final int DOWN = 1;

  private final Participants group;
  private final BarrierSpec spec;
  private final int n;

  private PlainPlanner(Participants group, BarrierSpec spec) {
    this.group = group;
    this.spec = spec;
    this.n = group.size();
  }

  static BarrierPlan plan(Participants group, BarrierSpec spec, int self) {
    return new BarrierPlan(self, new PlainPlanner(group, spec).steps(group.rank(self)));
  }

  private List<Step> steps(int rank) {
    return switch (spec.algorithm()) {
      case DISSEMINATION -> dissemination(rank);
      case BINARY -> tree(rank, r -> parentOfRadix(r, 2));
      case TERNARY -> tree(rank, r -> parentOfRadix(r, 3));
      case QUATERNARY -> tree(rank, r -> parentOfRadix(r, 4));
      case CONCURRENT -> tree(rank, r -> 0);
      case CROSSBAR -> tree(rank, this::centreOf);
      case CHASSIS -> tree(rank, this::parentInChassis);
      case EXCHANGE -> exchange(rank);
    };
  }

  // --- dissemination ----------------------------------------------------------------------------

  private List<Step> dissemination(int rank) {
    List<Step> steps = new ArrayList<>();
    int number = 0;
    int[] sources = {};
    for (int distance = 1; distance < n; distance *= 2) {
      Send send = toOne(number + 1, (rank + distance) % n, number);
      steps.add(step(number, sources, List.of(send)));
      sources = new int[] {(rank - distance + n) % n};
      number++;
    }
    steps.add(step(number, sources, List.of()));
    return steps;
  }

  // --- trees ------------------------------------------------------------------------------------

  /**
   * The parent in a tree of radix r: the lowest digit that is not 0 becomes 0. So a node reports
   * for the r^j ranks from its own on, r subtrees become one in each phase, and there are log_r n
   * phases.
   */
  private static int parentOfRadix(int rank, int radix) {
    int unit = 1;
    while (rank / unit % radix == 0) {
      unit *= radix;
    }
    return rank - rank / unit % radix * unit;
  }

  /** The centre of the line in X; of a centre, that of the plane in Y and X; of those, rank 0. */
  private int centreOf(int rank) {
    int row = firstWith(rank, true);
    return row != rank ? row : firstOfPlane(rank) != rank ? firstOfPlane(rank) : 0;
  }

  private int firstOfPlane(int rank) {
    return firstWith(rank, false);
  }

  /** Ranks go by node number, so those of one row follow one another, and rows of one plane. */
  private int firstWith(int rank, boolean sameRow) {
    Coordinates c = group.at(rank);
    int first = rank;
    while (first > 0) {
      Coordinates before = group.at(first - 1);
      if (before.z() != c.z() || sameRow && before.y() != c.y()) {
        break;
      }
      first--;
    }
    return first;
  }

  /**
   * Of a group's centre, the node of the parent group that it belongs to; of others, the centre.
   */
  private int parentInChassis(int rank) {
    int k = spec.chassisNodes();
    int chassis = rank / k;
    return rank % k != 0 ? chassis * k : chassis - 1;
  }

  private List<Step> tree(int rank, IntUnaryOperator parentOf) {
    int[] children =
        IntStream.range(1, n).filter(r -> r != rank && parentOf.applyAsInt(r) == rank).toArray();
    List<Send> exit = exit(rank, children);
    if (rank == 0) {
      return List.of(step(UP, children, exit));
    }
    int parent = parentOf.applyAsInt(rank);
    int way = childIndex(rank, parent, parentOf);
    int leaver = exitsByLines() ? sourceOfExit(rank) : parent;
    return List.of(
        step(UP, children, List.of(toOne(UP, parent, way))), step(DOWN, new int[] {leaver}, exit));
  }

  /** Children of one parent take different rails. */
  private static int childIndex(int rank, int parent, IntUnaryOperator parentOf) {
    int index = 0;
    for (int r = parent + 1; r < rank; r++) {
      index += parentOf.applyAsInt(r) == parent ? 1 : 0;
    }
    return index;
  }

  /** The exit of a chassis follows its tree; of all others that use lines, the lines. */
  private boolean exitsByLines() {
    return spec.lines() && spec.algorithm() != BarrierAlgorithm.CHASSIS;
  }

  private List<Send> exit(int rank, int[] children) {
    List<Send> sends = new ArrayList<>();
    if (exitsByLines()) {
      for (int d = Z; d >= X; d--) {
        sends.addAll(toAll(DOWN, rank, exitsOf(rank, d)));
      }
    } else if (spec.lines()) {
      int[] chassis = Arrays.stream(children).filter(c -> c % spec.chassisNodes() != 0).toArray();
      sends.addAll(toAll(DOWN, rank, chassis));
      Arrays.stream(children)
          .filter(c -> c % spec.chassisNodes() == 0)
          .forEach(c -> sends.add(toOne(DOWN, c, 0)));
    } else {
      // The farthest subtree is the deepest: it goes first.
      for (int i = children.length - 1; i >= 0; i--) {
        sends.add(toOne(DOWN, children[i], i));
      }
    }
    return sends;
  }

  /** Whom the exit reaches from a rank in one dimension: centres in Z and Y, all of a row in X. */
  private int[] exitsOf(int rank, int dimension) {
    int row = firstWith(rank, true);
    int plane = firstOfPlane(rank);
    IntStream others = IntStream.range(0, n).filter(r -> r != rank);
    return switch (dimension) {
      case Z -> rank != 0 ? new int[0] : others.filter(r -> firstOfPlane(r) == r).toArray();
      case Y ->
          rank != plane
              ? new int[0]
              : others
                  .filter(r -> firstWith(r, true) == r && firstOfPlane(r) == plane && r != plane)
                  .toArray();
      default -> rank != row ? new int[0] : others.filter(r -> firstWith(r, true) == row).toArray();
    };
  }

  private int sourceOfExit(int rank) {
    return centreOf(rank);
  }

  // --- exchange along lines ---------------------------------------------------------------------

  private List<Step> exchange(int rank) {
    List<Step> steps = new ArrayList<>();
    int[] awaited = {};
    int number = 0;
    for (int d = X; d <= Z; d++) {
      int[] line = lineMates(rank, d);
      if (line.length > 0) {
        steps.add(step(number, awaited, toAll(number + 1, rank, line)));
        awaited = line;
        number++;
      }
    }
    steps.add(step(number, awaited, List.of()));
    return steps;
  }

  /** The others of a rank's line that are members. */
  private int[] lineMates(int rank, int dimension) {
    TreeMap<Integer, Integer> extents = new TreeMap<>();
    for (int d = X; d <= Z; d++) {
      int axis = d;
      extents.put(
          d, (int) IntStream.range(0, n).map(r -> group.at(r).get(axis)).distinct().count());
    }
    if (extents.values().stream().reduce(1, (a, b) -> a * b) != n) {
      throw new IllegalArgumentException(
          "barrier \""
              + spec
              + "\" needs a group that is a box of the shape; "
              + group
              + " is none");
    }
    return IntStream.range(0, n)
        .filter(r -> r != rank && lineOf(rank, new int[] {r}) == dimension)
        .toArray();
  }

  /** The dimension in which alone these ranks differ from one another, or -1. */
  private int lineOf(int rank, int[] others) {
    int mask = 0;
    Coordinates c = group.at(rank);
    for (int other : others) {
      Coordinates o = group.at(other);
      for (int d = 0; d < Dimension.COUNT; d++) {
        mask |= c.get(d) != o.get(d) ? 1 << d : 0;
      }
    }
    return Integer.bitCount(mask) == 1 ? Integer.numberOfTrailingZeros(mask) : -1;
  }

  // --- frames -----------------------------------------------------------------------------------

  private Step step(int number, int[] sourceRanks, List<Send> sends) {
    return new Step(number, nodes(sourceRanks), sends);
  }

  private Send toOne(int step, int rank, int way) {
    return new Send(step, new int[] {group.node(rank)}, way % spec.rails(), -1);
  }

  /** By one frame if a line reaches them, else by one each. */
  private List<Send> toAll(int step, int rank, int[] ranks) {
    int line = spec.lines() && ranks.length > 1 ? lineOf(rank, ranks) : -1;
    if (line >= 0) {
      return List.of(new Send(step, nodes(ranks), place(rank, line) % spec.rails(), line));
    }
    return IntStream.range(0, ranks.length).mapToObj(i -> toOne(step, ranks[i], i)).toList();
  }

  /** Who sends to one line at the same time, as in an exchange, does so over different rails. */
  private int place(int rank, int line) {
    return group.at(rank).get(line);
  }

  private int[] nodes(int[] ranks) {
    return Arrays.stream(ranks).map(group::node).toArray();
  }
}
