package org.pmhxb.router;

import java.util.List;

/**
 * A node's place in the shape. Dimensions that a shape does not have are 0.
 *
 * @param x 0 to 65,534
 * @param y 0 to 65,534
 * @param z 0 to 65,534
 */
public record Coordinates(int x, int y, int z) {
  /** Checks that each lies in 0..65,534; whether they lie in a shape is the shape's question. */
  public Coordinates {
    check(x, Dimension.X);
    check(y, Dimension.Y);
    check(z, Dimension.Z);
  }

  private static void check(int value, Dimension dimension) {
    if (value < 0 || value >= Shape.MAX_NODES) {
      throw new IllegalArgumentException(
          dimension + " coordinate " + value + " is not in 0.." + (Shape.MAX_NODES - 1));
    }
  }

  /**
   * Reads {@code "1,0,1"}, {@code "(1,0,1)"}, {@code "1,0"} or {@code "1"}.
   *
   * @throws IllegalArgumentException naming the text and the form expected
   */
  public static Coordinates parse(String text) {
    String body = text.strip();
    if (body.startsWith("(") && body.endsWith(")") && body.length() > 1) {
      body = body.substring(1, body.length() - 1);
    }
    String[] parts = body.split(",", -1);
    if (parts.length > Dimension.COUNT) {
      throw new IllegalArgumentException(
          "coordinates \"" + text + "\" have " + parts.length + " numbers, at most 3 are possible");
    }
    int[] values = new int[Dimension.COUNT];
    for (int i = 0; i < parts.length; i++) {
      values[i] = number(parts[i].strip(), text);
    }
    return new Coordinates(values[0], values[1], values[2]);
  }

  private static int number(String part, String text) {
    if (!part.matches("[0-9]{1,5}")) {
      throw new IllegalArgumentException(
          "coordinates \""
              + text
              + "\" are not 1 to 3 numbers of 0.."
              + (Shape.MAX_NODES - 1)
              + ", as in \"1,0,1\"");
    }
    return Integer.parseInt(part);
  }

  /** The coordinate in one dimension, 0 to 2. */
  public int get(int dimension) {
    return switch (dimension) {
      case 0 -> x;
      case 1 -> y;
      case 2 -> z;
      default -> throw new IndexOutOfBoundsException("dimension " + dimension + " is not in 0..2");
    };
  }

  /** All three. */
  public List<Integer> toList() {
    return List.of(x, y, z);
  }

  /** In brackets, for people. */
  @Override
  public String toString() {
    return "(" + x + "," + y + "," + z + ")";
  }
}
