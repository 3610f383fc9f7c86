package org.pmhxb.sim.net;

/**
 * Two switches in the place of one: in every line of a dimension, nodes below a coordinate are
 * plugged into the one and the others into the other, and cables join the two. A node's frames
 * always take the same cable, by its coordinate, so that they stay in order: link aggregation by
 * source address.
 *
 * @param dimension 0 to 2
 * @param boundary first coordinate of the second switch, 1 or more
 * @param cables that join the switches, 1 or more
 * @param link what each can do; its latency comes on top of that of the node's link, its queue is
 *     the switch's towards the cable
 */
public record Trunk(int dimension, int boundary, int cables, LinkSpec link) {
  public Trunk {
    if (dimension < 0 || dimension > 2 || boundary < 1 || cables < 1) {
      throw new IllegalArgumentException(
          "trunk of %d cables at coordinate %d of dimension %d: at least 1, 1, and 0 to 2"
              .formatted(cables, boundary, dimension));
    }
  }

  /** Whether a coordinate is on the second switch. */
  boolean isFar(int coordinate) {
    return coordinate >= boundary;
  }
}
