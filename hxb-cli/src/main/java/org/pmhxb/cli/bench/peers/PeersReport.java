package org.pmhxb.cli.bench.peers;

import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.pmhxb.cli.Report;
import org.pmhxb.cli.Words;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.bench.ResultFiles;
import org.pmhxb.cli.bench.Undisturbed;

/**
 * Ours and the peers', side by side.
 *
 * @param ok whether all of ours was measured: peers that fail do not decide it
 * @param command that measures them again
 * @param measuredAt ISO 8601, UTC
 * @param runs of each figure
 * @param finished false when time ran out; what is missing is measured by {@code --resume}
 * @param disturbed runs by the host, ours and the peers': how many were repeated, how many stayed
 * @param rate of the shaped links
 * @param missing peers that are not installed, with what to do
 * @param found one entry per peer and case
 * @param idle our own idle strategies
 * @param aims what ours have to reach and are meant to, with what they did; empty without ours
 * @param missed the aims whose must was missed, for people
 * @param failures of ours, and of what both are measured on
 * @param peerFailures cases of peers in which every try was refused, with why
 */
public record PeersReport(
    boolean ok,
    String command,
    String measuredAt,
    double seconds,
    boolean quick,
    int runs,
    boolean finished,
    MachineInfo machine,
    Undisturbed.Counts disturbed,
    String rate,
    List<Program> programs,
    Map<String, String> missing,
    List<PeerFound> found,
    List<IdleFound> idle,
    List<PeersAims.Aim> aims,
    List<String> missed,
    List<String> failures,
    List<String> peerFailures,
    ResultFiles files)
    implements Report {

  /** A peer that was there. */
  public record Program(String name, String version, String how) {}

  /** Which peers failed, in one line for standard error; empty when none did. */
  public Optional<String> failedPeers() {
    Map<String, Long> cases =
        found.stream()
            .filter(f -> !PeersSuite.isOurs(f.peer()) && f.failure() != null)
            .collect(Collectors.groupingBy(PeerFound::peer, TreeMap::new, Collectors.counting()));
    return cases.isEmpty()
        ? Optional.empty()
        : Optional.of(
            cases.entrySet().stream()
                .map(e -> e.getKey() + " in " + Words.count(e.getValue(), "case"))
                .collect(
                    Collectors.joining(", ", "peers that failed: ", "; the exit code is ours")));
  }

  @Override
  public void print(PrintWriter out) {
    out.print(PeersPage.tables(this));
    missing.forEach((name, reason) -> out.println("not measured: " + name + ": " + reason));
    files.print(out);
    if (!finished) {
      out.println("not finished: time ran out; go on with --resume");
    }
    peerFailures.forEach(line -> out.println("peer failed: " + line));
    failures.forEach(line -> out.println("FAILED: " + line));
  }
}
