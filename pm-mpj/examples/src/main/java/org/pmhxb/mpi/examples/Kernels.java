package org.pmhxb.mpi.examples;

import java.util.Locale;
import mpi.MPI;

/**
 * The kernels IS and CG, timed, for {@code hxb bench mpi --kernels}. Arguments: seconds of warm-up
 * with class S, repetitions, classes.
 *
 * <p>Prints for each repetition lines "RESULT kernel class seconds busy" and "RESULT kernel-calls
 * class share 0", the share of the time in calls of MPI, and for each kernel "RESULT kernel-bytes
 * class bytes 0", what a rank sends of the large messages.
 */
public final class Kernels {
  private Kernels() {}

  public static void main(String[] argv) {
    String[] args = MPI.Init(argv);
    warmUp(Double.parseDouble(args[0]));
    int times = Integer.parseInt(args[1]);
    for (int i = 2; i < args.length; i++) {
      measure(ProblemClass.valueOf(args[i]), times);
    }
    MPI.Finalize();
  }

  /** A rank's methods are compiled after some 10,000 messages, however long those are. */
  private static void warmUp(double seconds) {
    long startNs = System.nanoTime();
    int[] again = {1};
    while (again[0] != 0) {
      again[0] = System.nanoTime() - startNs < seconds * 1e9 ? 1 : 0;
      MPI.COMM_WORLD.Bcast(again, 0, 1, MPI.INT, 0);
      if (again[0] != 0) {
        BucketSort.run(ProblemClass.S);
        ConjugateGradient.run(ProblemClass.S, false);
      }
    }
  }

  private static void measure(ProblemClass size, int times) {
    int ranks = MPI.COMM_WORLD.Size();
    for (int i = 0; i < times; i++) {
      print("is", size, BucketSort.run(size));
    }
    print("is-bytes", size, BucketSort.sentBytes(size, ranks), 0);
    for (int i = 0; i < times; i++) {
      print("cg", size, ConjugateGradient.run(size, false));
    }
    print("cg-bytes", size, ConjugateGradient.sentBytes(size, ranks), 0);
  }

  private static void print(String kernel, ProblemClass size, Timing timing) {
    print(kernel, size, timing.seconds(), timing.busy());
    print(kernel + "-calls", size, timing.calls(), 0);
  }

  private static void print(String kind, ProblemClass size, double value, double busy) {
    if (MPI.COMM_WORLD.Rank() == 0) {
      System.out.printf(Locale.ROOT, "RESULT %s %s %.4f %.3f%n", kind, size, value, busy);
    }
  }
}
