package org.pmhxb.cost;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.pmhxb.cost.Rounds.Round;
import org.pmhxb.cost.Rounds.Sides;

/**
 * What a {@link Measurement} has of one scenario so far. Owner: the measurement's thread and, while
 * that waits for them, those that measure.
 */
public final class ScenarioRun {
  /** A packet: the packet path must not allocate, and a run with more does not count. */
  private static final double ALLOCATION_MAX_BYTES = 0.01;

  /**
   * A scenario is set up so often, with a part of the rounds in each: where the memory of a node
   * comes to lie is chance, and costs a burst of 1 up to a third (docs/performance/receive.md,
   * "Lines that keep each other out of L1").
   */
  static final int PLACEMENTS = 5;

  private final Scenario scenario;
  private final List<Rounds> placements = Stream.generate(Rounds::new).limit(PLACEMENTS).toList();
  private final long[] digests = new long[2];
  private long packets;

  /** Of the set-up that allocated most. */
  private double allocatedBytesPerPacket;

  private String fault;

  ScenarioRun(Scenario scenario) {
    this.scenario = scenario;
  }

  Scenario scenario() {
    return scenario;
  }

  Rounds placement(int number) {
    return placements.get(number);
  }

  /** One set-up's work, beside its rounds. */
  void add(long packets, long allocatedBytes, long[] digests) {
    this.packets += packets;
    allocatedBytesPerPacket = Math.max(allocatedBytesPerPacket, (double) allocatedBytes / packets);
    for (int i = 0; i < digests.length; i++) {
      this.digests[i] = 31 * this.digests[i] + digests[i];
    }
  }

  /** Voids it. */
  void fail(String fault) {
    this.fault = fault;
  }

  boolean hasFailed() {
    return fault != null;
  }

  /**
   * Whether most placements have no round that met the machine often enough at its faster speed.
   *
   * @param leastNs of a step, as far as is known
   */
  boolean isSlow(double leastNs) {
    return !hasFailed() && !Rounds.mostAreFast(placements, leastNs);
  }

  /** The first of those, where {@link #isSlow}. */
  Rounds slowPlacement(double leastNs) {
    return placements.stream().filter(p -> !p.hasFast(leastNs)).findFirst().orElseThrow();
  }

  /**
   * The path's figures, and from the same rounds those of {@link Path#withAcks}. What went wrong is
   * in {@link Figures#fault}.
   *
   * @param leastNs of a step, as far as is known
   */
  List<Figures> figures(double leastNs) {
    if (hasFailed()) {
      return List.of(Figures.none(scenario, fault));
    }
    Path path = scenario.path();
    boolean slow = isSlow(leastNs);
    List<List<Round>> rounds = Rounds.counted(placements, leastNs);
    List<Figures> figures = new ArrayList<>();
    figures.add(figures(path.toString(), rounds, slow, Round::path));
    if (path.withAcks() != null) {
      figures.add(figures(path.withAcks(), rounds, slow, Round::withAcks));
    }
    return figures;
  }

  private Figures figures(
      String name, List<List<Round>> rounds, boolean slow, Function<Round, Sides> sides) {
    String allocates =
        allocatedBytesPerPacket < ALLOCATION_MAX_BYTES
            ? null
            : "%.4f B allocated per packet, the limit is %.2f B"
                .formatted(allocatedBytesPerPacket, ALLOCATION_MAX_BYTES);
    return new Figures(
        scenario,
        name,
        allocates,
        Rounds.spread(rounds, r -> sides.apply(r).java()),
        Rounds.spread(rounds, r -> sides.apply(r).c()),
        Rounds.spread(rounds, r -> sides.apply(r).ratio()),
        Rounds.spread(rounds, Round::generatorNs).median(),
        allocatedBytesPerPacket,
        packets,
        "%016x-%016x".formatted(digests[0], digests[1]),
        rounds.stream().mapToInt(List::size).sum(),
        Rounds.spread(rounds, Round::stepNs).max(),
        Rounds.spread(rounds, r -> r.part().java()).median(),
        Rounds.spread(rounds, r -> r.part().c()).median(),
        slow);
  }
}
