package org.pmhxb.cost;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;

/**
 * In what order peers take part: a shuffled round, repeated, the same at every run. Each peer comes
 * once a round, so that no peer waits long for its acknowledgement, and the next one's state is as
 * cold as all the others make it.
 */
final class Turns {
  private static final int LEAST = 1 << 12;
  private static final int BURST_MAX = 64;

  private final int[] order;
  private final MemorySegment copy;
  private final int length;

  /**
   * @param peers nodes 1 to this
   */
  Turns(int peers) {
    int[] round = new int[peers];
    for (int i = 0; i < peers; i++) {
      round[i] = i + 1;
    }
    SplittableRandom random = new SplittableRandom(42);
    for (int i = peers - 1; i > 0; i--) {
      int j = random.nextInt(i + 1);
      int held = round[i];
      round[i] = round[j];
      round[j] = held;
    }
    length = (LEAST + peers - 1) / peers * peers;
    // A burst may run over the end: the first turns stand there again.
    order = new int[length + BURST_MAX];
    for (int i = 0; i < order.length; i++) {
      order[i] = round[i % peers];
    }
    copy = Arena.global().allocateFrom(ValueLayout.JAVA_INT, order);
  }

  /** The node whose turn it is; {@code turn} in 0 to {@link #next}'s range plus a burst. */
  int node(int turn) {
    return order[turn];
  }

  /** By turn, as {@link #node} has them; not to be written. */
  int[] nodes() {
    return order;
  }

  /** The turn that follows {@code count} turns after {@code turn}. */
  int next(int turn, int count) {
    int next = turn + count;
    return next < length ? next : next - length;
  }

  /** Where node numbers from a turn on lie for C. */
  long address(int turn) {
    return copy.address() + (long) turn * Integer.BYTES;
  }
}
