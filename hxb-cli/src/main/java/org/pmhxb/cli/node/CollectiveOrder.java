package org.pmhxb.cli.node;

import org.pmhxb.collectives.Collective;

/**
 * A collective that all nodes repeat.
 *
 * @param algorithm its name, the same at every node
 * @param bytes of the message, or of one rank's block; a multiple of 4
 * @param count operations, 1 or more
 * @param fill what the ranks' data begin with: equal at every node, another in each order
 */
public record CollectiveOrder(
    Collective collective, String algorithm, int bytes, int count, int fill) {}
