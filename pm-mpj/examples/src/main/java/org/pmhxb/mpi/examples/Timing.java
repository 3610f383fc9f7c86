package org.pmhxb.mpi.examples;

/**
 * How long something took.
 *
 * @param busy share of the machine's processor time that was not idle meanwhile, 0 to 1
 */
record Timing(double seconds, double busy) {
  /** The moment at which it began. */
  record Start(long nowNs, Processors processors) {
    Timing stop() {
      double seconds = (System.nanoTime() - nowNs) / 1e9;
      return new Timing(seconds, Processors.now().busySince(processors));
    }
  }

  static Start start() {
    return new Start(System.nanoTime(), Processors.now());
  }
}
