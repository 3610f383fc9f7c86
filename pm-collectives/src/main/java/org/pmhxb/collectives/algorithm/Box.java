package org.pmhxb.collectives.algorithm;

import java.util.Arrays;
import java.util.TreeSet;
import org.pmhxb.collectives.Problem;
import org.pmhxb.router.Coordinates;
import org.pmhxb.router.Shape;

/**
 * A group that fills a box of the crossbar: some coordinates of each dimension, and all nodes that
 * have these. Its lines are those of the box.
 */
final class Box {
  private static final int DIMENSIONS = 3;

  private final Problem problem;
  private final Shape shape;
  private final int[][] used = new int[DIMENSIONS][];
  private final int[] rankOfNode;

  private Box(Problem problem) {
    this.problem = problem;
    this.shape = problem.topology().shape();
    this.rankOfNode = new int[shape.nodes()];
    for (int d = 0; d < DIMENSIONS; d++) {
      TreeSet<Integer> coordinates = new TreeSet<>();
      for (int r = 0; r < problem.size(); r++) {
        coordinates.add(shape.coordinates(problem.group().node(r)).get(d));
      }
      used[d] = coordinates.stream().mapToInt(c -> c).toArray();
    }
    for (int r = 0; r < problem.size(); r++) {
      rankOfNode[problem.group().node(r)] = r;
    }
  }

  static String objection(Problem problem) {
    if (problem.topology().shape() == null) {
      return "the topology is no crossbar";
    }
    Box box = new Box(problem);
    if (box.extent(0) * box.extent(1) * box.extent(2) != problem.size()) {
      return "the group fills no box of the crossbar";
    }
    long lines = Arrays.stream(box.used).filter(u -> u.length > 1).count();
    return lines < 2 ? "the group lies in one line" : null;
  }

  static Box of(Problem problem) {
    return new Box(problem);
  }

  /** Coordinates used of a dimension, 0 to 2. */
  int extent(int dimension) {
    return used[dimension].length;
  }

  int dimensions() {
    return DIMENSIONS;
  }

  private Coordinates at(int rank) {
    return shape.coordinates(problem.group().node(rank));
  }

  /** The rank that has one rank's coordinates below a dimension, and another's from it on. */
  int mixed(int below, int from, int dimension) {
    Coordinates a = at(below);
    Coordinates b = at(from);
    return rankOfNode[
        shape.node(
            new Coordinates(
                dimension > 0 ? a.x() : b.x(),
                dimension > 1 ? a.y() : b.y(),
                dimension > 2 ? a.z() : b.z()))];
  }

  /** Whether two ranks have the same coordinates from a dimension on. */
  boolean sameFrom(int a, int b, int dimension) {
    return mixed(a, b, dimension) == a;
  }

  /** A rank's line in a dimension, in a circle from where another rank's coordinate is. */
  Members line(int rank, int dimension, int first) {
    Coordinates c = at(rank);
    int[] coordinates = used[dimension];
    int start = Arrays.binarySearch(coordinates, at(first).get(dimension));
    int[] ranks = new int[coordinates.length];
    for (int i = 0; i < ranks.length; i++) {
      int value = coordinates[(start + i) % coordinates.length];
      ranks[i] =
          rankOfNode[
              shape.node(
                  new Coordinates(
                      dimension == 0 ? value : c.x(),
                      dimension == 1 ? value : c.y(),
                      dimension == 2 ? value : c.z()))];
    }
    return Members.of(problem.rank(), ranks);
  }
}
