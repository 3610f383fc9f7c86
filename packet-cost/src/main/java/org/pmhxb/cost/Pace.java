package org.pmhxb.cost;

import java.util.function.DoubleSupplier;

/**
 * How fast the machine is: a virtual machine's speed may change by half and back within a
 * millisecond, for whatever runs on it, when another thread comes to the same core. That slows what
 * keeps the core's units busy, as packets do; a chain of steps that each need the one before takes
 * as long as ever. So it is steps side by side, in registers, that are timed. Owner: one thread at
 * a time.
 */
public final class Pace {
  /** Of the faster of two speeds, at most: they are a factor of 1.5 to 1.8 apart. */
  private static final double SAME = 1.15;

  /** 5 us at 3 GHz: short beside a batch. */
  private static final int STEPS = 4_000;

  private static final int WARM_UP_CALLS = 10_000;

  private final DoubleSupplier step;
  private long chain = 1;
  private double leastNs = Double.POSITIVE_INFINITY;
  private double beforeNs = Double.POSITIVE_INFINITY;

  /** This machine's; nothing is known of it yet. */
  public Pace() {
    step = this::walkedNs;
  }

  /** Of another than this machine. */
  Pace(DoubleSupplier step) {
    this.step = step;
  }

  /** Has it compiled. */
  public void warmUp() {
    for (int i = 0; i < WARM_UP_CALLS; i++) {
      stepNs();
    }
  }

  /**
   * The shortest step so far that was met twice in a row, ns: of the faster speed, if the machine
   * ever had it; infinite before the second look.
   */
  public double leastNs() {
    return leastNs;
  }

  /** What others met on this machine. */
  void learn(double leastNs) {
    this.leastNs = Math.min(this.leastNs, leastNs);
  }

  /** Time of a step now, ns; an interrupt is part of it. */
  double stepNs() {
    double stepNs = step.getAsDouble();
    leastNs = Math.min(leastNs, Math.max(beforeNs, stepNs));
    beforeNs = stepNs;
    return stepNs;
  }

  /**
   * Runs a batch, and notes with its times the slower of two looks: this one behind it, and the
   * last one before.
   *
   * @return packets that went through the subject
   */
  public int batch(PacketLoop loop) {
    double before = beforeNs;
    int packets = loop.batch();
    loop.times().met(Math.max(before, stepNs()));
    return packets;
  }

  private double walkedNs() {
    long begin = System.nanoTime();
    chain = walk(chain);
    return (double) (System.nanoTime() - begin) / STEPS;
  }

  /**
   * Six chains side by side, more than the processor has units for. No step of them can be worked
   * out beforehand, as a sum or product of several could be.
   */
  private static long walk(long from) {
    long a = from;
    long b = from + 1;
    long c = from + 2;
    long d = from + 3;
    long e = from + 4;
    long f = from + 5;
    for (int i = 0; i < STEPS; i++) {
      a = (a ^ a >>> 7) + 0x9E37;
      b = (b ^ b >>> 9) + 0x79B9;
      c = (c ^ c >>> 11) + 0x7F4A;
      d = (d ^ d >>> 13) + 0x7C15;
      e = (e ^ e >>> 15) + 0xF39C;
      f = (f ^ f >>> 17) + 0xC060;
    }
    return a ^ b ^ c ^ d ^ e ^ f;
  }

  /** The longest step of the speed that the shortest one is of, ns. */
  public static double mostNs(double leastNs) {
    return SAME * leastNs;
  }

  /** Whether the machine is at another speed than its fastest. */
  boolean isSlow() {
    return stepNs() > mostNs(leastNs);
  }
}
