package org.pmhxb.mpi.examples;

import java.util.Locale;
import mpi.MPI;

/**
 * The kernels IS and CG, timed, for {@code hxb bench mpi --kernels}. Arguments: class, repetitions.
 * Prints lines "RESULT kernel class seconds busy", the shortest of the repetitions, and "RESULT
 * kernel-bytes class bytes 0", what a rank sends of the large messages.
 */
public final class Kernels {
  private Kernels() {}

  public static void main(String[] argv) {
    String[] args = MPI.Init(argv);
    ProblemClass size = ProblemClass.valueOf(args[0]);
    int times = Integer.parseInt(args[1]);
    for (String kernel : new String[] {"is", "cg"}) {
      Timing best = new Timing(Double.MAX_VALUE, 1);
      for (int i = 0; i < times; i++) {
        Timing timing =
            kernel.equals("is") ? BucketSort.run(size) : ConjugateGradient.run(size, false);
        best = timing.seconds() < best.seconds() ? timing : best;
      }
      if (MPI.COMM_WORLD.Rank() == 0) {
        System.out.printf(
            Locale.ROOT, "RESULT %s %s %.4f %.3f%n", kernel, size, best.seconds(), best.busy());
        int ranks = MPI.COMM_WORLD.Size();
        long bytes =
            kernel.equals("is")
                ? BucketSort.sentBytes(size, ranks)
                : ConjugateGradient.sentBytes(size, ranks);
        System.out.printf(Locale.ROOT, "RESULT %s-bytes %s %d 0%n", kernel, size, bytes);
      }
    }
    MPI.Finalize();
  }
}
