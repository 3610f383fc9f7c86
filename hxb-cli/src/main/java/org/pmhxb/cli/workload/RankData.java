package org.pmhxb.cli.workload;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.pmhxb.collectives.Collective;
import org.pmhxb.collectives.CollectiveCall;
import org.pmhxb.collectives.Communicator;
import org.pmhxb.collectives.ElementType;
import org.pmhxb.collectives.ReduceOp;

/**
 * One rank's memory for a collective, filled so that every byte of the result is known. Reductions
 * add ints; the root is rank 0. Owner: one thread.
 */
public final class RankData {
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

  private final Collective collective;
  private final int blockBytes;
  private final int ranks;
  private final int rank;
  private final MemorySegment input;
  private final MemorySegment output;

  /**
   * @param blockBytes a multiple of 4
   */
  public RankData(Collective collective, int blockBytes, int ranks, int rank) {
    if (blockBytes % Integer.BYTES != 0) {
      throw new IllegalArgumentException(blockBytes + " bytes are no multiple of 4");
    }
    this.collective = collective;
    this.blockBytes = blockBytes;
    this.ranks = ranks;
    this.rank = rank;
    boolean root = rank == 0;
    int in =
        switch (collective) {
          case SCATTER -> root ? ranks : 0;
          case ALLTOALL -> ranks;
          default -> 1;
        };
    int out =
        switch (collective) {
          case REDUCE -> root ? 1 : 0;
          case GATHER -> root ? ranks : 0;
          case ALLGATHER, ALLTOALL -> ranks;
          default -> 1;
        };
    this.input = memory(in);
    this.output = memory(out);
  }

  private MemorySegment memory(int blocks) {
    long bytes = (long) blocks * blockBytes;
    return Arena.ofAuto().allocate(Math.max(1, bytes), 64).asSlice(0, bytes);
  }

  private int value(int from, int to, long at, int iteration) {
    return (from * 31 + to) * 1_000_003 + iteration * 7_919 + (int) at;
  }

  /** Makes this rank's input of an iteration, and forgets the last one's output. */
  public void fill(int iteration) {
    for (long i = 0; i < input.byteSize(); i += Integer.BYTES) {
      int to = (int) (i / blockBytes);
      input.set(INT, i, value(rank, to, i % blockBytes, iteration));
    }
    output.fill((byte) 0);
  }

  /** Makes the call. */
  public CollectiveCall start(Communicator c) {
    return switch (collective) {
      case BROADCAST -> c.broadcast(rank == 0 ? input : output, 0);
      case REDUCE -> c.reduce(input, output, ElementType.INT, ReduceOp.SUM, 0);
      case ALLREDUCE -> c.allreduce(input, output, ElementType.INT, ReduceOp.SUM);
      case GATHER -> c.gather(input, output, 0);
      case SCATTER -> c.scatter(input, output, 0);
      case ALLGATHER -> c.allgather(input, output);
      case ALLTOALL -> c.alltoall(input, output);
    };
  }

  /**
   * Checks every byte that this rank got.
   *
   * @throws IllegalStateException one is wrong
   */
  public void check(int iteration) {
    if (collective == Collective.BROADCAST && rank == 0) {
      return; // it has what it had
    }
    for (long i = 0; i < output.byteSize(); i += Integer.BYTES) {
      int expected = expected((int) (i / blockBytes), i % blockBytes, iteration);
      if (output.get(INT, i) != expected) {
        throw new IllegalStateException(
            "%s of %d B among %d: rank %d is wrong at byte %d"
                .formatted(collective, blockBytes, ranks, rank, i));
      }
    }
  }

  private int expected(int block, long at, int iteration) {
    return switch (collective) {
      case BROADCAST -> value(0, 0, at, iteration);
      case REDUCE, ALLREDUCE -> {
        int sum = 0;
        for (int r = 0; r < ranks; r++) {
          sum += value(r, 0, at, iteration);
        }
        yield sum;
      }
      case GATHER, ALLGATHER -> value(block, 0, at, iteration);
      case SCATTER -> value(0, rank, at, iteration);
      case ALLTOALL -> value(block, rank, at, iteration);
    };
  }
}
