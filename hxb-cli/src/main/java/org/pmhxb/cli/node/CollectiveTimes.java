package org.pmhxb.cli.node;

/**
 * What a node's collective operations took.
 *
 * @param latency from the call to its end, as {@code LatencyHistogram} encodes it; a barrier goes
 *     before each
 * @param earlyCopies messages that came before their turn and were copied
 * @param earlyLoans those that stayed in their receive buffers
 */
public record CollectiveTimes(String latency, long operations, long earlyCopies, long earlyLoans) {}
