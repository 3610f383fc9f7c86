package org.pmhxb.cli.bench.grid;

import java.util.Arrays;

/**
 * What a case came to: virtual time, content verified.
 *
 * @param network letter as in the paper
 * @param aware the algorithm knows of the clusters
 * @param chosen by the model for this length and network
 * @param microseconds of one operation, from its first rank's call to its last rank's end: least,
 *     median, most
 * @param megabytesPerSecond of the median, counted as in the paper
 */
public record GridPoint(
    String operation,
    String algorithm,
    boolean aware,
    String network,
    int bytes,
    boolean chosen,
    double[] microseconds,
    double megabytesPerSecond) {

  static GridPoint of(GridCase c, boolean chosen, double[] ns, int ranks) {
    double[] us = Arrays.stream(ns).map(t -> t / 1e3).sorted().toArray();
    double median = us[us.length / 2];
    return new GridPoint(
        c.operationName(),
        c.algorithm(),
        c.aware(),
        c.network().letter(),
        c.bytes(),
        chosen,
        new double[] {us[0], median, us[us.length - 1]},
        c.countedBytes(ranks) / median);
  }
}
