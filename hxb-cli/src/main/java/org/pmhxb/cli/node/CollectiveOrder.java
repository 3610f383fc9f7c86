package org.pmhxb.cli.node;

import org.pmhxb.collectives.Collective;

/**
 * A collective that all nodes repeat.
 *
 * @param algorithm its name, the same at every node
 * @param bytes of the message, or of one rank's block; a multiple of 4
 * @param count operations, 1 to {@value #COUNT_MAX}
 * @param fill what the ranks' data begin with: equal at every node, another in each order
 */
public record CollectiveOrder(
    Collective collective, String algorithm, int bytes, int count, int fill) {
  /** Most operations of an order. */
  public static final int COUNT_MAX = 1_000_000_000;

  public CollectiveOrder {
    if (count < 1 || count > COUNT_MAX) {
      throw new IllegalArgumentException("count is " + count + "; must be 1 to " + COUNT_MAX);
    }
  }
}
