package org.pmhxb.cli.bench.contention;

import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.pmhxb.cli.Report;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.bench.ResultFiles;
import org.pmhxb.cli.bench.Undisturbed;

/**
 * How streams fare that compete, and what relays add.
 *
 * @param command that measures it again
 * @param measuredAt ISO 8601, UTC
 * @param seconds that this command took
 * @param runs of each line
 * @param finished false when time ran out; what is missing is measured by {@code --resume}
 * @param disturbed runs by the host: how many were repeated, how many stayed
 * @param perRelayUs what each relay adds to the half round trip, microseconds, by the number of
 *     relays; the aim is at most 1
 * @param files that were written
 */
public record ContentionReport(
    boolean ok,
    String command,
    String measuredAt,
    double seconds,
    boolean quick,
    int runs,
    boolean finished,
    MachineInfo machine,
    Undisturbed.Counts disturbed,
    List<ContentionLine> results,
    List<Double> perRelayUs,
    List<String> failures,
    ResultFiles files)
    implements Report {

  /** The half round trips' differences, from the medians; as many as were measured. */
  static List<Double> perRelay(List<ContentionLine> lines) {
    Optional<Double> direct = relayed(lines, 0).map(ContentionReport::medianUs);
    return IntStream.rangeClosed(1, 2)
        .mapToObj(k -> relayed(lines, k).flatMap(line -> direct.map(d -> (medianUs(line) - d) / k)))
        .flatMap(Optional::stream)
        .toList();
  }

  /** The ping-pong over so many relays, if it was measured. */
  static Optional<ContentionLine> relayed(List<ContentionLine> lines, int relays) {
    return lines.stream()
        .filter(line -> line.id().equals(ContentionCase.relayedId(relays)))
        .findFirst();
  }

  private static double medianUs(ContentionLine ping) {
    return ping.halfRoundTripUs().median();
  }

  @Override
  public void print(PrintWriter out) {
    for (ContentionLine line : results) {
      out.printf("%-24s %-36s %s%n", line.title(), line.site(), ContentionPage.figures(line));
    }
    for (int k = 1; k <= perRelayUs.size(); k++) {
      out.printf("each of %d relays adds %.2f us (aim: 1.00 at most)%n", k, perRelayUs.get(k - 1));
    }
    files.print(out);
    if (!finished) {
      out.println("not finished: time ran out; go on with --resume");
    }
    failures.forEach(line -> out.println("FAILED: " + line));
  }
}
