package org.pmhxb.cli.bench;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.pmhxb.ffi.Threads;

/**
 * How far two processors are from each other: the time from a store of the one until the other sees
 * it. Of what processes exchange through memory, a frame takes several such ways in a row.
 *
 * <p>On a virtual machine it changes while a measurement runs: the hypervisor moves processors
 * between cores that share a cache and cores that do not (measured: 27 and 150 ns, back and forth
 * within seconds). So it is looked at during each measurement. Owner: one thread.
 */
public final class CoreDistance {
  private static final int BATCHES = 20;
  private static final int TURNS = 50;

  /** So many samples are thrown away, once: the code is compiled. */
  private static final int WARM_UP = 20;

  private static volatile boolean compiled;

  /** Of {@link #word}, in a cache line and its neighbour that nothing else lies in. */
  private static final int AT = 16;

  private static final long FAILED = -1;
  private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);

  private final int asking;
  private final int answering;
  private final long[] word = new long[2 * AT];
  private final List<Double> samples = new ArrayList<>();

  private CoreDistance(int asking, int answering) {
    this.asking = asking;
    this.answering = answering;
  }

  /** Of the first two processors that this thread may use; null when there is only one. */
  public static CoreDistance here() {
    BitSet cpus = Threads.affinity();
    int first = cpus.nextSetBit(0);
    int second = cpus.nextSetBit(first + 1);
    if (second < 0) {
      return null;
    }
    CoreDistance distance = new CoreDistance(first, second);
    if (!compiled) {
      for (int i = 0; i < WARM_UP; i++) {
        distance.measureNs();
      }
      compiled = true;
    }
    return distance;
  }

  /** Adds a sample: less than a millisecond of both processors. */
  public void sample() {
    samples.add(measureNs());
  }

  /** Ways of a store in ns, of the samples so far; null when there is none. */
  public Spread ns() {
    return samples.isEmpty() ? null : Spread.of(samples);
  }

  private double measureNs() {
    BitSet before = Threads.affinity();
    word[AT] = 0;
    Thread helper = Thread.ofPlatform().daemon().name("core-distance").start(this::answer);
    try {
      Threads.pin(asking);
      return ask();
    } catch (RuntimeException e) {
      WORD.setRelease(word, AT, FAILED);
      throw e;
    } finally {
      Threads.setAffinity(before);
      join(helper);
    }
  }

  private static void join(Thread helper) {
    boolean interrupted = false;
    while (helper.isAlive()) {
      try {
        helper.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** The median of the batches: one in which a side had no processor says nothing. */
  private double ask() {
    long[] took = new long[BATCHES];
    long turn = 0;
    for (int batch = 0; batch < BATCHES; batch++) {
      long startNs = System.nanoTime();
      for (int i = 0; i < TURNS; i++) {
        WORD.setRelease(word, AT, turn + 1);
        turn += 2;
        awaitTurn(turn);
      }
      took[batch] = System.nanoTime() - startNs;
    }
    Arrays.sort(took);
    return took[BATCHES / 2] / (2.0 * TURNS);
  }

  private void answer() {
    try {
      Threads.pin(answering);
      for (long turn = 1; turn < 2L * BATCHES * TURNS; turn += 2) {
        awaitTurn(turn);
        WORD.setRelease(word, AT, turn + 1);
      }
    } catch (RuntimeException e) {
      WORD.setRelease(word, AT, FAILED);
    }
  }

  private void awaitTurn(long turn) {
    long seen;
    do {
      seen = (long) WORD.getAcquire(word, AT);
      if (seen == FAILED) {
        throw new IllegalStateException("cannot run on processor " + answering);
      }
    } while (seen != turn);
  }
}
