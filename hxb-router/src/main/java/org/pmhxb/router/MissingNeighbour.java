package org.pmhxb.router;

/**
 * A neighbour that the shape promises and that was not heard yet on a rail.
 *
 * @param rail the own rail
 * @param railName dimension and index, as in {@code x0}
 * @param device the own device of that rail
 * @param node the neighbour's number
 * @param coordinates the neighbour's place
 */
public record MissingNeighbour(
    int rail, String railName, String device, int node, Coordinates coordinates) {
  /** For people. */
  @Override
  public String toString() {
    return "node "
        + node
        + " at "
        + coordinates
        + " not heard on rail "
        + railName
        + " ("
        + device
        + ")";
  }
}
