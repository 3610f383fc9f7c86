package org.pmhxb.cli.soak;

import java.io.PrintWriter;
import java.util.List;
import org.pmhxb.cli.Report;

/**
 * What a soak found.
 *
 * @param rounds runs of traffic, each with other faults
 * @param stops nodes that were stopped for three seconds in mid-traffic and went on
 * @param kills nodes that were killed and started again
 * @param leakedBuffers over all ring clusters
 * @param heapGrowthBytes of this process, from the second ring round to the last
 * @param growth worst growth of a process that ran all the time, this one included
 * @param failures what did not go as it should; empty when ok
 */
public record SoakReport(
    boolean ok,
    long seed,
    double minutes,
    int rounds,
    long messages,
    long lost,
    long duplicated,
    long misordered,
    long corrupt,
    long resent,
    int stops,
    int kills,
    long leakedBuffers,
    long heapGrowthBytes,
    Growth growth,
    List<String> failures)
    implements Report {
  public SoakReport {
    failures = List.copyOf(failures);
  }

  /** See {@link Vitals}. */
  public record Growth(long residentBytes, int descriptors, int threads) {}

  @Override
  public void print(PrintWriter out) {
    out.printf(
        "%s: %.1f minutes, %d rounds, %d messages, seed %d%n",
        ok ? "ok" : "FAILED", minutes, rounds, messages, seed);
    out.printf(
        "  lost %d, duplicated %d, misordered %d, corrupt %d, resent %d%n",
        lost, duplicated, misordered, corrupt, resent);
    out.printf("  nodes stopped %d times, killed and restarted %d times%n", stops, kills);
    out.printf(
        "  leaked buffers %d, heap grown by %d B; worst process: memory %d B, descriptors %d,"
            + " threads %d%n",
        leakedBuffers,
        heapGrowthBytes,
        growth.residentBytes(),
        growth.descriptors(),
        growth.threads());
    failures.forEach(line -> out.println("  FAILED " + line));
  }
}
