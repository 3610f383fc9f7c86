package org.pmhxb.cost;

import java.util.Arrays;

/**
 * What each batch cost, the node's path, its acknowledgements and the generator apart. The median
 * over batches says what the code costs on a machine that other programs share: a batch is short
 * beside a time slice. Owner: the benchmark's thread.
 */
public final class PhaseTimes {
  /** They count for the faster speed with such a part of the batches at it. */
  private static final double PART = 0.1;

  private static final int BATCHES_MAX = 1 << 14;

  private final float[] path;

  /** The path, and acknowledgements of what it sent. */
  private final float[] withAcks;

  private final float[] generator;

  /** How slow the machine was ({@link Pace#stepNs}); 0 where nobody looked. */
  private final float[] stepNs;

  /**
   * For the median, so that finding it allocates nothing that would count as the benchmark's; null
   * in a copy.
   */
  private final float[] sorted;

  private int batches;
  private boolean hasAcks;

  PhaseTimes() {
    path = new float[BATCHES_MAX];
    withAcks = new float[BATCHES_MAX];
    generator = new float[BATCHES_MAX];
    stepNs = new float[BATCHES_MAX];
    sorted = new float[BATCHES_MAX];
  }

  private PhaseTimes(PhaseTimes from) {
    path = Arrays.copyOf(from.path, from.batches);
    withAcks = from.hasAcks ? Arrays.copyOf(from.withAcks, from.batches) : path;
    generator = Arrays.copyOf(from.generator, from.batches);
    stepNs = Arrays.copyOf(from.stepNs, from.batches);
    sorted = null;
    batches = from.batches;
    hasAcks = from.hasAcks;
  }

  /** Forgets all batches. */
  public void begin() {
    batches = 0;
    hasAcks = false;
  }

  /** As it is now. */
  PhaseTimes copy() {
    return new PhaseTimes(this);
  }

  /** Of one batch; beyond {@value #BATCHES_MAX} of them the last one's place is taken. */
  void add(double pathNs, double acksNs, double generatorNs, int packets) {
    batches = Math.min(batches + 1, BATCHES_MAX);
    int i = batches - 1;
    path[i] = (float) (pathNs / packets);
    withAcks[i] = (float) ((pathNs + acksNs) / packets);
    generator[i] = (float) (generatorNs / packets);
    stepNs[i] = 0;
    hasAcks |= acksNs > 0;
  }

  /** How slow the machine was in the batch that was added last, ns a step. */
  void met(double ns) {
    stepNs[batches - 1] = (float) ns;
  }

  public boolean isEmpty() {
    return batches == 0;
  }

  /** Whether enough of them are of the machine's faster speed. */
  public boolean isFast(double mostStepNs) {
    return part(mostStepNs) >= PART;
  }

  /** The part of them in which a step took no longer, 0 to 1. */
  double part(double mostStepNs) {
    int count = 0;
    for (int i = 0; i < batches; i++) {
      count += isFastIn(i, mostStepNs) ? 1 : 0;
    }
    return (double) count / batches;
  }

  /**
   * Nor in its neighbours: where the speed changes within a batch, looks at its ends alone would
   * find some of them fast by chance.
   */
  private boolean isFastIn(int batch, double mostStepNs) {
    for (int i = Math.max(0, batch - 1); i <= Math.min(batch + 1, batches - 1); i++) {
      if (stepNs[i] > mostStepNs) {
        return false;
      }
    }
    return true;
  }

  /** The shortest step of all batches, ns. */
  double leastStepNs() {
    double least = Double.MAX_VALUE;
    for (int i = 0; i < batches; i++) {
      least = Math.min(least, stepNs[i]);
    }
    return least;
  }

  /**
   * Median, ns per packet, of the node's path, over the batches in which, and beside which, a step
   * took no longer.
   */
  public double pathNs(double mostStepNs) {
    return median(path, mostStepNs);
  }

  /** The same with the acknowledgements of what the path sent; of a path without, the same. */
  public double withAcksNs(double mostStepNs) {
    return median(withAcks, mostStepNs);
  }

  /** Whether acknowledgements were read beside the path. */
  public boolean hasAcks() {
    return hasAcks;
  }

  /** The same of what makes and takes the frames. */
  public double generatorNs(double mostStepNs) {
    return median(generator, mostStepNs);
  }

  /** The same of how slow the machine was, ns a step. */
  public double stepNs(double mostStepNs) {
    return median(stepNs, mostStepNs);
  }

  private double median(float[] values, double mostStepNs) {
    float[] counted = sorted == null ? new float[batches] : sorted;
    int count = 0;
    for (int i = 0; i < batches; i++) {
      if (isFastIn(i, mostStepNs)) {
        counted[count] = values[i];
        count++;
      }
    }
    Arrays.sort(counted, 0, count);
    return (counted[(count - 1) / 2] + counted[count / 2]) / 2;
  }
}
