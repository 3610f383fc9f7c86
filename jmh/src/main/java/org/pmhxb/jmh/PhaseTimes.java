package org.pmhxb.jmh;

import java.util.Arrays;

/**
 * What each batch of an iteration cost, generator and node apart. The median over batches says what
 * the code costs on a machine that other programs share: a batch is short beside a time slice.
 * Owner: the benchmark's thread; the profiler reads between iterations.
 */
final class PhaseTimes {
  /** Of the benchmark that runs in this JVM. */
  static final PhaseTimes CURRENT = new PhaseTimes();

  private static final int BATCHES_MAX = 1 << 17;

  private final float[] path = new float[BATCHES_MAX];
  private final float[] generator = new float[BATCHES_MAX];

  /** For the median, so that finding it allocates nothing that would count as the benchmark's. */
  private final float[] sorted = new float[BATCHES_MAX];

  private int batches;

  private PhaseTimes() {}

  void begin() {
    batches = 0;
  }

  void add(long pathNs, long generatorNs, int packets) {
    if (batches < BATCHES_MAX) {
      path[batches] = (float) pathNs / packets;
      generator[batches] = (float) generatorNs / packets;
      batches++;
    }
  }

  boolean isEmpty() {
    return batches == 0;
  }

  double pathNs() {
    return median(path);
  }

  double generatorNs() {
    return median(generator);
  }

  private double median(float[] values) {
    System.arraycopy(values, 0, sorted, 0, batches);
    Arrays.sort(sorted, 0, batches);
    return sorted[batches / 2];
  }
}
