package org.pmhxb.collectives.barrier.plan;

import java.util.Arrays;
import java.util.BitSet;
import org.pmhxb.pm.PmNode;
import org.pmhxb.router.Coordinates;
import org.pmhxb.router.DimensionOrderRouting;
import org.pmhxb.router.RailLayout;
import org.pmhxb.router.Shape;

/**
 * Who takes part in a barrier, and where in the machine they are. Ranks count the members in the
 * order of their node numbers, from 0. Immutable.
 */
public final class Participants {
  private final Shape shape;
  private final int railsPerDimension;
  private final RailLayout layout;
  private final int[] members;

  private Participants(Shape shape, int railsPerDimension, int[] members) {
    this.shape = shape;
    this.railsPerDimension = railsPerDimension;
    this.layout = new RailLayout(shape, railsPerDimension);
    this.members = members;
  }

  /**
   * @param members node numbers of the shape, each once, in any order; 1 or more
   * @throws IllegalArgumentException names the number that is wrong
   */
  public static Participants of(Shape shape, int railsPerDimension, int... members) {
    int[] sorted = members.clone();
    Arrays.sort(sorted);
    if (sorted.length == 0) {
      throw new IllegalArgumentException("a group of no nodes");
    }
    for (int i = 0; i < sorted.length; i++) {
      if (sorted[i] < 0 || sorted[i] >= shape.nodes()) {
        throw new IllegalArgumentException(
            "node " + sorted[i] + " in a group: nodes are 0.." + (shape.nodes() - 1));
      }
      if (i > 0 && sorted[i] == sorted[i - 1]) {
        throw new IllegalArgumentException("node " + sorted[i] + " twice in a group");
      }
    }
    return new Participants(shape, railsPerDimension, sorted);
  }

  /** All nodes of the machine that {@code node} is part of. */
  public static Participants all(PmNode node) {
    int[] everyone = new int[node.nodes()];
    Arrays.setAll(everyone, i -> i);
    return among(node, everyone);
  }

  /** These nodes of the machine that {@code node} is part of. */
  public static Participants among(PmNode node, int... members) {
    if (node.routing() instanceof DimensionOrderRouting routing) {
      return of(routing.shape(), routing.layout().perDimension(), members);
    }
    int other = node.self() == 0 ? 1 : 0;
    int rails = node.nodes() < 2 ? 1 : node.routing().pathCount(other);
    return of(Shape.of(node.nodes()), rails, members);
  }

  /** The nodes whose bit is set, of the machine that {@code node} is part of. */
  public static Participants among(PmNode node, BitSet mask) {
    return among(node, mask.stream().toArray());
  }

  public int size() {
    return members.length;
  }

  /** The node number of a rank. */
  public int node(int rank) {
    return members[rank];
  }

  /** Whether a number that came over the wire is a member's. */
  public boolean isMember(long node) {
    return node >= 0 && node <= Integer.MAX_VALUE && rank((int) node) >= 0;
  }

  /** The rank of a node, or -1. */
  public int rank(int node) {
    if (members.length == shape.nodes()) {
      return node >= 0 && node < members.length ? node : -1; // everyone is a member
    }
    int at = Arrays.binarySearch(members, node);
    return at < 0 ? -1 : at;
  }

  public Shape shape() {
    return shape;
  }

  public int railsPerDimension() {
    return railsPerDimension;
  }

  /** The number of a rail among a node's, by its dimension and its index there, modulo. */
  public int rail(int dimension, int index) {
    return layout.rail(dimension, index % railsPerDimension);
  }

  Coordinates at(int rank) {
    return shape.coordinates(members[rank]);
  }

  /** A hash of group and algorithm, the same on all nodes: frames of another are not read. */
  public int hash(BarrierSpec spec) {
    long h = 0x9E37_79B9_7F4A_7C15L;
    for (int member : members) {
      h = mix(h ^ member);
    }
    for (int i = 0; i < spec.toString().length(); i++) {
      h = mix(h ^ spec.toString().charAt(i));
    }
    return (int) (h >>> 32);
  }

  private static long mix(long value) {
    long z = value * 0xBF58_476D_1CE4_E5B9L;
    return (z ^ z >>> 29) * 0x94D0_49BB_1331_11EBL;
  }

  @Override
  public String toString() {
    return size() == shape.nodes() ? "all of " + shape : Arrays.toString(members) + " of " + shape;
  }
}
