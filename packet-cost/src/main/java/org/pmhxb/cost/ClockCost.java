package org.pmhxb.cost;

import java.util.Arrays;

/**
 * Time between two reads of the clock with nothing between: it is no packet's cost. Read anew for
 * each batch, since a virtual machine's speed changes by half within seconds. Owner: one thread.
 */
final class ClockCost {
  private static final int SAMPLES = 64;

  private final long[] samples = new long[SAMPLES];

  /** Mean of the middle half of some reads, ns. Allocates nothing. */
  double readNs() {
    for (int i = 0; i < SAMPLES; i++) {
      long begin = System.nanoTime();
      samples[i] = System.nanoTime() - begin;
    }
    Arrays.sort(samples);
    long sum = 0;
    int from = SAMPLES / 4;
    int to = SAMPLES - from;
    for (int i = from; i < to; i++) {
      sum += samples[i];
    }
    return (double) sum / (to - from);
  }
}
