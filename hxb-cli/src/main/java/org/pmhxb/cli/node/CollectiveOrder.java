package org.pmhxb.cli.node;

import org.pmhxb.collectives.Collective;

/**
 * A collective that all nodes repeat.
 *
 * @param algorithm its name, the same at every node
 * @param bytes of the message, or of one rank's block; a multiple of 4, up to {@value #BYTES_MAX}
 * @param count operations, 1 to {@value #COUNT_MAX}
 * @param fill what the ranks' data begin with: equal at every node, another in each order
 */
public record CollectiveOrder(
    Collective collective, String algorithm, int bytes, int count, int fill) {
  /** Longest message or block: a rank has as many blocks as there are nodes. */
  public static final int BYTES_MAX = 16 << 20;

  /** Most operations of an order. */
  public static final int COUNT_MAX = 1_000_000_000;

  public CollectiveOrder {
    if (bytes < 4 || bytes > BYTES_MAX || bytes % 4 != 0) {
      throw new IllegalArgumentException(
          "bytes is " + bytes + "; must be a multiple of 4 in 4 to " + BYTES_MAX);
    }
    if (count < 1 || count > COUNT_MAX) {
      throw new IllegalArgumentException("count is " + count + "; must be 1 to " + COUNT_MAX);
    }
  }
}
