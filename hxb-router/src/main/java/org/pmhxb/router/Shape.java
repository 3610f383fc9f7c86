package org.pmhxb.router;

import java.util.Arrays;

/**
 * The extents of a hyper-crossbar of 1 to 3 dimensions, and the numbering of its nodes: X runs
 * fastest.
 *
 * <p>Immutable; safe to share between threads and between the nodes of one process, which keeps the
 * coordinate table of a 2,560-node shape at 10 KB for all of them.
 *
 * <p>A <em>position</em> is a node's coordinates packed into one int, a bit field per dimension.
 * The exclusive-or of two positions shows in which dimensions two nodes differ, so a relay needs
 * one look-up per node and no division. At most 65,535 nodes keep the fields within 19 bits.
 */
public final class Shape {
  /** Largest number of nodes, and so of any extent. */
  public static final int MAX_NODES = 65_535;

  private final int[] extents;
  private final int dimensions;
  private final int nodes;
  private final int[] shifts = new int[Dimension.COUNT];
  private final int[] fields = new int[Dimension.COUNT];
  private final int fieldX;
  private final int fieldY;
  private final int fieldZ;
  private final int endX;
  private final int endY;
  private final int endZ;
  private final int[] positions;

  private Shape(int[] given) {
    this.dimensions = given.length;
    this.extents = new int[] {1, 1, 1};
    System.arraycopy(given, 0, extents, 0, given.length);
    this.nodes = extents[0] * extents[1] * extents[2];
    int shift = 0;
    for (int d = 0; d < Dimension.COUNT; d++) {
      int bits = Integer.SIZE - Integer.numberOfLeadingZeros(extents[d] - 1);
      shifts[d] = shift;
      fields[d] = (1 << bits) - 1 << shift;
      shift += bits;
    }
    this.fieldX = fields[0];
    this.fieldY = fields[1];
    this.fieldZ = fields[2];
    this.endX = shifts[1];
    this.endY = shifts[2];
    this.endZ = shift;
    this.positions = new int[nodes];
    int node = 0;
    for (int z = 0; z < extents[2]; z++) {
      for (int y = 0; y < extents[1]; y++) {
        for (int x = 0; x < extents[0]; x++) {
          positions[node++] = x | y << shifts[1] | z << shifts[2];
        }
      }
    }
  }

  /**
   * A shape of 1 to 3 extents, each at least 1, together at most {@link #MAX_NODES} nodes.
   *
   * @throws IllegalArgumentException naming the extents and the limit
   */
  public static Shape of(int... extents) {
    String text = format(extents);
    if (extents.length < 1 || extents.length > Dimension.COUNT) {
      throw new IllegalArgumentException(
          "shape \"" + text + "\" has " + extents.length + " dimensions, not 1 to 3");
    }
    long product = 1;
    for (int extent : extents) {
      if (extent < 1 || extent > MAX_NODES) {
        throw new IllegalArgumentException(
            "shape \"" + text + "\": extent " + extent + " is not in 1.." + MAX_NODES);
      }
      product *= extent;
    }
    if (product > MAX_NODES) {
      throw new IllegalArgumentException(
          "shape \"" + text + "\" has " + product + " nodes, more than " + MAX_NODES);
    }
    return new Shape(extents);
  }

  /**
   * Reads {@code "2x2x2"}, {@code "3x3"} or {@code "4"}.
   *
   * @throws IllegalArgumentException naming the text and the form expected
   */
  public static Shape parse(String text) {
    String[] parts = text.strip().split("[xX]", -1);
    if (parts.length > Dimension.COUNT) {
      throw new IllegalArgumentException(
          "shape \"" + text + "\" has " + parts.length + " dimensions, not 1 to 3");
    }
    int[] extents = new int[parts.length];
    for (int i = 0; i < parts.length; i++) {
      if (!parts[i].matches("[0-9]{1,6}")) {
        throw new IllegalArgumentException(
            "shape \"" + text + "\" is not 1 to 3 extents joined by x, as in \"2x2x2\" or \"4\"");
      }
      extents[i] = Integer.parseInt(parts[i]);
    }
    return of(extents);
  }

  /** Dimensions as written, 1 to 3; those of extent 1 count. */
  public int dimensions() {
    return dimensions;
  }

  /** Nodes along a dimension, 0 to 2; 1 beyond those written. */
  public int extent(int dimension) {
    return extents[dimension];
  }

  /** Number of nodes. */
  public int nodes() {
    return nodes;
  }

  /** Whether the coordinates lie in this shape. */
  public boolean contains(Coordinates c) {
    return c.x() < extents[0] && c.y() < extents[1] && c.z() < extents[2];
  }

  /**
   * The number of the node at the coordinates.
   *
   * @throws IllegalArgumentException when they lie outside
   */
  public int node(Coordinates c) {
    if (!contains(c)) {
      throw new IllegalArgumentException("coordinates " + c + " lie outside the shape " + this);
    }
    return c.x() + extents[0] * (c.y() + extents[1] * c.z());
  }

  /** The coordinates of a node, 0 to {@link #nodes()} - 1. */
  public Coordinates coordinates(int node) {
    if (node < 0 || node >= nodes) {
      throw new IllegalArgumentException(
          "node " + node + " is not in 0.." + (nodes - 1) + " of the shape " + this);
    }
    int position = positions[node];
    return new Coordinates(
        coordinate(position, 0), coordinate(position, 1), coordinate(position, 2));
  }

  /** Ethernet hops between two nodes: the dimensions in which they differ. */
  public int hops(int a, int b) {
    return Integer.bitCount(differing(positions[a], positions[b]));
  }

  /** The packed coordinates of a node. */
  int position(int node) {
    return positions[node];
  }

  /** One coordinate out of packed ones. */
  int coordinate(int position, int dimension) {
    return (position & fields[dimension]) >>> shifts[dimension];
  }

  /** The bits of a dimension within packed coordinates. */
  int field(int dimension) {
    return fields[dimension];
  }

  /**
   * Bit d is set when the positions differ in dimension d. Without branches: adding a field's
   * greatest value to its difference carries beyond the field exactly when the difference is not 0.
   */
  int differing(int a, int b) {
    int difference = a ^ b;
    return (difference & fieldX) + fieldX >>> endX & 1
        | ((difference & fieldY) + fieldY >>> endY & 1) << 1
        | ((difference & fieldZ) + fieldZ >>> endZ & 1) << 2;
  }

  /** The lowest bit of a dimension within packed coordinates. */
  int shift(int dimension) {
    return shifts[dimension];
  }

  /** Same extents: {@code 4}, {@code 4x1} and {@code 4x1x1} number and route alike. */
  @Override
  public boolean equals(Object other) {
    return other instanceof Shape s && Arrays.equals(extents, s.extents);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(extents);
  }

  /** As written, {@link #parse} reads it. */
  @Override
  public String toString() {
    return format(Arrays.copyOf(extents, dimensions));
  }

  static String format(int... extents) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < extents.length; i++) {
      text.append(i == 0 ? "" : "x").append(extents[i]);
    }
    return text.toString();
  }
}
