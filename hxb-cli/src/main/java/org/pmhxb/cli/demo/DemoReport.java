package org.pmhxb.cli.demo;

import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import org.pmhxb.cli.Report;
import org.pmhxb.cli.Words;
import org.pmhxb.cli.bench.ProjectFolder;

/**
 * What the demo found.
 *
 * @param ok there are no failures
 * @param lost messages that had not arrived {@value DemoRun#DRAIN_S} s after the last was sent: on
 *     their way still, or of unknown fate since a peer was reported down
 * @param wireLost frames lost on purpose
 * @param pairs ordered pairs of nodes that exchanged messages
 * @param packetsPerSecond frames that nodes received, relays and acknowledgements included
 * @param nsPerPacket time of the one thread per such frame: nodes, wire, and program together
 * @param nodeNsPerPacket the part of the nodes alone: receive, order, deliver, send, relay
 * @param wireNsPerPacket the part of the software wire, which copies each frame once
 * @param programNsPerPacket the part of the program: making and verifying payload
 * @param hugepages whether all pools lie in such; else none does
 * @param hugepagesNeeded of 2 MB, by all pools
 * @param hugepagesFree of them, before the pools were made
 */
public record DemoReport(
    boolean ok,
    String fabric,
    String shape,
    int nodes,
    int rails,
    int size,
    double loss,
    int pairs,
    long messages,
    long bytes,
    long lost,
    long duplicated,
    long misordered,
    long corrupt,
    long resent,
    long relayed,
    long wireCopies,
    long wireLost,
    long rxToCallbackCopies,
    double seconds,
    double gbitPerSecond,
    double packetsPerSecond,
    double nsPerPacket,
    double nodeNsPerPacket,
    double wireNsPerPacket,
    double programNsPerPacket,
    long leakedBuffers,
    boolean hugepages,
    long hugepagesNeeded,
    long hugepagesFree,
    List<Hops> byHops,
    Map<String, Long> counters,
    List<String> failures)
    implements Report {

  /** Messages that crossed the same number of relays. */
  public record Hops(
      int relays, int pairs, long messages, double gbitPerSecond, Latency latencyNs) {}

  /** One-way time from write to callback, under full load. */
  public record Latency(long p50, long p99, long p999, long max) {}

  @Override
  public void print(PrintWriter out) {
    out.printf(
        "%s: %s hyper-crossbar, %d nodes, %s per dimension, fabric %s, %d B messages%n",
        ok ? "ok" : "FAILED", shape, nodes, Words.count(rails, "rail"), fabric, size);
    failures.forEach(failure -> out.println("  " + failure));
    out.println();
    out.println("relays  pairs     messages   Gbit/s   latency us: p50      p99     p999      max");
    for (Hops h : byHops) {
      out.printf(
          "%6d %6d %12d %8.2f %15.1f %8.1f %8.1f %8.1f%n",
          h.relays,
          h.pairs,
          h.messages,
          h.gbitPerSecond,
          h.latencyNs.p50 / 1e3,
          h.latencyNs.p99 / 1e3,
          h.latencyNs.p999 / 1e3,
          h.latencyNs.max / 1e3);
    }
    out.println();
    out.printf(
        "payload   %.2f Gbit/s, %.2f GB in %.2f s, verified byte by byte%n",
        gbitPerSecond, bytes / 1e9, seconds);
    out.printf(
        "packets   %.0f/s, %.0f ns each: nodes %.0f, wire (copies) %.0f, program %.0f%n",
        packetsPerSecond, nsPerPacket, nodeNsPerPacket, wireNsPerPacket, programNsPerPacket);
    out.printf(
        "delivery  %d messages, lost %d, duplicated %d, misordered %d, corrupt %d%n",
        messages, lost, duplicated, misordered, corrupt);
    out.printf("network   relayed %d, lost on purpose %d, resent %d%n", relayed, wireLost, resent);
    out.printf(
        "copies    %d on the wire, %d between receive burst and callback; leaked buffers %d%n",
        wireCopies, rxToCallbackCopies, leakedBuffers);
    out.println("counters  (some acknowledgements were still on their way)");
    counters.forEach(
        (name, value) -> {
          if (value != 0) {
            out.printf("  %-28s %d%n", name, value);
          }
        });
    if (!hugepages) {
      out.printf(
          "note      4 KB pages: all pools need %s of 2 MB, %d were free; %s%n",
          Words.count(hugepagesNeeded, "page"), hugepagesFree, mend());
    }
  }

  /** The launcher of an installation reserves none. */
  private String mend() {
    return ProjectFolder.isInstallation()
        ? "hxb doctor says how to reserve"
        : "to have them: HXB_HUGEPAGES=%d ./hxb demo --shape %s --rails %d"
            .formatted(hugepagesNeeded, shape, rails);
  }
}
