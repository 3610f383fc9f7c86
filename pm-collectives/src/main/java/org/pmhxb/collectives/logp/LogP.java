package org.pmhxb.collectives.logp;

import java.util.Arrays;

/**
 * What a fabric costs, nanoseconds, for a COLLECTIVE frame.
 *
 * @param osNs processor time of sending one
 * @param orNs processor time of receiving one
 * @param gapNs least time between two frames that leave, or arrive, by the same rail
 * @param copyNs processor time of each copy but the first of a frame to a line, where the sender's
 *     processor makes them (bridges of the same kernel); 0 where a switch does
 * @param latencyNs by the number of relays, 0 to 2: from the end of sending to the begin of
 *     receiving
 */
public record LogP(double osNs, double orNs, double gapNs, double copyNs, double[] latencyNs) {
  public LogP {
    latencyNs = latencyNs.clone();
    boolean negative = Arrays.stream(latencyNs).anyMatch(l -> !(l >= 0));
    if (!(osNs >= 0 && orNs >= 0 && gapNs >= 0 && copyNs >= 0)
        || negative
        || latencyNs.length == 0) {
      throw new IllegalArgumentException(
          "LogP of os %s, or %s, gap %s, copy %s, L %s ns: none may be negative, L has a value"
              .formatted(osNs, orNs, gapNs, copyNs, Arrays.toString(latencyNs)));
    }
  }

  /** A switch copies what goes to a line. */
  public LogP(double osNs, double orNs, double gapNs, double[] latencyNs) {
    this(osNs, orNs, gapNs, 0, latencyNs);
  }

  /**
   * What is taken where nothing was measured: poll-mode nodes with a processor each on Gigabit
   * Ethernet. A frame of 96 bytes takes 0.8 us on a wire; processors need less than that for it,
   * and a switch, or a relay, a few microseconds.
   */
  public static LogP typical() {
    return new LogP(300, 300, 800, new double[] {5_000, 10_000, 15_000});
  }

  @Override
  public double[] latencyNs() {
    return latencyNs.clone();
  }

  /** L of a way with so many relays; beyond what was measured each adds as much as the last did. */
  public double latencyNs(int relays) {
    int last = latencyNs.length - 1;
    double more = last == 0 ? latencyNs[0] : latencyNs[last] - latencyNs[last - 1];
    return relays <= last ? latencyNs[relays] : latencyNs[last] + (relays - last) * more;
  }
}
