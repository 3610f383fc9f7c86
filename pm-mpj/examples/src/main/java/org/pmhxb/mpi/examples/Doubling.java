package org.pmhxb.mpi.examples;

import java.util.Arrays;
import mpi.Datatype;
import mpi.Intracomm;
import mpi.MPI;
import mpi.Request;

/**
 * Sums and gathers by recursive doubling, the exchanges of the NAS kernel CG: in each step a rank
 * deals with the one whose number differs in one bit, so that all are done after log2(ranks) steps.
 * In a machine of lines of two nodes that is a neighbour. MPJ's own send everything to everybody.
 *
 * <p>A long vector is gathered in as many parts as there are steps, each of which takes the bits in
 * another order: so all dimensions of such a machine are busy in every step, and every byte crosses
 * one link to each rank that needs it, as in a machine of one line.
 *
 * <p>With a number of ranks that is no power of two MPJ's own are used. Owner: one thread.
 */
final class Doubling {
  /** A part is not worth a message of its own below this. */
  private static final int PART_BYTES = 512;

  private static final int SUM_TAG = 7_001;
  private static final int GATHER_TAG = 7_100;

  private final Intracomm comm;
  private final int rank;
  private final int ranks;

  /** Steps; 0: another number of ranks. */
  private final int bits;

  private final double[] one = new double[1];
  private final double[] other = new double[1];

  Doubling(Intracomm comm) {
    this.comm = comm;
    this.rank = comm.Rank();
    this.ranks = comm.Size();
    this.bits = Integer.bitCount(ranks) == 1 ? Integer.numberOfTrailingZeros(ranks) : 0;
  }

  /** The sum of all ranks' values; the same at all of them, to the last bit. */
  double sum(double value) {
    one[0] = value;
    if (bits == 0) {
      comm.Allreduce(one, 0, other, 0, 1, MPI.DOUBLE, MPI.SUM);
      return ranks == 1 ? value : other[0];
    }
    for (int bit = 0; bit < bits; bit++) {
      int to = rank ^ 1 << bit;
      comm.Sendrecv(one, 0, 1, MPI.DOUBLE, to, SUM_TAG, other, 0, 1, MPI.DOUBLE, to, SUM_TAG);
      one[0] += other[0];
    }
    return one[0];
  }

  /** Sums of all ranks' counts, element by element. */
  int[] sum(int[] counts) {
    int[] sums = counts.clone();
    int[] others = new int[counts.length];
    if (bits == 0) {
      comm.Allreduce(counts, 0, sums, 0, counts.length, MPI.INT, MPI.SUM);
      return sums;
    }
    for (int bit = 0; bit < bits; bit++) {
      int to = rank ^ 1 << bit;
      int n = counts.length;
      comm.Sendrecv(sums, 0, n, MPI.INT, to, SUM_TAG, others, 0, n, MPI.INT, to, SUM_TAG);
      for (int i = 0; i < n; i++) {
        sums[i] += others[i];
      }
    }
    return sums;
  }

  /**
   * Brings the ranks' blocks of doubles or ints together at all of them.
   *
   * @param block this rank's, an array of {@code counts[rank]} elements
   * @param whole where rank r's block begins at {@code offsets[r]}
   */
  void gather(Object block, Object whole, int[] counts, int[] offsets, Datatype type) {
    if (bits == 0) {
      comm.Allgatherv(block, 0, counts[rank], type, whole, 0, counts, offsets, type);
      return;
    }
    long bytes = (long) Arrays.stream(counts).sum() * type.Size();
    Part[] parts = new Part[bytes / ranks >= (long) bits * PART_BYTES ? bits : 1];
    for (int p = 0; p < parts.length; p++) {
      parts[p] = new Part(p, parts.length, counts, type);
      parts[p].begin(block);
    }
    for (int step = 0; step < bits; step++) {
      Request[] requests = new Request[2 * parts.length];
      for (int p = 0; p < parts.length; p++) {
        requests[p] = parts[p].receive(step);
      }
      for (int p = 0; p < parts.length; p++) {
        requests[parts.length + p] = parts[p].send(step);
      }
      Request.Waitall(requests);
    }
    for (Part part : parts) {
      part.end(whole, offsets);
    }
  }

  /**
   * One part of each rank's block. It takes the bits in turn from its own number on; what a rank
   * has of others lies in the order in which it came: place j holds the part of the rank that
   * differs in the bits taken in those steps i where j has bit i. So what a rank has so far is what
   * it sends, and what it gets follows behind.
   */
  private final class Part {
    private final int number;
    private final int parts;
    private final int[] counts;
    private final Datatype type;

    /** By place. */
    private final int[] rankAt = new int[ranks];

    private final int[] starts = new int[ranks + 1];
    private final Object have;

    Part(int number, int parts, int[] counts, Datatype type) {
      this.number = number;
      this.parts = parts;
      this.counts = counts;
      this.type = type;
      for (int place = 0; place < ranks; place++) {
        int differs = 0;
        for (int step = 0; step < bits; step++) {
          differs |= (place >> step & 1) << bit(step);
        }
        rankAt[place] = rank ^ differs;
        starts[place + 1] = starts[place] + length(rankAt[place]);
      }
      have = type == MPI.INT ? new int[starts[ranks]] : new double[starts[ranks]];
    }

    private int bit(int step) {
      return (number + step) % bits;
    }

    private int partner(int step) {
      return rank ^ 1 << bit(step);
    }

    /** Where this part begins in a rank's block. */
    private int first(int ofRank) {
      return (int) ((long) counts[ofRank] * number / parts);
    }

    private int length(int ofRank) {
      return (int) ((long) counts[ofRank] * (number + 1) / parts) - first(ofRank);
    }

    void begin(Object block) {
      System.arraycopy(block, first(rank), have, 0, length(rank));
    }

    Request receive(int step) {
      int from = starts[1 << step];
      int count = starts[2 << step] - from;
      return comm.Irecv(have, from, count, type, partner(step), GATHER_TAG + number);
    }

    Request send(int step) {
      return comm.Isend(have, 0, starts[1 << step], type, partner(step), GATHER_TAG + number);
    }

    void end(Object whole, int[] offsets) {
      for (int place = 0; place < ranks; place++) {
        int from = rankAt[place];
        System.arraycopy(have, starts[place], whole, offsets[from] + first(from), length(from));
      }
    }
  }
}
