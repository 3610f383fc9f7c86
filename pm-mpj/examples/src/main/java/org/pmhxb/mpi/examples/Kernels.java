package org.pmhxb.mpi.examples;

import java.util.Locale;
import mpi.MPI;

/**
 * The kernels IS and CG, timed, for {@code hxb bench mpi --kernels}. Arguments: class, repetitions.
 * Prints lines "RESULT kernel class seconds busy", the shortest of the repetitions.
 */
public final class Kernels {
  private Kernels() {}

  public static void main(String[] argv) {
    String[] args = MPI.Init(argv);
    ProblemClass size = ProblemClass.valueOf(args[0]);
    int times = Integer.parseInt(args[1]);
    for (String kernel : new String[] {"is", "cg"}) {
      double best = Double.MAX_VALUE;
      double busy = 0;
      for (int i = 0; i < times; i++) {
        Processors before = Processors.now();
        double seconds =
            kernel.equals("is") ? BucketSort.run(size) : ConjugateGradient.run(size, false);
        double used = Processors.now().busySince(before);
        busy = seconds < best ? used : busy;
        best = Math.min(best, seconds);
      }
      if (MPI.COMM_WORLD.Rank() == 0) {
        System.out.printf(Locale.ROOT, "RESULT %s %s %.4f %.3f%n", kernel, size, best, busy);
      }
    }
    MPI.Finalize();
  }
}
