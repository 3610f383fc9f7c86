package org.pmhxb.cli.bench.contention;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.pmhxb.cli.bench.Benchmark;
import org.pmhxb.cli.bench.MeasuredCluster;

/**
 * Measures several cases on one cluster in turn, a slice of each in every round. A machine whose
 * speed changes within seconds has one speed in most rounds, so what is compared within a round
 * tells the cases apart, where runs behind each other tell the machine's moods. Owner: one thread.
 */
final class Slices {
  /** Rounds before those that count: the cases have met one by one so far, not in turn. */
  static final int SETTLING_ROUNDS = 12;

  /** Traffic before a slice counts: caches and windows were another case's. */
  private static final long SETTLING_MS = 5;

  private static final long SLICE_MS = 30;

  private static final int ROUNDS_BETWEEN_LINES = 10;

  /** Of so many rounds one may be left out. */
  private static final int ROUNDS_A_STOP = 10;

  private final MeasuredCluster cluster;
  private final int rounds;
  private final Consumer<String> progress;

  /**
   * @param rounds that count; a multiple of 6 gives each of up to three cases each place equally
   *     often
   */
  Slices(MeasuredCluster cluster, int rounds, Consumer<String> progress) {
    this.cluster = cluster;
    this.rounds = rounds;
    this.progress = progress;
  }

  /** For people, and for whoever has to know whether other figures were measured alike. */
  static String title(int rounds) {
    return rounds + " slices of " + SLICE_MS + " ms";
  }

  /**
   * By case: a run for each round, in the rounds' order. A round is left out in which a slice had
   * no message at all, as when the thread that polls all nodes stood still for as long: a tenth of
   * them at most. Ends early behind a round with faults.
   */
  Map<ContentionCase, List<Benchmark.Outcome>> measure(List<ContentionCase> cases)
      throws IOException, InterruptedException {
    Map<ContentionCase, List<Benchmark.Outcome>> outcomes = new LinkedHashMap<>();
    cases.forEach(what -> outcomes.put(what, new ArrayList<>()));
    boolean faulty = false;
    int stops = 0;
    for (int round = -SETTLING_ROUNDS; round < rounds && !faulty; round++) {
      if (Math.floorMod(round, ROUNDS_BETWEEN_LINES) == 0) {
        progress.accept("in turn, round %d of %d".formatted(Math.max(0, round), rounds));
      }
      Map<ContentionCase, Benchmark.Outcome> slices = new LinkedHashMap<>();
      for (ContentionCase what : order(cases, round)) {
        Benchmark.Outcome slice =
            cluster.measure(what.plan(), what.sizeBytes(), SETTLING_MS, SLICE_MS);
        slices.put(what, slice);
      }
      boolean mayStop = stops < rounds / ROUNDS_A_STOP;
      faulty =
          slices.entrySet().stream()
              .filter(of -> !mayStop || !isEmpty(of.getValue()))
              .anyMatch(of -> !ContentionLine.faults(of.getKey(), of.getValue()).isEmpty());
      if (!faulty && slices.values().stream().anyMatch(Slices::isEmpty)) {
        stops++;
        progress.accept("in turn, round %d left out: a slice without a message".formatted(round));
        continue;
      }
      if (round >= 0 || faulty) {
        slices.forEach((what, slice) -> outcomes.get(what).add(slice));
      }
    }
    return outcomes;
  }

  private static boolean isEmpty(Benchmark.Outcome slice) {
    return slice.messages() == 0 && slice.faulty() == 0 && slice.failures().isEmpty();
  }

  /** Each begins in turn, and behind that the others follow it in both orders in turn. */
  static List<ContentionCase> order(List<ContentionCase> cases, int round) {
    int count = cases.size();
    int step = Math.floorMod(Math.floorDiv(round, count), 2) == 0 ? 1 : -1;
    List<ContentionCase> order = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      order.add(cases.get(Math.floorMod(round + step * i, count)));
    }
    return order;
  }
}
