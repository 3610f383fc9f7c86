package org.pmhxb.cli.bench.collective;

import org.pmhxb.cli.bench.Spread;

/**
 * One algorithm at one length.
 *
 * @param chosen by the model
 * @param predictedUs by the model
 * @param timesFastest its median, in medians of the fastest of its length; 1 of that one
 * @param slower each of its rounds took longer than each of the fastest's
 * @param microseconds of one operation, from the first rank's call to the last rank's end: least,
 *     median and most of the rounds
 * @param earlyCopies messages an operation, of all ranks, that came before their turn and were
 *     copied
 * @param earlyLoans those that stayed in their receive buffers
 * @param megabytesPerSecond of the median: bytes that a rank brings or gets, whichever is more
 */
public record CollectivePoint(
    String collective,
    String algorithm,
    int bytes,
    boolean chosen,
    double predictedUs,
    double timesFastest,
    boolean slower,
    Spread microseconds,
    double megabytesPerSecond,
    long operations,
    double earlyCopies,
    double earlyLoans) {}
