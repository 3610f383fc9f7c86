package org.pmhxb.cli.bench.grid;

/**
 * Lets all ranks of a run begin an iteration at the same instant, when all have ended the one
 * before. Stands outside of the machine: nothing of it goes over the network. Owner: the
 * simulation's thread.
 */
final class GridClock {
  /** From the last rank's end to the next beginning: what is under way arrives. */
  private static final long PAUSE_NS = 50_000;

  private final int ranks;
  private int ended;
  private int iteration;
  private long beginNs;

  GridClock(int ranks) {
    this.ranks = ranks;
  }

  /** Whether a rank may begin an iteration at its time. */
  boolean mayBegin(int wanted, long atNs) {
    return wanted == iteration && atNs >= beginNs;
  }

  /** A rank has ended the present iteration. */
  void ended(long atNs) {
    if (++ended == ranks) {
      ended = 0;
      iteration++;
      beginNs = atNs + PAUSE_NS;
    }
  }
}
