package mpiprograms;

import java.util.Arrays;
import mpi.MPI;
import mpi.Request;
import mpi.Status;

/** Every way of sending and receiving, between neighbours in a ring; three times over. */
public final class PointToPoint {
  private PointToPoint() {}

  public static void main(String[] argv) {
    for (int time = 0; time < 3; time++) {
      String[] args = MPI.Init(argv);
      Expect.equal("[one, two]", Arrays.toString(args), "arguments");
      int rank = MPI.COMM_WORLD.Rank();
      int size = MPI.COMM_WORLD.Size();
      int right = (rank + 1) % size;
      int left = (rank + size - 1) % size;
      for (int length : new int[] {0, 1, 7, 1_000, 20_000, 300_000}) {
        numbers(rank, right, left, length + time);
      }
      objects(rank, right, left);
      modes(rank, right, left);
      probing(rank, right, left);
      many(rank, right, left);
      // What nobody receives must not come up after the next MPI.Init.
      MPI.COMM_WORLD.Send(new int[] {time}, 0, 1, MPI.INT, right, 999);
      MPI.Finalize();
    }
  }

  private static void numbers(int rank, int right, int left, int length) {
    double[] out = new double[length];
    Arrays.setAll(out, i -> rank * 1e6 + i);
    double[] in = new double[length];
    Request receive = MPI.COMM_WORLD.Irecv(in, 0, length, MPI.DOUBLE, left, length);
    Request send = MPI.COMM_WORLD.Isend(out, 0, length, MPI.DOUBLE, right, length);
    Status status = receive.Wait();
    send.Wait();
    Expect.equal(left, status.source, "source");
    Expect.equal(length, status.tag, "tag");
    Expect.equal(length, status.Get_count(MPI.DOUBLE), "count");
    double[] expected = new double[length];
    Arrays.setAll(expected, i -> left * 1e6 + i);
    Expect.isTrue(Arrays.equals(expected, in), "the content of " + length + " numbers");
  }

  private static void objects(int rank, int right, int left) {
    for (int length : new int[] {1, 5_000}) {
      Object[] out = new Object[length];
      Arrays.setAll(out, i -> "rank " + rank + " object " + i);
      Object[] in = new Object[length];
      MPI.COMM_WORLD.Sendrecv(
          out, 0, length, MPI.OBJECT, right, 3, in, 0, length, MPI.OBJECT, left, 3);
      Expect.equal("rank " + left + " object " + (length - 1), in[length - 1], "the last object");
    }
  }

  private static void modes(int rank, int right, int left) {
    int[] in = new int[1];
    Request receive = MPI.COMM_WORLD.Irecv(in, 0, 1, MPI.INT, MPI.ANY_SOURCE, MPI.ANY_TAG);
    MPI.COMM_WORLD.Ssend(new int[] {rank}, 0, 1, MPI.INT, right, 5);
    Status status = receive.Wait();
    Expect.equal(left, in[0], "what came");
    Expect.equal(left, status.source, "who sent it");
    Request self = MPI.COMM_WORLD.Isend(new int[] {-rank}, 0, 1, MPI.INT, rank, 6);
    MPI.COMM_WORLD.Recv(in, 0, 1, MPI.INT, rank, 6);
    self.Wait();
    Expect.equal(-rank, in[0], "what this rank sent to itself");
  }

  private static void probing(int rank, int right, int left) {
    Expect.equal(null, MPI.COMM_WORLD.Iprobe(MPI.ANY_SOURCE, 1_234), "a message that nobody sent");
    long[] out = new long[rank + 3];
    MPI.COMM_WORLD.Send(out, 0, out.length, MPI.LONG, right, 77);
    Status status = MPI.COMM_WORLD.Probe(left, 77);
    Expect.equal(left + 3, status.Get_count(MPI.LONG), "the count that a probe tells");
    long[] in = new long[left + 3];
    MPI.COMM_WORLD.Recv(in, 0, in.length, MPI.LONG, left, 77);
  }

  /** Received in another order than sent, by whichever completes. */
  private static void many(int rank, int right, int left) {
    int count = 50;
    int[][] in = new int[count][1];
    Request[] requests = new Request[count];
    for (int i = 0; i < count; i++) {
      requests[i] = MPI.COMM_WORLD.Irecv(in[i], 0, 1, MPI.INT, left, 100 + i);
    }
    for (int i = count - 1; i >= 0; i--) {
      MPI.COMM_WORLD.Send(new int[] {rank * 1_000 + i}, 0, 1, MPI.INT, right, 100 + i);
    }
    for (int i = 0; i < count; i++) {
      Status status = Request.Waitany(requests);
      int which = status.index;
      Expect.equal(left * 1_000 + which, in[which][0], "message " + which);
    }
  }
}
