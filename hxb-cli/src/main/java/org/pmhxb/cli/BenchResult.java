package org.pmhxb.cli;

import java.io.PrintWriter;
import java.util.List;
import org.pmhxb.cli.bench.Benchmark;
import org.pmhxb.cli.bench.CpuUse;
import org.pmhxb.cli.workload.LatencyHistogram;

/**
 * What one benchmark of a cluster found; of a running cluster shape, rails and rate are its own.
 *
 * @param links links of a node in use
 * @param bytesPerSecond payload that receivers' programs got
 * @param theoreticalBytesPerSecond raw rate of the links in use; null when they are not shaped
 * @param halfRoundTripNs of latency
 * @param latencyNs one-way times of streams: under full load, so mostly waiting
 * @param notWell what a running cluster's links and paths lacked before or behind the measurement
 * @param cpu processor time of the nodes' processes; null when they are threads of this one
 */
record BenchResult(
    boolean ok,
    String kind,
    String fabric,
    String shape,
    int rails,
    int links,
    int relays,
    boolean both,
    String rate,
    int size,
    double seconds,
    double bytesPerSecond,
    Double theoreticalBytesPerSecond,
    Double efficiency,
    double messagesPerSecond,
    long messages,
    long lost,
    long duplicated,
    long misordered,
    long corrupt,
    long resent,
    LatencyHistogram.Summary halfRoundTripNs,
    LatencyHistogram.Summary latencyNs,
    CpuUse cpu,
    List<Benchmark.Pair> pairs,
    List<String> notWell,
    List<String> failures)
    implements Report {
  @Override
  public void print(PrintWriter out) {
    out.printf(
        "%s over %s, shape %s, %s%s, %d B, %.1f s%n",
        kind,
        fabric,
        shape,
        Words.count(rails, "rail"),
        rate == null ? "" : " of " + rate,
        size,
        seconds);
    if (halfRoundTripNs == null) {
      out.printf("  %.1f MB/s, %.0f messages/s", bytesPerSecond / 1e6, messagesPerSecond);
      out.printf(
          efficiency == null ? "%n" : ", %.2f %% of %.1f MB/s%n",
          efficiency == null ? 0 : 100 * efficiency,
          theoreticalBytesPerSecond == null ? 0 : theoreticalBytesPerSecond / 1e6);
    } else {
      out.printf(
          "  half round trip, us: min %.2f, p50 %.2f, p99 %.2f, p99.9 %.2f, max %.2f (%d)%n",
          halfRoundTripNs.min() / 1e3,
          halfRoundTripNs.p50() / 1e3,
          halfRoundTripNs.p99() / 1e3,
          halfRoundTripNs.p999() / 1e3,
          halfRoundTripNs.max() / 1e3,
          messages);
    }
    if (cpu != null) {
      out.printf("  %s%n", cpu);
    }
    out.printf(
        "  lost %d, duplicated %d, misordered %d, corrupt %d, resent %d%n",
        lost, duplicated, misordered, corrupt, resent);
    notWell.forEach(line -> out.println("  NOT well: " + line));
    failures.forEach(line -> out.println("  FAILED: " + line));
  }
}
