package org.pmhxb.cli.bench;

/**
 * Processor time that a measurement cost.
 *
 * @param seconds length of the interval
 * @param processSeconds user and system time of the processes that were watched
 * @param machineBusy share of all processors' time in which they were not idle, 0 to 1: with the
 *     kernel's own threads, and with whatever else ran
 * @param processors of the machine
 */
public record CpuUse(double seconds, double processSeconds, double machineBusy, int processors) {
  /** From here on the machine is taken to be full. */
  private static final double FULL = 0.9;

  /** Processors that the watched processes kept busy, on average. */
  public double processorsUsed() {
    return processSeconds / seconds;
  }

  /** Whether the processors were the limit. */
  public boolean machineFull() {
    return machineBusy >= FULL;
  }

  /** Nanoseconds of processor time per unit of work, of which there were {@code perSecond}. */
  public double nsPer(double perSecond) {
    return processSeconds / seconds * 1e9 / perSecond;
  }

  @Override
  public String toString() {
    return String.format(
        "processors: %.2f used by the nodes, %d %% of the machine's %d busy",
        processorsUsed(), Math.round(100 * machineBusy), processors);
  }
}
