package org.pmhxb.mpi.examples;

import java.util.Arrays;
import java.util.Random;
import mpi.Intracomm;
import mpi.MPI;

/**
 * Solves a sparse symmetric system by conjugate gradients, as the kernel CG of the NAS benchmarks
 * does: a random pattern of entries, 25 steps per outer iteration. Rows are dealt to ranks in
 * blocks; each step gathers the search direction at all ranks and adds up two scalars ({@link
 * Doubling}). Rank 0 also solves alone and compares.
 *
 * <p>Argument: the class: T, S, W or A.
 */
public final class ConjugateGradient {
  private static final int STEPS = 25;

  private final int rows;
  private final int first;
  private final int[] starts;
  private final int[] columns;
  private final double[] values;

  /**
   * The rows {@code first} to {@code last} of the matrix; the seed makes it the same everywhere.
   */
  private ConjugateGradient(ProblemClass size, int first, int last) {
    this.rows = size.rows;
    this.first = first;
    int n = last - first;
    double[][] rowValues = new double[n][];
    int[][] rowColumns = new int[n][];
    int[] count = new int[n];
    double[] diagonal = new double[n];
    for (int i = 0; i < n; i++) {
      rowColumns[i] = new int[size.entries * 4];
      rowValues[i] = new double[size.entries * 4];
    }
    Random random = new Random(314_159);
    for (int i = 0; i < rows; i++) {
      for (int k = 0; k < size.entries; k++) {
        int j = random.nextInt(rows);
        double v = random.nextDouble() - 0.5;
        add(i, j, v, rowColumns, rowValues, count, diagonal);
        add(j, i, v, rowColumns, rowValues, count, diagonal);
      }
    }
    starts = new int[n + 1];
    for (int i = 0; i < n; i++) {
      starts[i + 1] = starts[i] + count[i] + 1;
    }
    columns = new int[starts[n]];
    values = new double[starts[n]];
    for (int i = 0; i < n; i++) {
      System.arraycopy(rowColumns[i], 0, columns, starts[i], count[i]);
      System.arraycopy(rowValues[i], 0, values, starts[i], count[i]);
      // Dominant, so positive definite.
      columns[starts[i + 1] - 1] = first + i;
      values[starts[i + 1] - 1] = diagonal[i] + 0.1;
    }
  }

  private void add(
      int i, int j, double v, int[][] inColumns, double[][] inValues, int[] count, double[] diag) {
    int local = i - first;
    if (local < 0 || local >= count.length) {
      return;
    }
    int k = count[local]++;
    if (k == inColumns[local].length) {
      inColumns[local] = Arrays.copyOf(inColumns[local], k * 2);
      inValues[local] = Arrays.copyOf(inValues[local], k * 2);
    }
    inColumns[local][k] = j;
    inValues[local][k] = v;
    diag[local] += Math.abs(v);
  }

  private void multiply(double[] x, double[] y) {
    for (int i = 0; i < y.length; i++) {
      double sum = 0;
      for (int k = starts[i]; k < starts[i + 1]; k++) {
        sum += values[k] * x[columns[k]];
      }
      y[i] = sum;
    }
  }

  /** How the parts of a vector are brought together, and scalars added up. */
  private interface Machine {
    void gather(double[] part, double[] whole);

    double sum(double part);
  }

  private static double dot(double[] a, double[] b) {
    double sum = 0;
    for (int i = 0; i < a.length; i++) {
      sum += a[i] * b[i];
    }
    return sum;
  }

  /** Like the benchmark: the inverse iteration's estimate after the outer iterations. */
  private double solve(int iterations, Machine machine) {
    int n = starts.length - 1;
    double[] x = new double[n];
    Arrays.fill(x, 1);
    double zeta = 0;
    double[] z = new double[n];
    double[] q = new double[n];
    double[] p = new double[n];
    double[] all = new double[rows];
    for (int outer = 0; outer < iterations; outer++) {
      Arrays.fill(z, 0);
      double[] r = x.clone();
      System.arraycopy(r, 0, p, 0, n);
      double rho = machine.sum(dot(r, r));
      for (int step = 0; step < STEPS; step++) {
        machine.gather(p, all);
        multiply(all, q);
        double alpha = rho / machine.sum(dot(p, q));
        for (int i = 0; i < n; i++) {
          z[i] += alpha * p[i];
          r[i] -= alpha * q[i];
        }
        double before = rho;
        rho = machine.sum(dot(r, r));
        double beta = rho / before;
        for (int i = 0; i < n; i++) {
          p[i] = r[i] + beta * p[i];
        }
      }
      zeta = 10 + 1 / machine.sum(dot(x, z));
      double norm = 1 / Math.sqrt(machine.sum(dot(z, z)));
      for (int i = 0; i < n; i++) {
        x[i] = z[i] * norm;
      }
    }
    return zeta;
  }

  private static int firstRow(int rows, int ranks, int rank) {
    return (int) ((long) rows * rank / ranks);
  }

  /** Over all ranks. */
  private static final class Ranks implements Machine {
    private final CallClock clock;
    private final Doubling all;
    private final int[] counts = new int[MPI.COMM_WORLD.Size()];
    private final int[] offsets = new int[counts.length];

    private Ranks(int rows, CallClock clock) {
      this.clock = clock;
      this.all = new Doubling(MPI.COMM_WORLD);
      for (int r = 0; r < counts.length; r++) {
        offsets[r] = firstRow(rows, counts.length, r);
        counts[r] = firstRow(rows, counts.length, r + 1) - offsets[r];
      }
    }

    @Override
    public void gather(double[] part, double[] whole) {
      clock.enter();
      all.gather(part, whole, counts, offsets, MPI.DOUBLE);
      clock.leave();
    }

    @Override
    public double sum(double part) {
      clock.enter();
      double sum = all.sum(part);
      clock.leave();
      return sum;
    }
  }

  /** On one processor. */
  private static final class Alone implements Machine {
    @Override
    public void gather(double[] part, double[] whole) {
      System.arraycopy(part, 0, whole, 0, part.length);
    }

    @Override
    public double sum(double part) {
      return part;
    }
  }

  /**
   * Between MPI.Init and MPI.Finalize.
   *
   * @param check rank 0 also solves alone
   * @return the solution's time
   * @throws IllegalStateException it differs from the serial one by more than rounding
   */
  static Timing run(ProblemClass size, boolean check) {
    Intracomm comm = MPI.COMM_WORLD;
    int rank = comm.Rank();
    int ranks = comm.Size();
    ConjugateGradient mine =
        new ConjugateGradient(
            size, firstRow(size.rows, ranks, rank), firstRow(size.rows, ranks, rank + 1));
    CallClock clock = new CallClock();
    Ranks machine = new Ranks(size.rows, clock);
    comm.Barrier();
    Timing.Start start = Timing.start();
    double zeta = mine.solve(size.iterations, machine);
    Timing timing = start.stop(comm, clock);
    if (rank == 0 && check) {
      double expected =
          new ConjugateGradient(size, 0, size.rows).solve(size.iterations, new Alone());
      System.out.printf(
          "cg class %s, %d ranks: %.3f s, zeta %.10f, alone %.10f%n",
          size, ranks, timing.seconds(), zeta, expected);
      if (!(Math.abs(zeta - expected) <= 1e-9 * Math.abs(expected))) {
        throw new IllegalStateException("zeta is " + zeta + "; the serial run has " + expected);
      }
    }
    return timing;
  }

  /** Bytes of vectors that a rank sends in a run, all to neighbours: as many as it receives. */
  static long sentBytes(ProblemClass size, int ranks) {
    return (long) Double.BYTES * size.rows * STEPS * size.iterations * (ranks - 1) / ranks;
  }

  public static void main(String[] argv) {
    String[] args = MPI.Init(argv);
    run(ProblemClass.valueOf(args[0]), true);
    MPI.Finalize();
  }
}
