package mpiprograms;

import mpi.MPI;

/** Calls that are wrong; each must throw, and none must harm what follows. */
public final class Mistakes {
  private Mistakes() {}

  public static void main(String[] argv) {
    MPI.Init(argv);
    int rank = MPI.COMM_WORLD.Rank();
    int other = 1 - rank;
    int[] one = {1};
    Expect.fails(() -> MPI.COMM_WORLD.Send(one, 0, 1, MPI.INT, 2, 0), "2");
    Expect.fails(() -> MPI.COMM_WORLD.Send(one, 0, 1, MPI.INT, -7, 0), "-7");
    Expect.fails(() -> MPI.COMM_WORLD.Recv(one, 0, 1, MPI.INT, 9, 0), "9");
    Expect.fails(() -> MPI.COMM_WORLD.Send(one, 0, 1, MPI.INT, other, -5), "tag -5", "range");
    Expect.fails(
        () -> MPI.COMM_WORLD.Send(one, 0, 1, MPI.INT, other, MPI.ANY_TAG), "tag -2", "range");
    Expect.fails(() -> MPI.COMM_WORLD.Recv(one, 0, 1, MPI.INT, other, -3), "tag -3", "range");
    tooLong();
    for (int length : new int[] {2, 100, 100_000}) {
      MPI.COMM_WORLD.Isend(new int[length], 0, length, MPI.INT, other, 4);
      Expect.fails(() -> MPI.COMM_WORLD.Recv(new int[1], 0, 1, MPI.INT, other, 4));
    }
    MPI.COMM_WORLD.Sendrecv(one, 0, 1, MPI.INT, other, 8, new int[1], 0, 1, MPI.INT, other, 8);
    MPI.Finalize();
  }

  /** Longer than what lengths in MPJ can count; no such memory is needed to be refused. */
  private static void tooLong() {
    xdev.Device device = mpjdev.javampjdev.MPJDev.dev;
    mpjbuf.Buffer buffer = new mpjbuf.Buffer(mpjbuf.BufferFactory.create(64), 0, 64);
    buffer.setSize(Integer.MAX_VALUE);
    buffer.setDynamicBuffer(new byte[100]);
    Expect.fails(() -> device.send(buffer, device.id(), 1, 1), "2147483747", "2147483647");
  }
}
