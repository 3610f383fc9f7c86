package org.pmhxb.mpi.launch;

import org.pmhxb.router.Coordinates;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.Shape;

/**
 * What a rank tells the others through its launcher: where its node is.
 *
 * @param incarnation of the node's present run
 */
record BusinessCard(String shape, int x, int y, int z, long incarnation) {
  static BusinessCard of(HxbConfig config, long incarnation) {
    Coordinates c = config.coordinates();
    return new BusinessCard(config.shape().toString(), c.x(), c.y(), c.z(), incarnation);
  }

  /** As it travels: "2x2x2 1 0 1 incarnation", the last in hexadecimal. */
  String encode() {
    return shape + " " + x + " " + y + " " + z + " " + Long.toHexString(incarnation);
  }

  /**
   * @throws IllegalArgumentException it is none
   */
  static BusinessCard decode(String text) {
    String[] fields = text.split(" ");
    if (fields.length != 5) {
      throw new IllegalArgumentException("\"" + text + "\" is no business card of a node");
    }
    return new BusinessCard(
        fields[0],
        Integer.parseInt(fields[1]),
        Integer.parseInt(fields[2]),
        Integer.parseInt(fields[3]),
        Long.parseUnsignedLong(fields[4], 16));
  }

  /**
   * The node of every rank, from their cards in order of rank.
   *
   * @throws IllegalArgumentException they do not fit together
   */
  static int[] nodeOfRank(String[] cards, Shape shape) {
    int[] nodes = new int[cards.length];
    int[] rankOfNode = new int[shape.nodes()];
    for (int rank = 0; rank < cards.length; rank++) {
      BusinessCard card = decode(cards[rank]);
      if (!card.shape.equals(shape.toString())) {
        throw new IllegalArgumentException(
            "rank " + rank + " is in a machine of shape " + card.shape + ", not " + shape);
      }
      int node = shape.node(new Coordinates(card.x, card.y, card.z));
      if (rankOfNode[node] > 0) {
        throw new IllegalArgumentException(
            "ranks "
                + (rankOfNode[node] - 1)
                + " and "
                + rank
                + " are both at node "
                + node
                + "; one rank per node: start one per host, as in mpirun --map-by node");
      }
      rankOfNode[node] = rank + 1;
      nodes[rank] = node;
    }
    return nodes;
  }
}
