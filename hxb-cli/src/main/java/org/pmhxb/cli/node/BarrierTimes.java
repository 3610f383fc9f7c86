package org.pmhxb.cli.node;

/**
 * What a node's barriers took.
 *
 * @param latency from arriving to having left, as {@code LatencyHistogram} encodes it; without the
 *     first, which waits for those who were told later
 * @param frames of collective operations that the node sent meanwhile
 * @param beyond of these, what its algorithm does not count: questions for what did not come in
 *     time and answers to others' questions, less what it could not send
 */
public record BarrierTimes(String latency, long barriers, long frames, long beyond) {}
