package org.pmhxb.mpi.launch;

import java.util.Locale;
import org.pmhxb.router.Coordinates;
import org.pmhxb.router.Shape;

/** Which node each rank gets. */
public enum Placement {
  /**
   * X first, then Y, then Z: the ranks of an X line follow each other, and a program that takes
   * rank = x + X * (y + Y * z) has its Cartesian neighbours one hop away.
   */
  LINES,

  /** As LINES, but every second line backwards: any two successive ranks are on one line. */
  SNAKE;

  /**
   * The node of every rank.
   *
   * @param ranks at most one per node
   * @throws IllegalArgumentException more ranks than nodes
   */
  public int[] nodes(Shape shape, int ranks) {
    if (ranks < 1 || ranks > shape.nodes()) {
      throw new IllegalArgumentException(
          ranks + " ranks on shape " + shape + "; must be in 1.." + shape.nodes());
    }
    int[] nodes = new int[ranks];
    for (int rank = 0; rank < ranks; rank++) {
      nodes[rank] = node(shape, rank);
    }
    return nodes;
  }

  private int node(Shape shape, int rank) {
    int x = rank % shape.extent(0);
    int line = rank / shape.extent(0);
    int y = line % shape.extent(1);
    int z = line / shape.extent(1);
    if (this == SNAKE) {
      x = line % 2 == 0 ? x : shape.extent(0) - 1 - x;
      y = z % 2 == 0 ? y : shape.extent(1) - 1 - y;
    }
    return shape.node(new Coordinates(x, y, z));
  }

  /** A line per rank, for people. */
  public static String describe(Shape shape, int[] nodeOfRank) {
    StringBuilder text = new StringBuilder();
    for (int rank = 0; rank < nodeOfRank.length; rank++) {
      Coordinates c = shape.coordinates(nodeOfRank[rank]);
      int hops = rank == 0 ? 0 : hops(shape.coordinates(nodeOfRank[rank - 1]), c);
      text.append(
          String.format(
              Locale.ROOT,
              "rank %-4d node %-4d (%d,%d,%d)%s%n",
              rank,
              nodeOfRank[rank],
              c.x(),
              c.y(),
              c.z(),
              rank == 0 ? "" : "  hops from rank " + (rank - 1) + ": " + hops));
    }
    return text.toString();
  }

  private static int hops(Coordinates a, Coordinates b) {
    int hops = 0;
    for (int d = 0; d < 3; d++) {
      hops += a.get(d) == b.get(d) ? 0 : 1;
    }
    return hops;
  }
}
