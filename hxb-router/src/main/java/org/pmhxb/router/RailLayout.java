package org.pmhxb.router;

/**
 * A node's rails by number: dimension after dimension, within a dimension by index. A dimension of
 * extent 1 has no rails and takes no numbers, so the numbers are always 0 to {@link #count()} - 1;
 * where no extent is 1, rail = dimension x rails per dimension + index.
 *
 * <p>The NICs with the same index along one line share one switch, so a frame sent on index i
 * arrives on index i. Immutable.
 */
public final class RailLayout {
  /** Most rails in one dimension: the paper's nine links (table 4), and a hex digit on the wire. */
  public static final int MAX_PER_DIMENSION = 9;

  private final int perDimension;
  private final int count;
  private final int[] bases = new int[Dimension.COUNT];
  private final boolean[] present = new boolean[Dimension.COUNT];
  private final byte[] dimensions;
  private final byte[] indices;

  /**
   * @param perDimension rails in each dimension of extent 2 or more, 1 to 9
   */
  public RailLayout(Shape shape, int perDimension) {
    if (perDimension < 1 || perDimension > MAX_PER_DIMENSION) {
      throw new IllegalArgumentException(
          perDimension + " rails per dimension is not in 1.." + MAX_PER_DIMENSION);
    }
    this.perDimension = perDimension;
    int next = 0;
    for (int d = 0; d < Dimension.COUNT; d++) {
      bases[d] = next;
      present[d] = shape.extent(d) > 1;
      next += present[d] ? perDimension : 0;
    }
    this.count = next;
    this.dimensions = new byte[count];
    this.indices = new byte[count];
    for (int d = 0; d < Dimension.COUNT; d++) {
      for (int i = 0; present[d] && i < perDimension; i++) {
        dimensions[bases[d] + i] = (byte) d;
        indices[bases[d] + i] = (byte) i;
      }
    }
  }

  /** Rails of one node. */
  public int count() {
    return count;
  }

  /** Rails in each dimension that has any. */
  public int perDimension() {
    return perDimension;
  }

  /** Whether a dimension has rails. */
  public boolean present(int dimension) {
    return present[dimension];
  }

  /**
   * The number of a rail.
   *
   * @throws IllegalArgumentException when the shape has no such rail
   */
  public int rail(int dimension, int index) {
    if (dimension < 0
        || dimension >= Dimension.COUNT
        || !present[dimension]
        || index < 0
        || index >= perDimension) {
      throw new IllegalArgumentException(
          "no rail with index " + index + " in dimension number " + dimension);
    }
    return bases[dimension] + index;
  }

  /** The dimension, 0 to 2, in which a rail leads. */
  public int dimension(int rail) {
    return dimensions[rail];
  }

  /** A rail's index within its dimension. */
  public int index(int rail) {
    return indices[rail];
  }

  /** Dimension and index, as in {@code x0}. */
  public String name(int rail) {
    return name(dimensions[rail], indices[rail]);
  }

  static String name(int dimension, int index) {
    return Dimension.of(dimension).toString() + index;
  }

  /** The number of the first rail of a dimension; meaningful when it is present. */
  int base(int dimension) {
    return bases[dimension];
  }
}
