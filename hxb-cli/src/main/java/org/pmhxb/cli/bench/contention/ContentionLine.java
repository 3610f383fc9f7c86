package org.pmhxb.cli.bench.contention;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.pmhxb.cli.bench.Benchmark;
import org.pmhxb.cli.bench.Efficiency;
import org.pmhxb.cli.bench.Quartiles;
import org.pmhxb.cli.bench.Spread;
import org.pmhxb.cli.bench.Withheld;
import org.pmhxb.router.Shape;

/**
 * What the runs of one case found.
 *
 * @param megabytesPerSecond payload that arrived, all streams together; null of ping-pongs
 * @param messagesPerSecond that arrived; null where bytes count
 * @param nsPerMessage the same as a time; null where bytes count
 * @param rateLost share of the messages a second of the direct way that is lost to the relays, 0 to
 *     1, of each round of slices by itself; null where no direct way was measured in turn with it
 * @param share of what the links' raw rates allow; null when they are not shaped
 * @param fairness goodput of the slowest stream as a share of the mean; null of ping-pongs
 * @param byRelays mean goodput of the streams over 0, 1, 2, ... relays as a share of the mean of
 *     all, medians of the runs; null where all streams have as many
 * @param halfRoundTripUs medians of the runs; null of streams
 * @param resentShare frames sent again as a share of the messages, all runs together, their
 *     warm-ups too
 * @param processorsUsed by the nodes' processes, the runs' median; null when unknown
 * @param machineBusy share of all processors' time in which they were not idle, 0 to 1, the runs'
 *     median; null when unknown
 * @param withheld share of it that the host withheld, 0 to 1; null when unknown
 * @param storeNs of ping-pongs, until one processor saw what another stored: medians of the runs;
 *     null when unknown
 * @param must least share; null: no bound is set
 * @param failures what did not go as it should
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record ContentionLine(
    String id,
    String title,
    String site,
    Spread megabytesPerSecond,
    Spread messagesPerSecond,
    Spread nsPerMessage,
    Quartiles rateLost,
    Spread share,
    Spread fairness,
    List<Double> byRelays,
    Spread halfRoundTripUs,
    double resentShare,
    Double processorsUsed,
    Double machineBusy,
    Spread withheld,
    Spread storeNs,
    Double must,
    List<String> failures) {

  static ContentionLine of(ContentionCase what, List<Benchmark.Outcome> runs) {
    return of(what, runs, null);
  }

  /**
   * Of a case that was measured in turn with others.
   *
   * @param runs one for each round
   * @param direct likewise of the case without relays; empty when it was not measured
   */
  static ContentionLine inTurn(
      ContentionCase what, List<Benchmark.Outcome> runs, List<Benchmark.Outcome> direct) {
    boolean compares =
        !direct.isEmpty() && direct != runs && direct.stream().allMatch(run -> run.messages() > 0);
    return of(what, runs, compares ? rateLost(runs, direct) : null);
  }

  /** Each round by itself: from one to the next the machine may be another by half. */
  private static Quartiles rateLost(List<Benchmark.Outcome> runs, List<Benchmark.Outcome> direct) {
    return Quartiles.of(
        IntStream.range(0, runs.size())
            .mapToObj(
                round ->
                    1 - runs.get(round).messagesPerSecond() / direct.get(round).messagesPerSecond())
            .toList());
  }

  private static ContentionLine of(
      ContentionCase what, List<Benchmark.Outcome> runs, Quartiles rateLost) {
    Spread bytes = Spread.of(runs, Benchmark.Outcome::bytesPerSecond);
    boolean metered = runs.stream().allMatch(run -> run.cpu() != null);
    long messages = runs.stream().mapToLong(Benchmark.Outcome::messagesInAll).sum();
    long resent = runs.stream().mapToLong(Benchmark.Outcome::resent).sum();
    return new ContentionLine(
        what.id(),
        what.title(),
        what.site().toString(),
        what.isPing() ? null : bytes.map(b -> b / 1e6),
        what.isRate() ? Spread.of(runs, Benchmark.Outcome::messagesPerSecond) : null,
        what.isRate() ? Spread.of(runs, run -> 1e9 / run.messagesPerSecond()) : null,
        rateLost,
        what.ceiling() == 0 ? null : bytes.map(b -> b / what.ceiling()),
        what.isPing() ? null : Spread.of(runs, ContentionLine::fairness),
        what.isPing() ? null : byRelays(what.site().shape(), runs),
        what.isPing() ? Spread.of(runs, run -> run.latency().p50() / 1e3) : null,
        (double) resent / Math.max(1, messages),
        metered
            ? Double.valueOf(Spread.of(runs, run -> run.cpu().processorsUsed()).median())
            : null,
        metered ? Double.valueOf(Spread.of(runs, run -> run.cpu().machineBusy()).median()) : null,
        Withheld.of(runs, Benchmark.Outcome::cpu),
        runs.stream().allMatch(run -> run.cpu() != null && run.cpu().storeNs() != null)
            ? Spread.of(runs, run -> run.cpu().storeNs().median())
            : null,
        what.must() == 0 ? null : what.must(),
        runs.stream().flatMap(run -> faults(what, run).stream()).distinct().toList());
  }

  private static double fairness(Benchmark.Outcome run) {
    return run.pairs().stream().mapToDouble(Benchmark.Pair::bytesPerSecond).min().orElse(0)
        * run.pairs().size()
        / Math.max(1, run.bytesPerSecond());
  }

  private static List<Double> byRelays(Shape shape, List<Benchmark.Outcome> runs) {
    List<Integer> lengths =
        runs.getFirst().pairs().stream()
            .map(pair -> shape.hops(pair.src(), pair.dst()))
            .distinct()
            .sorted()
            .toList();
    return lengths.size() < 2
        ? null
        : lengths.stream()
            .map(hops -> Spread.of(runs, run -> shareOf(shape, hops, run)).median())
            .toList();
  }

  private static double shareOf(Shape shape, int hops, Benchmark.Outcome run) {
    double mean = run.bytesPerSecond() / run.pairs().size();
    return run.pairs().stream()
        .filter(pair -> shape.hops(pair.src(), pair.dst()) == hops)
        .mapToDouble(pair -> pair.bytesPerSecond() / Math.max(1, mean))
        .average()
        .orElse(0);
  }

  /** What is wrong with a run, for people. */
  static List<String> faults(ContentionCase what, Benchmark.Outcome run) {
    List<String> faults = new ArrayList<>(run.failures());
    if (run.faulty() > 0 || run.messages() == 0) {
      faults.add(what.id() + ": " + run.faulty() + " faulty messages of " + run.messages());
    }
    if (what.ceiling() > 0) {
      new Efficiency(what.ceiling(), run.bytesPerSecond() / what.ceiling())
          .objection()
          .ifPresent(line -> faults.add(what.id() + ": " + line));
    }
    return faults;
  }
}
