package org.pmhxb.collectives.probe;

import java.util.function.LongSupplier;

/**
 * How the thread that probes tells time, nanoseconds.
 *
 * @param now the time
 * @param processor how long the thread has had a processor: what its own work costs
 * @param sleeps whether it gives the processor up while it waits
 */
public record ProbeClock(LongSupplier now, LongSupplier processor, boolean sleeps) {
  /** Of a thread that polls on, so that what passes is its own. */
  public static ProbeClock polling(LongSupplier now) {
    return new ProbeClock(now, now, false);
  }

  /** Of a thread that sleeps until a frame comes. */
  public static ProbeClock sleeping(LongSupplier now, LongSupplier processor) {
    return new ProbeClock(now, processor, true);
  }

  long nowNs() {
    return now.getAsLong();
  }

  long processorNs() {
    return processor.getAsLong();
  }
}
