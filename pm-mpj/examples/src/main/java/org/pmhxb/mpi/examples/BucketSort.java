package org.pmhxb.mpi.examples;

import java.util.Random;
import mpi.Intracomm;
import mpi.MPI;

/**
 * Sorts integers, as the kernel IS of the NAS benchmarks does: keys are counted into buckets, each
 * rank gets a range of buckets such that all have about as many keys, and an all-to-all brings the
 * keys there. Ten times; the last result is verified: sorted within and across ranks, and the very
 * keys that were there at first.
 *
 * <p>Argument: the class: T, S, W or A.
 */
public final class BucketSort {
  private static final int LOG_BUCKETS = 10;
  private static final int ITERATIONS = 10;

  private final Intracomm comm = MPI.COMM_WORLD;
  private final int ranks = comm.Size();
  private final int rank = comm.Rank();
  private final int shift;
  private final int[] keys;
  private int[] received = new int[0];
  private int receivedCount;

  private BucketSort(ProblemClass size) {
    int total = 1 << size.logKeys;
    int first = (int) ((long) total * rank / ranks);
    int last = (int) ((long) total * (rank + 1) / ranks);
    keys = new int[last - first];
    shift = size.logLargest - LOG_BUCKETS;
    Random random = new Random(271_828 + rank);
    int largest = 1 << size.logLargest;
    for (int i = 0; i < keys.length; i++) {
      // The mean of four, as the benchmark: the middle buckets are fuller.
      double mean =
          (random.nextDouble() + random.nextDouble() + random.nextDouble() + random.nextDouble())
              / 4;
      keys[i] = (int) (mean * largest);
    }
  }

  private void iterate() {
    int buckets = 1 << LOG_BUCKETS;
    int[] here = new int[buckets];
    for (int key : keys) {
      here[key >> shift]++;
    }
    int[] all = new int[buckets];
    comm.Allreduce(here, 0, all, 0, buckets, MPI.INT, MPI.SUM);
    int[] rankOfBucket = deal(all);
    int[] sendCounts = new int[ranks];
    for (int b = 0; b < buckets; b++) {
      sendCounts[rankOfBucket[b]] += here[b];
    }
    int[] receiveCounts = new int[ranks];
    comm.Alltoall(sendCounts, 0, 1, MPI.INT, receiveCounts, 0, 1, MPI.INT);
    int[] sendOffsets = offsets(sendCounts);
    int[] receiveOffsets = offsets(receiveCounts);
    int[] ordered = new int[keys.length];
    int[] at = sendOffsets.clone();
    for (int key : keys) {
      ordered[at[rankOfBucket[key >> shift]]++] = key;
    }
    receivedCount = receiveOffsets[ranks - 1] + receiveCounts[ranks - 1];
    received = new int[Math.max(1, receivedCount)];
    comm.Alltoallv(
        ordered,
        0,
        sendCounts,
        sendOffsets,
        MPI.INT,
        received,
        0,
        receiveCounts,
        receiveOffsets,
        MPI.INT);
    countingSort();
  }

  /** A run of buckets for each rank. */
  private int[] deal(int[] counts) {
    long total = 0;
    for (int c : counts) {
      total += c;
    }
    int[] rankOfBucket = new int[counts.length];
    long before = 0;
    for (int b = 0; b < counts.length; b++) {
      rankOfBucket[b] = (int) Math.min(ranks - 1, before * ranks / Math.max(1, total));
      before += counts[b];
    }
    return rankOfBucket;
  }

  private static int[] offsets(int[] counts) {
    int[] offsets = new int[counts.length];
    for (int i = 1; i < counts.length; i++) {
      offsets[i] = offsets[i - 1] + counts[i - 1];
    }
    return offsets;
  }

  private void countingSort() {
    if (receivedCount == 0) {
      return;
    }
    int least = Integer.MAX_VALUE;
    int most = 0;
    for (int i = 0; i < receivedCount; i++) {
      least = Math.min(least, received[i]);
      most = Math.max(most, received[i]);
    }
    int[] count = new int[most - least + 1];
    for (int i = 0; i < receivedCount; i++) {
      count[received[i] - least]++;
    }
    int i = 0;
    for (int key = 0; key < count.length; key++) {
      for (int k = 0; k < count[key]; k++) {
        received[i++] = key + least;
      }
    }
  }

  private void verify() {
    for (int i = 1; i < receivedCount; i++) {
      if (received[i - 1] > received[i]) {
        throw new IllegalStateException("rank " + rank + ": key " + i + " is out of order");
      }
    }
    int[] edges = {
      receivedCount == 0 ? -1 : received[0], receivedCount == 0 ? -1 : received[receivedCount - 1]
    };
    int[] allEdges = new int[2 * ranks];
    comm.Allgather(edges, 0, 2, MPI.INT, allEdges, 0, 2, MPI.INT);
    int last = -1;
    for (int r = 0; r < ranks; r++) {
      if (allEdges[2 * r] >= 0) {
        if (allEdges[2 * r] < last) {
          throw new IllegalStateException("rank " + r + " begins below the end of those before it");
        }
        last = allEdges[2 * r + 1];
      }
    }
    long[] sums = new long[4];
    for (int key : keys) {
      sums[0] += hash(key);
    }
    for (int i = 0; i < receivedCount; i++) {
      sums[1] += hash(received[i]);
    }
    sums[2] = keys.length;
    sums[3] = receivedCount;
    long[] total = new long[4];
    comm.Allreduce(sums, 0, total, 0, 4, MPI.LONG, MPI.SUM);
    if (total[0] != total[1] || total[2] != total[3]) {
      throw new IllegalStateException(
          total[3] + " keys after the sort, " + total[2] + " before, or other ones");
    }
  }

  private static long hash(int key) {
    long h = (key + 1) * 0x9E3779B97F4A7C15L;
    return h ^ h >>> 32;
  }

  /**
   * Between MPI.Init and MPI.Finalize.
   *
   * @return seconds of the iterations
   * @throws IllegalStateException the result is not the sorted keys
   */
  static double run(ProblemClass size) {
    BucketSort sort = new BucketSort(size);
    sort.comm.Barrier();
    long startNs = System.nanoTime();
    for (int i = 0; i < ITERATIONS; i++) {
      sort.iterate();
    }
    sort.comm.Barrier();
    double seconds = (System.nanoTime() - startNs) / 1e9;
    sort.verify();
    if (sort.rank == 0) {
      System.out.printf(
          "is class %s, %d ranks: %.3f s, %d keys sorted %d times%n",
          size, sort.ranks, seconds, 1 << size.logKeys, ITERATIONS);
    }
    return seconds;
  }

  public static void main(String[] argv) {
    String[] args = MPI.Init(argv);
    run(ProblemClass.valueOf(args[0]));
    MPI.Finalize();
  }
}
