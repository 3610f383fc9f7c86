package org.pmhxb.cli.cluster;

import java.util.BitSet;
import org.pmhxb.ffi.Threads;

/**
 * The processors that this process, and so what it starts, may use: not always the first ones of
 * the machine, in a container or a batch system's job. Immutable.
 */
public final class UsableCpus {
  private final int[] numbers;

  UsableCpus(BitSet cpus) {
    numbers = cpus.stream().toArray();
  }

  /** Of the calling thread, which nothing has pinned. */
  public static UsableCpus here() {
    return new UsableCpus(Threads.affinity());
  }

  /**
   * The number of one of them: those that ask take turns.
   *
   * @param turn from 0
   */
  public int inTurn(int turn) {
    return numbers[turn % numbers.length];
  }
}
