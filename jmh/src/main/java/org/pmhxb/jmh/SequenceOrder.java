package org.pmhxb.jmh;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.pmhxb.pm.flow.SequenceArray;

/** The sequence array alone: frames in order, displaced, repeated; by the owner and by others. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(1)
public class SequenceOrder {
  private static final int FRAMES = 2_048;
  private static final int WINDOW_FRAMES = 256;

  /** By how many places one frame of each group of that many and one comes late; 0: in order. */
  @Param({"0", "1", "8", "31"})
  int displaced;

  /** Every frame arrives twice. */
  @Param({"false", "true"})
  boolean duplicates;

  private final int[] arrivals = new int[FRAMES];
  private SequenceArray order;
  private int base;

  @Setup(Level.Trial)
  public void open() {
    order = new SequenceArray(WINDOW_FRAMES, 0);
    base = 0;
    int group = displaced + 1;
    for (int i = 0; i < FRAMES; i++) {
      int first = i / group * group;
      int last = Math.min(first + group, FRAMES) - 1;
      // The first of a group comes behind the others.
      arrivals[i] = i == last ? first : i + 1;
    }
  }

  /** One poll thread, as nodes have it by default: plain loads and stores. */
  @Benchmark
  @OperationsPerInvocation(FRAMES)
  public int owned() {
    int sum = 0;
    for (int arrival : arrivals) {
      int seq = base + arrival;
      if (!order.passOwned(seq)) {
        order.insertOwned(seq, 1);
      }
      sum += take();
      if (duplicates) {
        sum += order.insertOwned(seq, 1);
      }
    }
    return end(sum);
  }

  /** Several poll threads' form: one compare-and-set to insert. */
  @Benchmark
  @OperationsPerInvocation(FRAMES)
  public int shared() {
    int sum = 0;
    for (int arrival : arrivals) {
      int seq = base + arrival;
      order.insert(seq, 1);
      sum += take();
      if (duplicates) {
        sum += order.insert(seq, 1);
      }
    }
    return end(sum);
  }

  private int take() {
    int sum = 0;
    for (int id = order.take(); id != 0; id = order.take()) {
      sum += id;
    }
    return sum;
  }

  private int end(int sum) {
    base += FRAMES;
    if (order.next() != base) {
      throw new IllegalStateException("next is " + order.next() + " and not " + base);
    }
    return sum;
  }
}
