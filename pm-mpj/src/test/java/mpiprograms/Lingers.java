package mpiprograms;

import mpi.MPI;

/** Its main method returns before its work is done: another thread does the rest. */
public final class Lingers {
  private Lingers() {}

  public static void main(String[] args) throws Exception {
    MPI.Init(args);
    int rank = MPI.COMM_WORLD.Rank();
    MPI.Finalize();
    new Thread(() -> rest(rank)).start();
    Thread.currentThread().interrupt(); // which ends nobody's wait for the other
  }

  private static void rest(int rank) {
    try {
      Thread.sleep(300);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    System.setProperty("lingers." + rank, "done");
  }
}
