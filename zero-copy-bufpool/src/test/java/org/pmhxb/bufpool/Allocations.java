package org.pmhxb.bufpool;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** Proves that a step leaves no garbage on the calling thread. */
final class Allocations {
  private static final int STEPS = 50_000;

  /** The compilers' own doings fall into some window, garbage of the step into every one. */
  private static final int WINDOWS = 4;

  private Allocations() {}

  static void assertNone(Runnable step) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    for (int i = 0; i < STEPS; i++) {
      step.run();
    }
    long least = Long.MAX_VALUE;
    for (int window = 0; window < WINDOWS; window++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < STEPS; i++) {
        step.run();
      }
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
    }
    assertThat((double) least / STEPS).as("bytes per step").isLessThan(0.01);
  }
}
