package org.pmhxb.cost;

import java.util.Arrays;

/**
 * What each batch cost, the node's path, its acknowledgements and the generator apart. The median
 * over batches says what the code costs on a machine that other programs share: a batch is short
 * beside a time slice. Owner: the benchmark's thread.
 */
public final class PhaseTimes {
  private static final int BATCHES_MAX = 1 << 17;

  private final float[] path = new float[BATCHES_MAX];

  /** The path, and acknowledgements of what it sent. */
  private final float[] withAcks = new float[BATCHES_MAX];

  private final float[] generator = new float[BATCHES_MAX];

  /** For the median, so that finding it allocates nothing that would count as the benchmark's. */
  private final float[] sorted = new float[BATCHES_MAX];

  private int batches;
  private boolean hasAcks;

  /** Forgets all batches. */
  public void begin() {
    batches = 0;
    hasAcks = false;
  }

  void add(double pathNs, double acksNs, double generatorNs, int packets) {
    if (batches < BATCHES_MAX) {
      path[batches] = (float) (pathNs / packets);
      withAcks[batches] = (float) ((pathNs + acksNs) / packets);
      generator[batches] = (float) (generatorNs / packets);
      hasAcks |= acksNs > 0;
      batches++;
    }
  }

  public boolean isEmpty() {
    return batches == 0;
  }

  /** Median over batches, ns per packet, of the node's path. */
  public double pathNs() {
    return median(path);
  }

  /** The same with the acknowledgements of what the path sent; of a path without, the same. */
  public double withAcksNs() {
    return median(withAcks);
  }

  /** Whether acknowledgements were read beside the path. */
  public boolean hasAcks() {
    return hasAcks;
  }

  /** Median over batches, ns per packet, of what makes and takes the frames. */
  public double generatorNs() {
    return median(generator);
  }

  private double median(float[] values) {
    System.arraycopy(values, 0, sorted, 0, batches);
    Arrays.sort(sorted, 0, batches);
    return sorted[batches / 2];
  }
}
