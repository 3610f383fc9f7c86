package org.pmhxb.cli.bench;

import com.fasterxml.jackson.annotation.JsonInclude;

/**
 * Processor time that a measurement cost.
 *
 * @param seconds length of the interval
 * @param processSeconds user and system time of the processes that were watched
 * @param machineBusy share of all processors' time in which they were not idle, 0 to 1: with the
 *     kernel's own threads, with whatever else ran, and with what the host withheld
 * @param withheld the part of it in which a virtual machine's host let something else run (steal),
 *     0 to 1: with more than a few hundredths no figure means much
 * @param processors of the machine
 * @param storeNs until one processor sees what another stored, samples of the interval (see {@link
 *     CoreDistance}); null when it was not looked at
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record CpuUse(
    double seconds,
    double processSeconds,
    double machineBusy,
    double withheld,
    int processors,
    Spread storeNs) {
  /** From here on the machine is taken to be full. */
  private static final double FULL = 0.9;

  /** Processors that the watched processes kept busy, on average. */
  public double processorsUsed() {
    return processSeconds / seconds;
  }

  /**
   * How busy the machine was, as what limited something that links did not.
   *
   * @param busy share of all processors' time, 0 to 1
   */
  public static String limit(double busy, int processors) {
    String share = Math.round(100 * busy) + " % of " + processors + " processors";
    return isFull(busy) ? share : "none full: " + share;
  }

  /** Whether so busy a machine may be what limited a figure: 90 % and more, {@code busy} 0 to 1. */
  public static boolean isFull(double busy) {
    return busy >= FULL;
  }

  @Override
  public String toString() {
    String distance =
        storeNs == null
            ? ""
            : String.format(
                "; from one to another a store takes %.0f ns (%.0f to %.0f)",
                storeNs.median(), storeNs.min(), storeNs.max());
    String host =
        withheld < 0.005
            ? ""
            : String.format(", of which the host withheld %d %%", Math.round(100 * withheld));
    return String.format(
        "processors: %.2f used by the nodes, %d %% of the machine's %d busy%s%s",
        processorsUsed(), Math.round(100 * machineBusy), processors, host, distance);
  }
}
