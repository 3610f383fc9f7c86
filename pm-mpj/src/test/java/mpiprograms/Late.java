package mpiprograms;

import mpi.MPI;
import mpi.MPIException;

/** The last of three ranks begins when the others' time is up; they call MPI.Init again. */
public final class Late {
  private static final String TOLD = "mpiprograms.Late.";
  private static final int LAST = 2;
  private static final int TRIES = 20;

  private Late() {}

  public static void main(String[] argv) throws InterruptedException {
    int rank = Integer.parseInt(argv[0]);
    if (rank == LAST) {
      for (int other = 0; other < LAST; other++) {
        while (System.clearProperty(TOLD + other) == null) {
          Thread.sleep(1);
        }
      }
    } else {
      Expect.fails(() -> MPI.Init(argv), "did not answer");
      System.setProperty(TOLD + rank, "");
    }
    initPatiently(argv);
    MPI.COMM_WORLD.Barrier();
    MPI.Finalize();
    MPI.Init(argv);
    int[] sum = new int[1];
    MPI.COMM_WORLD.Allreduce(new int[] {rank}, 0, sum, 0, 1, MPI.INT, MPI.SUM);
    Expect.equal(3, sum[0], "sum of the ranks");
    MPI.Finalize();
  }

  private static void initPatiently(String[] argv) {
    for (int tries = 1; ; tries++) {
      try {
        MPI.Init(argv);
        return;
      } catch (MPIException e) {
        if (tries == TRIES) {
          throw e;
        }
      }
    }
  }
}
