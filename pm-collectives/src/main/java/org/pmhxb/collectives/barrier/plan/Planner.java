package org.pmhxb.collectives.barrier.plan;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;
import org.pmhxb.collectives.barrier.plan.BarrierPlan.Send;
import org.pmhxb.collectives.barrier.plan.BarrierPlan.Step;
import org.pmhxb.router.Coordinates;
import org.pmhxb.router.Dimension;

/**
 * Makes plans: who awaits whom, for each algorithm. Works on ranks; a plan names nodes. Every node
 * plans for itself alone, and the plans of all fit together because all plan by the same rule.
 *
 * <p>What ranks have in common (rows and planes of the group, the tree, the box) is found once, in
 * time that grows as the group does; then a rank's plan takes as long as it is.
 */
public final class Planner {
  private static final int X = 0;
  private static final int Y = 1;
  private static final int Z = 2;

  /** Step numbers of a tree: arrivals, then the exit. */
  private static final int UP = 0;

  private static final int DOWN = 1;

  private static final int[] NOBODY = {};

  private final Participants group;
  private final BarrierSpec spec;
  private final int n;

  /** By dimension and rank. */
  private final int[][] coordinates;

  /** By rank: the first of its row, and the first of its plane. */
  private final int[] rows;

  private final int[] planes;

  /** How many different coordinates there are in each dimension. */
  private final int[] extents;

  /** By rank, of a tree: whom it reports to, as which of that one's children, and its own. */
  private final int[] parents;

  private final int[] places;
  private final int[][] children;

  /** Frames to one node that many send alike, by step, way and rank. */
  private Send[] shared;

  /** Ranks looked at so far, once for each time. */
  private long looks;

  private Planner(Participants group, BarrierSpec spec) {
    this.group = group;
    this.spec = spec;
    this.n = group.size();
    this.coordinates = new int[Dimension.COUNT][n];
    for (int rank = 0; rank < n; rank++) {
      looks++;
      Coordinates c = group.at(rank);
      for (int d = X; d <= Z; d++) {
        coordinates[d][rank] = c.get(d);
      }
    }
    this.rows = firsts(Y);
    this.planes = firsts(Z);
    this.extents = IntStream.rangeClosed(X, Z).map(this::extent).toArray();
    this.parents = new int[n];
    this.places = new int[n];
    this.children = new int[n][];
    growTree();
  }

  /**
   * @param self a member's node number
   * @throws IllegalArgumentException the node is no member, or the algorithm does not suit the
   *     group
   */
  public static BarrierPlan plan(Participants group, BarrierSpec spec, int self) {
    int rank = group.rank(self);
    if (rank < 0) {
      throw new IllegalArgumentException("node " + self + " is none of the group " + group);
    }
    return new Planner(group, spec).plan(rank);
  }

  /** The plans of all members, by rank. */
  public static List<BarrierPlan> plans(Participants group, BarrierSpec spec) {
    return new Planner(group, spec).plans();
  }

  /** Frames that all members together send in one barrier. */
  public static int frames(Participants group, BarrierSpec spec) {
    return frames(plans(group, spec));
  }

  /** Frames of these plans together. */
  public static int frames(List<BarrierPlan> plans) {
    return plans.stream().mapToInt(BarrierPlan::frames).sum();
  }

  /** Whether there are plans: an exchange needs a box. */
  public static boolean suits(Participants group, BarrierSpec spec) {
    return spec.algorithm() != BarrierAlgorithm.EXCHANGE || new Planner(group, spec).isBox();
  }

  /** How often the making of all plans looks at a rank. */
  static long looks(Participants group, BarrierSpec spec) {
    Planner planner = new Planner(group, spec);
    planner.plans();
    return planner.looks;
  }

  private List<BarrierPlan> plans() {
    return IntStream.range(0, n).mapToObj(this::plan).toList();
  }

  private BarrierPlan plan(int rank) {
    List<Step> steps =
        switch (spec.algorithm()) {
          case DISSEMINATION -> dissemination(rank);
          case EXCHANGE -> exchange(rank);
          default -> tree(rank);
        };
    return new BarrierPlan(group.node(rank), steps);
  }

  /**
   * For each rank the first that shares its coordinates from a dimension on upwards. Ranks go by
   * node number, so those of one row follow one another, and rows of one plane.
   */
  private int[] firsts(int dimension) {
    int[] firsts = new int[n];
    for (int rank = 1; rank < n; rank++) {
      looks++;
      boolean same = true;
      for (int d = dimension; d <= Z; d++) {
        same &= coordinates[d][rank] == coordinates[d][rank - 1];
      }
      firsts[rank] = same ? firsts[rank - 1] : rank;
    }
    return firsts;
  }

  private int extent(int dimension) {
    looks += n;
    BitSet found = new BitSet();
    for (int coordinate : coordinates[dimension]) {
      found.set(coordinate);
    }
    return found.cardinality();
  }

  // --- dissemination ----------------------------------------------------------------------------

  private List<Step> dissemination(int rank) {
    List<Step> steps = new ArrayList<>();
    int number = 0;
    int[] sources = NOBODY;
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

  /** All but rank 0 have a parent, of a lower rank. */
  private void growTree() {
    int[] counts = new int[n];
    for (int rank = 1; rank < n; rank++) {
      looks++;
      parents[rank] = parentOf(rank);
      places[rank] = counts[parents[rank]]++;
    }
    Arrays.setAll(children, rank -> counts[rank] == 0 ? NOBODY : new int[counts[rank]]);
    for (int rank = 1; rank < n; rank++) {
      looks++;
      children[parents[rank]][places[rank]] = rank;
    }
  }

  private int parentOf(int rank) {
    return switch (spec.algorithm()) {
      case BINARY -> parentOfRadix(rank, 2);
      case TERNARY -> parentOfRadix(rank, 3);
      case QUATERNARY -> parentOfRadix(rank, 4);
      case CROSSBAR -> centreOf(rank);
      case CHASSIS -> parentInChassis(rank);
      case CONCURRENT, DISSEMINATION, EXCHANGE -> 0;
    };
  }

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
    return rows[rank] != rank ? rows[rank] : planes[rank] != rank ? planes[rank] : 0;
  }

  /**
   * Of a group's centre, the node of the parent group that it belongs to; of others, the centre.
   */
  private int parentInChassis(int rank) {
    int k = spec.chassisNodes();
    int chassis = rank / k;
    return rank % k != 0 ? chassis * k : chassis - 1;
  }

  /** Children of one parent take different rails. */
  private List<Step> tree(int rank) {
    List<Send> exit = exit(rank);
    if (rank == 0) {
      return List.of(step(UP, children[rank], exit));
    }
    int leaver = exitsByLines() ? centreOf(rank) : parents[rank];
    return List.of(
        step(UP, children[rank], List.of(toOne(UP, parents[rank], places[rank]))),
        step(DOWN, new int[] {leaver}, exit));
  }

  /** The exit of a chassis follows its tree; of all others that use lines, the lines. */
  private boolean exitsByLines() {
    return spec.lines() && spec.algorithm() != BarrierAlgorithm.CHASSIS;
  }

  private List<Send> exit(int rank) {
    int[] down = children[rank];
    List<Send> sends = new ArrayList<>();
    if (exitsByLines()) {
      for (int d = Z; d >= X; d--) {
        sends.addAll(toAll(DOWN, rank, exitsOf(rank, d)));
      }
    } else if (spec.lines()) {
      int[] chassis = Arrays.stream(down).filter(c -> c % spec.chassisNodes() != 0).toArray();
      sends.addAll(toAll(DOWN, rank, chassis));
      Arrays.stream(down)
          .filter(c -> c % spec.chassisNodes() == 0)
          .forEach(c -> sends.add(toOne(DOWN, c, 0)));
    } else {
      // The farthest subtree is the deepest: it goes first.
      for (int i = down.length - 1; i >= 0; i--) {
        sends.add(toOne(DOWN, down[i], i));
      }
    }
    return sends;
  }

  /** Whom the exit reaches from a rank in one dimension: centres in Z and Y, all of a row in X. */
  private int[] exitsOf(int rank, int dimension) {
    return switch (dimension) {
      case Z -> rank == 0 ? centres(0, n, planes) : NOBODY;
      case Y -> rank == planes[rank] ? centres(rank, end(rank, planes), rows) : NOBODY;
      default -> rank == rows[rank] ? IntStream.range(rank + 1, end(rank, rows)).toArray() : NOBODY;
    };
  }

  /** The ranks from behind {@code first} on that are the first of their rows, or planes. */
  private int[] centres(int first, int end, int[] firsts) {
    looks += end - first;
    return IntStream.range(first + 1, end).filter(r -> firsts[r] == r).toArray();
  }

  /** Behind the last rank of a row, or plane. */
  private int end(int first, int[] firsts) {
    int end = first + 1;
    while (end < n && firsts[end] == first) {
      end++;
    }
    looks += end - first;
    return end;
  }

  // --- exchange along lines ---------------------------------------------------------------------

  private List<Step> exchange(int rank) {
    if (!isBox()) {
      throw new IllegalArgumentException(
          "barrier \""
              + spec
              + "\" needs a group that is a box of the shape; "
              + group
              + " is none");
    }
    List<Step> steps = new ArrayList<>();
    int[] awaited = NOBODY;
    int number = 0;
    int stride = 1;
    for (int d = X; d <= Z; d++) {
      int[] line = lineMates(rank, extents[d], stride);
      if (line.length > 0) {
        steps.add(step(number, awaited, toAll(number + 1, rank, line)));
        awaited = line;
        number++;
      }
      stride *= extents[d];
    }
    steps.add(step(number, awaited, List.of()));
    return steps;
  }

  /** Whether every combination of the members' coordinates is a member's. */
  private boolean isBox() {
    return extents[X] * extents[Y] * extents[Z] == n;
  }

  /** The others of a rank's line in a box, where they follow one another at equal distances. */
  private int[] lineMates(int rank, int extent, int stride) {
    looks += extent;
    int place = rank / stride % extent;
    int first = rank - place * stride;
    int[] mates = new int[extent - 1];
    for (int i = 0; i < mates.length; i++) {
      mates[i] = first + (i < place ? i : i + 1) * stride;
    }
    return mates;
  }

  // --- frames -----------------------------------------------------------------------------------

  private Step step(int number, int[] sourceRanks, List<Send> sends) {
    return new Step(number, nodes(sourceRanks), sends);
  }

  private Send toOne(int step, int rank, int way) {
    looks++;
    return new Send(step, new int[] {group.node(rank)}, way % spec.rails(), -1);
  }

  /** By one frame if a line reaches them, else by one each. */
  private List<Send> toAll(int step, int rank, int[] ranks) {
    int line = spec.lines() && ranks.length > 1 ? lineOf(rank, ranks) : -1;
    if (line >= 0) {
      // Who sends to one line at the same time, as in an exchange, does so over different rails.
      int way = coordinates[line][rank] % spec.rails();
      return List.of(new Send(step, nodes(ranks), way, line));
    }
    Send[] sends = new Send[ranks.length];
    Arrays.setAll(sends, i -> sharedToOne(step, ranks[i], i % spec.rails()));
    return List.of(sends);
  }

  /** The same object for all that send it: in an exchange everyone sends to everyone of a line. */
  private Send sharedToOne(int step, int rank, int way) {
    if (shared == null) {
      shared = new Send[(Dimension.COUNT + 1) * spec.rails() * n];
    }
    looks++;
    int at = (step * spec.rails() + way) * n + rank;
    if (shared[at] == null) {
      shared[at] = toOne(step, rank, way);
    }
    return shared[at];
  }

  /** The dimension in which alone these ranks differ from one another, or -1. */
  private int lineOf(int rank, int[] others) {
    int mask = 0;
    for (int d = X; d <= Z; d++) {
      for (int other : others) {
        mask |= coordinates[d][rank] != coordinates[d][other] ? 1 << d : 0;
      }
    }
    looks += others.length;
    return Integer.bitCount(mask) == 1 ? Integer.numberOfTrailingZeros(mask) : -1;
  }

  private int[] nodes(int[] ranks) {
    looks += ranks.length;
    int[] nodes = new int[ranks.length];
    Arrays.setAll(nodes, i -> group.node(ranks[i]));
    return nodes;
  }
}
