package org.pmhxb.mpi.examples;

import mpi.Intracomm;
import mpi.MPI;

/**
 * How long something took at all ranks.
 *
 * @param busy share of the machine's processor time that was not idle meanwhile, 0 to 1
 * @param calls share of the time that the ranks spent in calls of MPI, on average, 0 to 1
 */
record Timing(double seconds, double busy, double calls) {
  /** The moment at which it began. */
  record Start(long nowNs, Processors processors) {
    /** All ranks call it; what rank 0 gets counts. */
    Timing stop(Intracomm comm, CallClock clock) {
      double seconds = (System.nanoTime() - nowNs) / 1e9;
      double busy = Processors.now().busySince(processors);
      double[] mine = {clock.seconds()};
      double[] sum = new double[1];
      comm.Reduce(mine, 0, sum, 0, 1, MPI.DOUBLE, MPI.SUM, 0);
      return new Timing(seconds, busy, sum[0] / comm.Size() / seconds);
    }
  }

  static Start start() {
    return new Start(System.nanoTime(), Processors.now());
  }
}
