package org.pmhxb.bufpool;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** Proves that a step leaves no garbage on the calling thread. */
final class Allocations {
  private static final int STEPS = 200_000;

  private Allocations() {}

  /** The compilers' own doings come first, and a single object of 16 B a step would show. */
  static void assertNone(Runnable step) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    for (int i = 0; i < STEPS; i++) {
      step.run();
    }
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < STEPS; i++) {
      step.run();
    }
    long bytes = threads.getCurrentThreadAllocatedBytes() - before;
    assertThat((double) bytes / STEPS).as("bytes per step").isLessThan(0.01);
  }
}
