package org.pmhxb.mpi.examples;

/** Sizes of the NAS parallel benchmarks' classes, for kernels like them; T is tiny, for tests. */
enum ProblemClass {
  T(400, 5, 3, 14, 11),
  S(1_400, 7, 15, 16, 11),
  W(7_000, 8, 15, 20, 16),
  A(14_000, 11, 15, 23, 19);

  /** CG: rows of the matrix, entries a row before symmetry, outer iterations. */
  final int rows;

  final int entries;
  final int iterations;

  /** IS: logarithms of the number of keys and of the largest key. */
  final int logKeys;

  final int logLargest;

  ProblemClass(int rows, int entries, int iterations, int logKeys, int logLargest) {
    this.rows = rows;
    this.entries = entries;
    this.iterations = iterations;
    this.logKeys = logKeys;
    this.logLargest = logLargest;
  }
}
