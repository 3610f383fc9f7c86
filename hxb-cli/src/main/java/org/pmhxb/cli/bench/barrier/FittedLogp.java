package org.pmhxb.cli.bench.barrier;

import org.pmhxb.collectives.barrier.Algorithm;
import org.pmhxb.collectives.barrier.BarrierSpec;
import org.pmhxb.collectives.logp.LogP;

/**
 * LogP of a line from two barriers of it: of dissemination, log2 n (os + L + or), and of
 * concurrent, 2 (os + L + or) + (n - 2) or (Iwasaki et al., section 5.1.2); os is what arriving
 * takes. The others are predicted with it.
 */
public final class FittedLogp {
  private final int nodes;
  private double osNs;
  private double disseminationNs;
  private double concurrentNs;

  public FittedLogp(int nodes) {
    this.nodes = nodes;
  }

  /** One of the two, or another, which is left aside. */
  public void add(BarrierSpec spec, VethBarrierRun.Measured measured) {
    double p50 = measured.line().latencyNs().p50();
    if (spec.equals(BarrierSpec.of(Algorithm.DISSEMINATION))) {
      disseminationNs = p50;
      osNs = measured.arriveNs();
    } else if (spec.equals(BarrierSpec.of(Algorithm.CONCURRENT))) {
      concurrentNs = p50;
    }
  }

  /** What follows from the two; null when one was not measured. */
  public LogP logp() {
    if (disseminationNs == 0 || concurrentNs == 0) {
      return null;
    }
    int rounds = Integer.SIZE - Integer.numberOfLeadingZeros(nodes - 1);
    double way = disseminationNs / rounds;
    double or = nodes == 2 ? way / 4 : Math.max(0, (concurrentNs - 2 * way) / (nodes - 2));
    // A mean that a descheduled thread made longer than half the way says nothing of sending.
    double os = Math.min(osNs, way / 2);
    double latency = Math.max(0, way - os - or);
    return new LogP(os, or, os, new double[] {latency});
  }
}
