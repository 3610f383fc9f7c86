package org.pmhxb.cli.bench.peers;

import org.pmhxb.cli.bench.Spread;

/**
 * What one idle strategy of our poll threads costs and gives.
 *
 * @param halfRoundTripUs 64 B over unshaped veth, medians of the runs
 * @param pingProcessors processors that both nodes used meanwhile
 * @param pingWithheld share of all processors that the host withheld meanwhile, 0 to 1
 * @param share of one shaped link's rate that a stream of 8 KB messages reached
 * @param streamProcessors processors that both nodes used meanwhile
 * @param streamWithheld as {@code pingWithheld}
 * @param failure null when the figures are good
 */
public record IdleFound(
    String strategy,
    Spread halfRoundTripUs,
    Double pingProcessors,
    Spread pingWithheld,
    Spread share,
    Double streamProcessors,
    Spread streamWithheld,
    String failure) {}
