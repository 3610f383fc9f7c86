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
 * @param rateLost share of the rate of 4 B messages, one a frame, that is lost to 1 and 2 relays, 0
 *     to 1; at most {@link #RATE_LOST_MUST}, the aim is {@link #RATE_LOST_AIM}
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
    List<Double> rateLost,
    List<String> failures,
    ResultFiles files)
    implements Report {
  /** To 1 and to 2 relays. */
  static final List<Double> RATE_LOST_MUST = List.of(0.15, 0.25);

  static final List<Double> RATE_LOST_AIM = List.of(0.05, 0.10);

  /** The half round trips' differences, from the medians; as many as were measured. */
  static List<Double> perRelay(List<ContentionLine> lines) {
    Optional<Double> direct = relayed(lines, 0).map(ContentionReport::medianUs);
    return IntStream.rangeClosed(1, 2)
        .mapToObj(k -> relayed(lines, k).flatMap(line -> direct.map(d -> (medianUs(line) - d) / k)))
        .flatMap(Optional::stream)
        .toList();
  }

  /** From the medians; as many as were measured. */
  static List<Double> rateLost(List<ContentionLine> lines) {
    Optional<Double> direct = relayedRate(lines, 0).map(ContentionReport::medianRate);
    return IntStream.rangeClosed(1, 2)
        .mapToObj(
            k -> relayedRate(lines, k).flatMap(line -> direct.map(d -> 1 - medianRate(line) / d)))
        .flatMap(Optional::stream)
        .toList();
  }

  /** The ping-pong over so many relays, if it was measured. */
  static Optional<ContentionLine> relayed(List<ContentionLine> lines, int relays) {
    return line(lines, ContentionCase.relayedId(relays));
  }

  /** The stream of 4 B messages over so many relays, if it was measured. */
  static Optional<ContentionLine> relayedRate(List<ContentionLine> lines, int relays) {
    return line(lines, ContentionCase.relayedRateId(relays));
  }

  private static Optional<ContentionLine> line(List<ContentionLine> lines, String id) {
    return lines.stream().filter(line -> line.id().equals(id)).findFirst();
  }

  private static double medianRate(ContentionLine line) {
    return line.messagesPerSecond().median();
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
    for (int k = 1; k <= rateLost.size(); k++) {
      out.printf(
          "%d of the relays take %.0f %% of the rate of 4 B messages (must: %.0f %% at most)%n",
          k, 100 * rateLost.get(k - 1), 100 * RATE_LOST_MUST.get(k - 1));
    }
    files.print(out);
    if (!finished) {
      out.println("not finished: time ran out; go on with --resume");
    }
    failures.forEach(line -> out.println("FAILED: " + line));
  }
}
