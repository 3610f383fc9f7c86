package org.pmhxb.sim.fault;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a fault sits; -1 stands for every one. Written {@code 3.x0}: rail x0 of node 3, {@code
 * *.x0}, {@code *.*0} or {@code *}.
 *
 * @param node number
 * @param dimension 0 to 2
 * @param index of the rail within the dimension
 */
public record Place(int node, int dimension, int index) {
  /** Everywhere. */
  public static final Place ALL = new Place(-1, -1, -1);

  private static final Pattern FORM = Pattern.compile("(\\*|\\d+)(?:\\.([*xyz])(\\*|\\d)?)?");

  public static Place node(int node) {
    return new Place(node, -1, -1);
  }

  public boolean covers(int atNode, int atDimension, int atIndex) {
    return (node < 0 || node == atNode)
        && (dimension < 0 || dimension == atDimension)
        && (index < 0 || index == atIndex);
  }

  /**
   * Reads what {@link #toString} writes.
   *
   * @throws IllegalArgumentException naming the text and the form
   */
  public static Place parse(String text) {
    Matcher m = FORM.matcher(text);
    if (!m.matches()) {
      throw new IllegalArgumentException(
          "place \"" + text + "\" is not of the form 3.x0, 3.x*, *.x0, 3 or *");
    }
    // indexOf gives -1 for a star, which stands for every dimension.
    int dimension = m.group(2) == null ? -1 : "xyz".indexOf(m.group(2));
    return new Place(number(m.group(1)), dimension, number(m.group(3)));
  }

  private static int number(String text) {
    return text == null || text.equals("*") ? -1 : Integer.parseInt(text);
  }

  @Override
  public String toString() {
    String at = node < 0 ? "*" : Integer.toString(node);
    if (dimension < 0 && index < 0) {
      return at;
    }
    return at
        + "."
        + (dimension < 0 ? '*' : "xyz".charAt(dimension))
        + (index < 0 ? "*" : Integer.toString(index));
  }
}
