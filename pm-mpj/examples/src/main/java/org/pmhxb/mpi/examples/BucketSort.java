package org.pmhxb.mpi.examples;

import java.util.Arrays;
import java.util.Random;
import mpi.Intracomm;
import mpi.MPI;
import mpi.Request;

/**
 * Sorts integers, as the kernel IS of the NAS benchmarks does: keys are counted into buckets, each
 * rank gets a range of buckets such that all have about as many keys, and an all-to-all brings the
 * keys there, while those of the next sort are counted. Ten times; the last result is verified:
 * sorted within and across ranks, and the very keys that were there at first.
 *
 * <p>Argument: the class: T, S, W or A.
 */
public final class BucketSort {
  private static final int LOG_BUCKETS = 10;
  private static final int ITERATIONS = 10;
  private static final int KEYS_TAG = 7_200;

  private final Intracomm comm = MPI.COMM_WORLD;
  private final Doubling all = new Doubling(comm);
  private final CallClock clock = new CallClock();
  private final int ranks = comm.Size();
  private final int rank = comm.Rank();
  private final int shift;
  private final int[] keys;
  private int[] received = new int[0];

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

  /**
   * Sorts so many times. While the keys of one sort are on their way those of the next are counted
   * and laid out: the links and the processors work side by side.
   */
  private void sort(int times) {
    Exchange before = null;
    for (int i = 0; i < times; i++) {
      Exchange next = layOut();
      if (before != null) {
        finish(before);
      }
      next.begin();
      before = next;
    }
    finish(before);
  }

  /** Counts the keys, deals buckets to ranks, and puts the keys into the order of the ranks. */
  private Exchange layOut() {
    int[] here = new int[1 << LOG_BUCKETS];
    for (int key : keys) {
      here[key >> shift]++;
    }
    clock.enter();
    int[] everywhere = all.sum(here);
    clock.leave();
    int[] rankOfBucket = deal(everywhere);
    int[] sendCounts = new int[ranks];
    for (int b = 0; b < here.length; b++) {
      sendCounts[rankOfBucket[b]] += here[b];
    }
    Exchange exchange = new Exchange(sendCounts, countsFrom(sendCounts));
    int[] at = exchange.sendOffsets.clone();
    for (int key : keys) {
      exchange.ordered[at[rankOfBucket[key >> shift]]++] = key;
    }
    return exchange;
  }

  /** What each rank sends here. */
  private int[] countsFrom(int[] sendCounts) {
    int[] whole = new int[ranks * ranks];
    int[] each = new int[ranks];
    Arrays.fill(each, ranks);
    clock.enter();
    all.gather(sendCounts, whole, each, offsets(each), MPI.INT);
    clock.leave();
    int[] counts = new int[ranks];
    for (int r = 0; r < ranks; r++) {
      counts[r] = whole[r * ranks + rank];
    }
    return counts;
  }

  /** The keys of one sort on their way to their ranks. */
  private final class Exchange {
    private final int[] sendCounts;
    private final int[] receiveCounts;
    private final int[] sendOffsets;
    private final int[] receiveOffsets;
    private final int[] ordered;
    private final int[] arriving;
    private final Request[] receives = new Request[ranks];
    private final Request[] sends = new Request[ranks];

    Exchange(int[] sendCounts, int[] receiveCounts) {
      this.sendCounts = sendCounts;
      this.receiveCounts = receiveCounts;
      this.sendOffsets = offsets(sendCounts);
      this.receiveOffsets = offsets(receiveCounts);
      this.ordered = new int[keys.length];
      this.arriving = new int[receiveOffsets[ranks - 1] + receiveCounts[ranks - 1]];
    }

    /** No two ranks begin with the same one. */
    private int peer(int i) {
      return Integer.bitCount(ranks) == 1 ? rank ^ i : (rank + i) % ranks;
    }

    void begin() {
      clock.enter();
      for (int i = 1; i < ranks; i++) {
        int from = Integer.bitCount(ranks) == 1 ? peer(i) : (rank - i + ranks) % ranks;
        receives[from] =
            comm.Irecv(
                arriving, receiveOffsets[from], receiveCounts[from], MPI.INT, from, KEYS_TAG);
      }
      for (int i = 1; i < ranks; i++) {
        int to = peer(i);
        sends[to] = comm.Isend(ordered, sendOffsets[to], sendCounts[to], MPI.INT, to, KEYS_TAG);
      }
      clock.leave();
      System.arraycopy(
          ordered, sendOffsets[rank], arriving, receiveOffsets[rank], receiveCounts[rank]);
    }

    void end() {
      clock.enter();
      for (int r = 0; r < ranks; r++) {
        if (r != rank) {
          receives[r].Wait();
          sends[r].Wait();
        }
      }
      clock.leave();
    }
  }

  private void finish(Exchange exchange) {
    exchange.end();
    received = exchange.arriving;
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
    if (received.length == 0) {
      return;
    }
    int least = Integer.MAX_VALUE;
    int most = 0;
    for (int i = 0; i < received.length; i++) {
      least = Math.min(least, received[i]);
      most = Math.max(most, received[i]);
    }
    int[] count = new int[most - least + 1];
    for (int i = 0; i < received.length; i++) {
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
    for (int i = 1; i < received.length; i++) {
      if (received[i - 1] > received[i]) {
        throw new IllegalStateException("rank " + rank + ": key " + i + " is out of order");
      }
    }
    int[] edges = {
      received.length == 0 ? -1 : received[0],
      received.length == 0 ? -1 : received[received.length - 1]
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
    for (int i = 0; i < received.length; i++) {
      sums[1] += hash(received[i]);
    }
    sums[2] = keys.length;
    sums[3] = received.length;
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
   * @return the iterations' time
   * @throws IllegalStateException the result is not the sorted keys
   */
  static Timing run(ProblemClass size) {
    BucketSort sort = new BucketSort(size);
    sort.comm.Barrier();
    Timing.Start start = Timing.start();
    sort.sort(ITERATIONS);
    sort.comm.Barrier();
    Timing timing = start.stop(sort.comm, sort.clock);
    sort.verify();
    if (sort.rank == 0) {
      System.out.printf(
          "is class %s, %d ranks: %.3f s, %d keys sorted %d times%n",
          size, sort.ranks, timing.seconds(), 1 << size.logKeys, ITERATIONS);
    }
    return timing;
  }

  /** Bytes of keys that a rank sends to others in a run, on average: to each as many. */
  static long sentBytes(ProblemClass size, int ranks) {
    return ((long) Integer.BYTES * ITERATIONS << size.logKeys) / ranks * (ranks - 1) / ranks;
  }

  public static void main(String[] argv) {
    String[] args = MPI.Init(argv);
    run(ProblemClass.valueOf(args[0]));
    MPI.Finalize();
  }
}
