package mpiprograms;

import mpi.MPI;

/** Rank 1 returns without MPI.Finalize while the others wait for it. */
public final class Leaves {
  private Leaves() {}

  public static void main(String[] argv) {
    MPI.Init(argv);
    if (MPI.COMM_WORLD.Rank() == 1) {
      return;
    }
    MPI.COMM_WORLD.Recv(new int[1], 0, 1, MPI.INT, 1, 0);
  }
}
