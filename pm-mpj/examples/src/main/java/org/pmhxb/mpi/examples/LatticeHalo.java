package org.pmhxb.mpi.examples;

import mpi.Intracomm;
import mpi.MPI;
import mpi.Request;

/**
 * A field on a periodic three-dimensional lattice, cut into blocks: the communication pattern of
 * lattice QCD. In each step every rank exchanges its six faces with its neighbours, then every site
 * takes a new value from its own and its six neighbours' (arithmetic modulo 2^64, so that the
 * result does not depend on the order). The checksum is compared with a run on one processor.
 *
 * <p>Arguments: ranks in x, y and z, sites of a rank in each dimension, steps. The neighbour
 * exchange of the machine is 2 2 2 on shape 2x2x2 (no relays); 8 1 1 there goes through relays.
 */
public final class LatticeHalo {
  private static final int FACES = 6;

  private final int[] grid;
  private final int[] at = new int[3];
  private final int edge;
  private final int row;
  private long[] field;
  private long[] next;

  private LatticeHalo(int[] grid, int rank, int edge) {
    this.grid = grid;
    this.edge = edge;
    this.row = edge + 2;
    at[0] = rank % grid[0];
    at[1] = rank / grid[0] % grid[1];
    at[2] = rank / grid[0] / grid[1];
    field = new long[row * row * row];
    next = new long[row * row * row];
    forEachSite((x, y, z) -> field[index(x, y, z)] = initial(x, y, z));
  }

  private interface Site {
    void visit(int x, int y, int z);
  }

  /** The sites of this rank are 1 to edge in each dimension; 0 and edge + 1 are its neighbours'. */
  private void forEachSite(Site site) {
    for (int z = 1; z <= edge; z++) {
      for (int y = 1; y <= edge; y++) {
        for (int x = 1; x <= edge; x++) {
          site.visit(x, y, z);
        }
      }
    }
  }

  private int index(int x, int y, int z) {
    return x + row * (y + row * z);
  }

  private long initial(int x, int y, int z) {
    long gx = (long) at[0] * edge + x - 1;
    long gy = (long) at[1] * edge + y - 1;
    long gz = (long) at[2] * edge + z - 1;
    long h = (gx * 73_856_093L ^ gy * 19_349_663L ^ gz * 83_492_791L) * 0x9E3779B97F4A7C15L;
    return h ^ h >>> 29;
  }

  private int neighbour(int dimension, int direction) {
    int[] c = at.clone();
    c[dimension] = Math.floorMod(c[dimension] + direction, grid[dimension]);
    return c[0] + grid[0] * (c[1] + grid[1] * c[2]);
  }

  /** Copies a face: the plane where the coordinate of a dimension has a value. */
  private void face(int dimension, int plane, long[] buffer, boolean out) {
    int i = 0;
    for (int b = 1; b <= edge; b++) {
      for (int a = 1; a <= edge; a++) {
        int k =
            dimension == 0
                ? index(plane, a, b)
                : dimension == 1 ? index(a, plane, b) : index(a, b, plane);
        if (out) {
          buffer[i++] = field[k];
        } else {
          field[k] = buffer[i++];
        }
      }
    }
  }

  /** Face 2 d goes down in dimension d, face 2 d + 1 up. */
  private void exchange(Intracomm comm, long[][] out, long[][] in) {
    Request[] requests = new Request[2 * FACES];
    int length = edge * edge;
    for (int f = 0; f < FACES; f++) {
      int from = neighbour(f / 2, f % 2 == 0 ? 1 : -1);
      requests[f] = comm.Irecv(in[f], 0, length, MPI.LONG, from, f);
    }
    for (int f = 0; f < FACES; f++) {
      boolean down = f % 2 == 0;
      face(f / 2, down ? 1 : edge, out[f], true);
      int to = neighbour(f / 2, down ? -1 : 1);
      requests[FACES + f] = comm.Isend(out[f], 0, length, MPI.LONG, to, f);
    }
    Request.Waitall(requests);
    for (int f = 0; f < FACES; f++) {
      face(f / 2, f % 2 == 0 ? edge + 1 : 0, in[f], false);
    }
  }

  private void update() {
    forEachSite(
        (x, y, z) -> {
          int i = index(x, y, z);
          long sum = field[i - 1] + 3 * field[i + 1];
          sum += 5 * field[i - row] + 7 * field[i + row];
          sum += 11 * field[i - row * row] + 13 * field[i + row * row];
          next[i] = field[i] * 17 + (sum ^ sum >>> 31);
        });
    long[] old = field;
    field = next;
    next = old;
  }

  /** Depends on which site has which value. */
  private long checksum() {
    long[] sum = {0};
    forEachSite((x, y, z) -> sum[0] += field[index(x, y, z)] * (initial(x, y, z) | 1));
    return sum[0];
  }

  private static long serial(int[] grid, int edge, int steps) {
    int ranks = grid[0] * grid[1] * grid[2];
    LatticeHalo[] blocks = new LatticeHalo[ranks];
    for (int r = 0; r < ranks; r++) {
      blocks[r] = new LatticeHalo(grid, r, edge);
    }
    long[] buffer = new long[edge * edge];
    for (int step = 0; step < steps; step++) {
      for (LatticeHalo block : blocks) {
        for (int f = 0; f < FACES; f++) {
          boolean down = f % 2 == 0;
          blocks[block.neighbour(f / 2, down ? 1 : -1)].face(f / 2, down ? 1 : edge, buffer, true);
          block.face(f / 2, down ? edge + 1 : 0, buffer, false);
        }
      }
      for (LatticeHalo block : blocks) {
        block.update();
      }
    }
    long sum = 0;
    for (LatticeHalo block : blocks) {
      sum += block.checksum();
    }
    return sum;
  }

  /**
   * Between MPI.Init and MPI.Finalize.
   *
   * @return seconds of the steps
   * @throws IllegalStateException the checksum differs from the serial run's
   */
  static double run(int[] grid, int edge, int steps) {
    Intracomm comm = MPI.COMM_WORLD;
    int rank = comm.Rank();
    if (grid[0] * grid[1] * grid[2] != comm.Size()) {
      throw new IllegalArgumentException(
          "a grid of "
              + grid[0]
              + "x"
              + grid[1]
              + "x"
              + grid[2]
              + " for "
              + comm.Size()
              + " ranks");
    }
    LatticeHalo lattice = new LatticeHalo(grid, rank, edge);
    long[][] out = new long[FACES][edge * edge];
    long[][] in = new long[FACES][edge * edge];
    comm.Barrier();
    long startNs = System.nanoTime();
    for (int step = 0; step < steps; step++) {
      lattice.exchange(comm, out, in);
      lattice.update();
    }
    comm.Barrier();
    double seconds = (System.nanoTime() - startNs) / 1e9;
    long[] sum = {lattice.checksum()};
    long[] total = new long[1];
    comm.Reduce(sum, 0, total, 0, 1, MPI.LONG, MPI.SUM, 0);
    if (rank == 0) {
      long expected = serial(grid, edge, steps);
      System.out.printf(
          "lattice %dx%dx%d ranks of %d^3 sites, %d steps: %.3f s, checksum %016x%n",
          grid[0], grid[1], grid[2], edge, steps, seconds, total[0]);
      if (expected != total[0]) {
        throw new IllegalStateException(
            String.format("checksum %016x; the serial run has %016x", total[0], expected));
      }
    }
    return seconds;
  }

  public static void main(String[] argv) {
    String[] args = MPI.Init(argv);
    int[] grid = {Integer.parseInt(args[0]), Integer.parseInt(args[1]), Integer.parseInt(args[2])};
    RankCount.require(
        grid[0] * grid[1] * grid[2], "a grid of " + String.join("x", args[0], args[1], args[2]));
    run(grid, Integer.parseInt(args[3]), Integer.parseInt(args[4]));
    MPI.Finalize();
  }
}
