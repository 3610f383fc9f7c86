package org.pmhxb.mpi.examples;

import mpi.MPI;

/** Refuses a number of ranks that a program cannot run with, without a stack trace. */
final class RankCount {
  private RankCount() {}

  /**
   * Ends the job with exit code 1 when there are more or fewer ranks; called by all of them.
   *
   * @param why it needs so many
   */
  static void require(int needed, String why) {
    int ranks = MPI.COMM_WORLD.Size();
    if (ranks == needed) {
      return;
    }
    if (MPI.COMM_WORLD.Rank() == 0) {
      System.err.printf("%d ranks, but %s needs %d: run it with -n %3$d%n", ranks, why, needed);
    }
    // Nobody ends before rank 0 has said why.
    MPI.Finalize();
    System.exit(1);
  }
}
