package org.pmhxb.mpi.engine;

/**
 * What is known of a message from its envelope.
 *
 * @param type code of the first section's type
 * @param elements in the first section
 */
public record Arrival(
    int source, int tag, int type, int elements, int staticBytes, int dynamicBytes) {}
