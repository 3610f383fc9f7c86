package mpiprograms;

import mpi.Intracomm;
import mpi.MPI;

/** Collective operations, in a communicator of its own too. */
public final class Collectives {
  private Collectives() {}

  public static void main(String[] argv) {
    MPI.Init(argv);
    all(MPI.COMM_WORLD);
    int half = MPI.COMM_WORLD.Rank() % 2;
    all(MPI.COMM_WORLD.Split(half, MPI.COMM_WORLD.Rank()));
    MPI.Finalize();
  }

  private static void all(Intracomm comm) {
    int rank = comm.Rank();
    int size = comm.Size();
    int[] sum = new int[1];
    comm.Allreduce(new int[] {rank + 1}, 0, sum, 0, 1, MPI.INT, MPI.SUM);
    Expect.equal(size * (size + 1) / 2, sum[0], "sum");
    int length = 5_000;
    int[] out = new int[size * length];
    int[] in = new int[size * length];
    for (int i = 0; i < out.length; i++) {
      out[i] = rank * 1_000_000 + i;
    }
    comm.Alltoall(out, 0, length, MPI.INT, in, 0, length, MPI.INT);
    for (int i = 0; i < in.length; i++) {
      int from = i / length;
      Expect.equal(from * 1_000_000 + rank * length + i % length, in[i], "element " + i);
    }
    double[] field = new double[100_000];
    if (rank == size - 1) {
      java.util.Arrays.setAll(field, i -> i * 0.5);
    }
    comm.Bcast(field, 0, field.length, MPI.DOUBLE, size - 1);
    Expect.equal(49_999.5, field[99_999], "the last number of a broadcast");
    comm.Barrier();
  }
}
