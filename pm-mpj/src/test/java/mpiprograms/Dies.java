package mpiprograms;

import mpi.MPI;

/** Rank 1 fails while the others wait for it. */
public final class Dies {
  private Dies() {}

  public static void main(String[] argv) {
    MPI.Init(argv);
    if (MPI.COMM_WORLD.Rank() == 1) {
      throw new IllegalStateException("rank one has had enough");
    }
    MPI.COMM_WORLD.Recv(new int[1], 0, 1, MPI.INT, 1, 0);
  }
}
