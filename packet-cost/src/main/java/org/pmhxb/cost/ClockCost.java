package org.pmhxb.cost;

/**
 * Time between two reads of the clock with nothing between: it is no packet's cost. Read anew for
 * each batch, since a virtual machine's speed changes by half within milliseconds. Owner: one
 * thread.
 */
final class ClockCost {
  private static final int SAMPLES = 64;

  private final long[] samples = new long[SAMPLES];

  /**
   * Mean of the middle half of some reads, ns. Allocates nothing, which sorting by the JDK does.
   */
  double readNs() {
    for (int i = 0; i < SAMPLES; i++) {
      long begin = System.nanoTime();
      insert(System.nanoTime() - begin, i);
    }
    long sum = 0;
    int from = SAMPLES / 4;
    int to = SAMPLES - from;
    for (int i = from; i < to; i++) {
      sum += samples[i];
    }
    return (double) sum / (to - from);
  }

  private void insert(long sample, int count) {
    int at = count;
    while (at > 0 && samples[at - 1] > sample) {
      samples[at] = samples[at - 1];
      at--;
    }
    samples[at] = sample;
  }
}
