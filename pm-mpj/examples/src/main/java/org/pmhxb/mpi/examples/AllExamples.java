package org.pmhxb.mpi.examples;

import mpi.MPI;

/**
 * All examples one after the other, on 8 ranks: the lattice with neighbours one hop apart and with
 * neighbours all in one row, both kernels. Argument: the class: T, S, W or A.
 */
public final class AllExamples {
  private AllExamples() {}

  public static void main(String[] argv) {
    String[] args = MPI.Init(argv);
    RankCount.require(8, "the lattice on grids of 2x2x2 and 8x1x1");
    ProblemClass size = ProblemClass.valueOf(args[0]);
    LatticeHalo.run(new int[] {2, 2, 2}, 24, 20);
    LatticeHalo.run(new int[] {8, 1, 1}, 24, 20);
    ConjugateGradient.run(size, true);
    BucketSort.run(size);
    MPI.Finalize();
  }
}
