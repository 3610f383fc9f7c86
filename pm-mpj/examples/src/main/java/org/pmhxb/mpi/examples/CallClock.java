package org.pmhxb.mpi.examples;

/** Adds up the time that a thread spends in calls of MPI. Owner: that thread. */
final class CallClock {
  private long totalNs;
  private long sinceNs;

  void enter() {
    sinceNs = System.nanoTime();
  }

  void leave() {
    totalNs += System.nanoTime() - sinceNs;
  }

  double seconds() {
    return totalNs / 1e9;
  }
}
