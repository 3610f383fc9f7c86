package org.pmhxb.cli.fuzz;

import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import org.pmhxb.cli.Report;

/**
 * What a fuzz run found.
 *
 * @param frames hostile frames given to the node
 * @param dropped of these: had to be dropped without a trace, and were
 * @param relayed of these: had to be forwarded unchanged, and were
 * @param judgedByState of these: right in header, CRC and session; what they may change is their
 *     sender's business
 * @param drops by reason, at the node
 * @param goodMessages of the other nodes, delivered between hostile frames
 * @param allocatedBytesPerFrame on the Java heap, by frames that had to be dropped
 * @param heapGrowthBytes from a tenth of the run to its end, after collections
 * @param violations what should not have happened; empty when ok
 */
public record FuzzReport(
    boolean ok,
    long seed,
    long frames,
    long dropped,
    long relayed,
    long judgedByState,
    Map<String, Long> drops,
    long goodMessages,
    long goodLost,
    long leakedBuffers,
    double allocatedBytesPerFrame,
    long heapGrowthBytes,
    double seconds,
    double framesPerSecond,
    List<String> violations)
    implements Report {
  public FuzzReport {
    drops = Map.copyOf(drops);
    violations = List.copyOf(violations);
  }

  @Override
  public void print(PrintWriter out) {
    out.printf(
        "%s: %d hostile frames, seed %d, %.1f s, %.0f frames/s%n",
        ok ? "ok" : "FAILED", frames, seed, seconds, framesPerSecond);
    out.printf(
        "  dropped without a trace %d, relayed unchanged %d, judged by a session %d%n",
        dropped, relayed, judgedByState);
    out.printf(
        "  good messages between them %d, lost %d; leaked buffers %d%n",
        goodMessages, goodLost, leakedBuffers);
    out.printf(
        "  heap: %.3f B allocated per dropped frame, grown by %d B%n",
        allocatedBytesPerFrame, heapGrowthBytes);
    drops.entrySet().stream()
        .filter(e -> e.getValue() > 0)
        .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
        .forEach(e -> out.printf("  %-20s %d%n", e.getKey(), e.getValue()));
    violations.forEach(line -> out.println("  VIOLATION " + line));
  }
}
