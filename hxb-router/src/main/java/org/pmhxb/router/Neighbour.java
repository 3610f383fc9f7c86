package org.pmhxb.router;

/**
 * A neighbour heard on a rail.
 *
 * @param rail the own rail
 * @param railName dimension and index, as in {@code x0}
 * @param node the neighbour's number
 * @param coordinates the neighbour's place
 * @param mac its address on that rail in the low 48 bits
 * @param heardNs when it was last heard, on the node's clock
 */
public record Neighbour(
    int rail, String railName, int node, Coordinates coordinates, long mac, long heardNs) {}
