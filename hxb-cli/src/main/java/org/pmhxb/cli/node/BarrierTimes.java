package org.pmhxb.cli.node;

/**
 * What a node's barriers took.
 *
 * @param latency from arriving to having left, as {@code LatencyHistogram} encodes it; without the
 *     first, which waits for those who were told later
 * @param arrivals ARRIVEs sent, the algorithm's count
 * @param asks questions for what did not come in time
 * @param answers to others' questions
 */
public record BarrierTimes(String latency, long barriers, long arrivals, long asks, long answers) {}
