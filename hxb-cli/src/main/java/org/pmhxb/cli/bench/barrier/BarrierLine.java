package org.pmhxb.cli.bench.barrier;

import org.pmhxb.cli.workload.LatencyHistogram;

/**
 * What one algorithm did.
 *
 * @param rails over which those who report to one node were spread
 * @param latencyNs from the moment at which all have arrived until the last has left
 * @param framesPerBarrier of all nodes together, measured
 * @param framesPlanned the algorithm's count
 * @param predictedNs by the LogP model with what was measured on this fabric before
 * @param error of the prediction: (predicted - p50) / p50
 * @param beyondCount questions for what did not come in time, and their answers, less what could
 *     not be sent, in all: none unless something is lost or stood still
 */
public record BarrierLine(
    String algorithm,
    int nodes,
    int rails,
    LatencyHistogram.Summary latencyNs,
    double framesPerBarrier,
    int framesPlanned,
    long barriers,
    long beyondCount,
    double predictedNs,
    double error) {
  /** With what the model says. */
  public BarrierLine predicted(double ns) {
    return new BarrierLine(
        algorithm,
        nodes,
        rails,
        latencyNs,
        framesPerBarrier,
        framesPlanned,
        barriers,
        beyondCount,
        ns,
        (ns - latencyNs.p50()) / latencyNs.p50());
  }
}
