package org.pmhxb.cli.bench.contention;

import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.pmhxb.cli.Report;
import org.pmhxb.cli.Words;
import org.pmhxb.cli.bench.Bounded;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.bench.Quartiles;
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
 * @param perRelayUs by the number of relays, as far as measured: what each adds to the half round
 *     trip, microseconds; the aim is at most 1
 * @param rateLost by the number of relays, as far as measured: share of the rate of 4 B messages,
 *     one a frame, that is lost to them, 0 to 1, the median of the rounds in which each way was
 *     measured beside the direct one; it must be at most {@link #RATE_LOST_MUST}, the aim is {@link
 *     #RATE_LOST_AIM}
 * @param missed those that are more than that, for people
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
    Map<Integer, Double> perRelayUs,
    Map<Integer, Double> rateLost,
    List<String> missed,
    List<String> failures,
    ResultFiles files)
    implements Report {
  /** By the number of relays. */
  static final Map<Integer, Double> RATE_LOST_MUST = Map.of(1, 0.15, 2, 0.25);

  /** What a store takes to another processor scatters by less while the processors stay. */
  private static final double OTHER_DISTANCE = 2;

  static final Map<Integer, Double> RATE_LOST_AIM = Map.of(1, 0.05, 2, 0.10);

  /** The half round trips' differences, from the medians; as many as were measured. */
  static Map<Integer, Double> perRelay(List<ContentionLine> lines) {
    Map<Integer, Double> added = new TreeMap<>();
    Optional<Double> direct = relayed(lines, 0).map(ContentionReport::medianUs);
    for (int relays = 1; relays <= 2; relays++) {
      Optional<Double> us = relayed(lines, relays).map(ContentionReport::medianUs);
      if (direct.isPresent() && us.isPresent()) {
        added.put(relays, (us.get() - direct.get()) / relays);
      }
    }
    return added;
  }

  /**
   * Whether the processors were farther from each other in the one than in the other of two
   * ping-pongs whose difference is told: then it says more of that than of the relays.
   */
  static boolean areAtOtherDistances(List<ContentionLine> lines, int relays) {
    Optional<ContentionLine> direct = relayed(lines, 0).filter(line -> line.storeNs() != null);
    Optional<ContentionLine> over = relayed(lines, relays).filter(line -> line.storeNs() != null);
    if (direct.isEmpty() || over.isEmpty()) {
      return false;
    }
    double one = direct.get().storeNs().median();
    double other = over.get().storeNs().median();
    return Math.max(one, other) > OTHER_DISTANCE * Math.min(one, other);
  }

  /** As many as were measured beside the direct way. */
  static Map<Integer, Double> rateLost(List<ContentionLine> lines) {
    Map<Integer, Double> all = new TreeMap<>();
    for (int relays = 1; relays <= 2; relays++) {
      Optional<Quartiles> lost = relayedRate(lines, relays).map(ContentionLine::rateLost);
      if (lost.isPresent()) {
        all.put(relays, lost.get().median());
      }
    }
    return all;
  }

  /** Of these, those that miss their must. */
  static List<String> missed(Map<Integer, Double> rateLost) {
    return rateLost.entrySet().stream()
        .filter(lost -> !(lost.getValue() <= RATE_LOST_MUST.get(lost.getKey())))
        .map(
            lost ->
                Bounded.missed(
                    "rate of 4 B messages lost to " + Words.count(lost.getKey(), "relay"),
                    100 * lost.getValue(),
                    "%",
                    100 * RATE_LOST_MUST.get(lost.getKey()),
                    true))
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

  private static double medianUs(ContentionLine ping) {
    return ping.halfRoundTripUs().median();
  }

  @Override
  public void print(PrintWriter out) {
    for (ContentionLine line : results) {
      out.printf("%-24s %-36s %s%n", line.title(), line.site(), ContentionPage.figures(line));
    }
    perRelayUs.forEach(
        (relays, us) ->
            out.printf(
                "each of %s adds %.2f us (aim: 1.00 at most)%s%n",
                Words.count(relays, "relay"),
                us,
                areAtOtherDistances(results, relays)
                    ? "; the processors were at another distance than without"
                    : ""));
    rateLost.forEach(
        (relays, lost) ->
            out.printf(
                "relays: %d, rate of 4 B messages lost to them %s (must: %.0f %% at most)%n",
                relays,
                ContentionPage.rateLost(relayedRate(results, relays).orElseThrow()),
                100 * RATE_LOST_MUST.get(relays)));
    files.print(out);
    if (!finished) {
      out.println("not finished: time ran out; go on with --resume");
    }
    failures.forEach(line -> out.println("FAILED: " + line));
  }
}
