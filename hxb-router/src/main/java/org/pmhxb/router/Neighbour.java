package org.pmhxb.router;

/**
 * A neighbour known on a rail: frames to it can leave there.
 *
 * @param rail the own rail
 * @param railName dimension and index, as in {@code x0}
 * @param node the neighbour's number
 * @param coordinates the neighbour's place
 * @param mac its address on that rail in the low 48 bits
 * @param heardNs when it was last heard, on the node's clock; {@link Long#MIN_VALUE} of one that
 *     was entered without being heard
 */
public record Neighbour(
    int rail, String railName, int node, Coordinates coordinates, long mac, long heardNs) {}
