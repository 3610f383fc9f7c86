package org.pmhxb.bufpool;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** Proves that a step leaves no garbage on the calling thread. */
final class Allocations {
  private static final int STEPS = 50_000;

  /**
   * At most. The compilers' own doings, and steps that wait to be compiled, fill some windows,
   * garbage of the step every one.
   */
  private static final int WINDOWS = 100;

  private Allocations() {}

  static void assertNone(Runnable step) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long least = Long.MAX_VALUE;
    for (int window = 0; window < WINDOWS && least >= STEPS / 100; window++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < STEPS; i++) {
        step.run();
      }
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
    }
    assertThat((double) least / STEPS).as("bytes per step").isLessThan(0.01);
  }
}
