package org.pmhxb.cost;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.pmhxb.cost.Rounds.Round;
import org.pmhxb.cost.Rounds.Sides;

class RoundsTest {
  private static final double LEAST_NS = 1;

  @Test
  void roundsAtTheSlowerSpeedDoNotCount() {
    assertThat(stepsOf(rounds(1, 1.75), rounds(1.875, 1.125), rounds(1.0625)))
        .containsExactly(List.of(1.0), List.of(1.125), List.of(1.0625));
  }

  /** Which were is chance. */
  @Test
  void aPlacementMayBeMissing() {
    assertThat(stepsOf(rounds(1, 1.875), rounds(1.75, 1.875), rounds(1.125)))
        .containsExactly(List.of(1.0), List.of(1.125));
  }

  /** Else the median would be that of a few placements. */
  @Test
  void allCountWhereMostHaveNoFastOne() {
    assertThat(stepsOf(rounds(1, 1.875), rounds(1.75, 1.875, 1.625)))
        .containsExactly(List.of(1.0, 1.875), List.of(1.75, 1.875, 1.625));
    assertThat(stepsOf(rounds(1), rounds(1.75), rounds(1.875)))
        .containsExactly(List.of(1.0), List.of(1.75), List.of(1.875));
  }

  /** As where the machine has become slower for good. */
  @Test
  void theScenariosOwnFasterSpeedCountsWhereEachPlacementHasThat() {
    assertThat(stepsOf(rounds(1.5, 2), rounds(1.625, 2.25)))
        .containsExactly(List.of(1.5), List.of(1.625));
  }

  /** Which of a line's rounds were fast is known by the fastest of all lines. */
  @Test
  void theFastestOfAllLinesSaysWhichAreFast() {
    assertThat(rounds(1.75, 1.875).hasFast(1)).isFalse();
    assertThat(rounds(1.75, 1.875).hasFast(1.75)).isTrue();
    assertThat(Rounds.counted(List.of(rounds(1.125, 1.25)), 1).getFirst()).hasSize(1);
    assertThat(Rounds.counted(List.of(rounds(1, 1.25)), 1.125).getFirst()).hasSize(2);
  }

  /** And of a round its batches at the faster speed alone, with fast ones on either side. */
  @Test
  void aRoundCountsWithATenthOfItsBatches() {
    PhaseTimes steady = times(1, 2);
    PhaseTimes unsteady = times(1, 2);
    add(unsteady, 1, 3);
    for (int i = 0; i < 8; i++) {
      add(unsteady, 1.75, 40);
    }
    Rounds rounds = new Rounds();
    rounds.add(steady, unsteady);
    Round round = Rounds.counted(List.of(rounds), LEAST_NS).getFirst().getFirst();
    assertThat(round.path()).isEqualTo(new Sides(2, 2));
    assertThat(round.part()).isEqualTo(new Sides(1, 0.1));
    assertThat(round.stepNs()).isEqualTo(1);

    add(unsteady, 1.75, 40);
    Rounds fewer = new Rounds();
    fewer.add(steady, unsteady);
    assertThat(fewer.hasFast(LEAST_NS)).isFalse();
    fewer.add(unsteady, steady);
    assertThat(fewer.hasFast(LEAST_NS)).isFalse();
    assertThat(rounds.hasFast(LEAST_NS)).isTrue();
    round = Rounds.counted(List.of(fewer), 0.5).getFirst().getFirst();
    assertThat(round.path().c()).isEqualTo(40);
    assertThat(round.part()).isEqualTo(new Sides(1, 1));
    assertThat(round.stepNs()).isEqualTo(1.75);
  }

  @Test
  void theMedianOfTwoBatchesLiesBetweenThem() {
    PhaseTimes times = times(1, 2);
    add(times, 1, 3);
    assertThat(times.pathNs(Double.MAX_VALUE)).isEqualTo(2.5);
    add(times, 1, 9);
    assertThat(times.pathNs(Double.MAX_VALUE)).isEqualTo(3);
  }

  @Test
  void aSpreadIsOfTheFigureAskedFor() {
    assertThat(spread(r -> r.path().ratio(), rounds(1, 1.25))).isEqualTo(new Spread(2, 2, 2));
    assertThat(spread(r -> r.withAcks().java(), rounds(1, 1.25))).isEqualTo(new Spread(24, 24, 24));
    assertThat(spread(r -> r.withAcks().c(), rounds(1))).isEqualTo(new Spread(14, 14, 14));
    assertThat(spread(Round::generatorNs, rounds(1))).isEqualTo(new Spread(8, 8, 8));
    assertThat(spread(Round::stepNs, rounds(1, 2, 4))).isEqualTo(new Spread(1, 2, 4));
    assertThat(spread(Round::stepNs, rounds(1, 2, 4, 8))).isEqualTo(new Spread(1, 3, 8));
  }

  /** One of many rounds decides no more than one of few. */
  @Test
  void aMedianIsThatOfThePlacements() {
    assertThat(spread(Round::stepNs, rounds(7, 7, 9, 7, 8), rounds(1), rounds(2)))
        .isEqualTo(new Spread(1, 2, 9));
    assertThat(spread(Round::stepNs, rounds(1, 9), rounds(2, 8), rounds(3, 7)))
        .isEqualTo(new Spread(1, 5, 9));
    assertThat(spread(Round::stepNs, rounds(1, 9, 9), rounds(2), rounds(3, 7)))
        .isEqualTo(new Spread(1, 3, 9));
  }

  private static Spread spread(ToDoubleFunction<Round> figure, Rounds... placements) {
    return Rounds.spread(Rounds.counted(List.of(placements), 100), figure);
  }

  /** Of those that count. */
  private static List<List<Double>> stepsOf(Rounds... placements) {
    return Rounds.counted(List.of(placements), LEAST_NS).stream()
        .map(rounds -> rounds.stream().map(Round::stepNs).toList())
        .toList();
  }

  /** Of one batch each. */
  private static Rounds rounds(double... stepNs) {
    Rounds rounds = new Rounds();
    for (double ns : stepNs) {
      rounds.add(times(ns, 20), times(ns, 10));
    }
    return rounds;
  }

  private static PhaseTimes times(double stepNs, double pathNs) {
    PhaseTimes times = new PhaseTimes();
    add(times, stepNs, pathNs);
    return times;
  }

  /** A batch of one packet. */
  private static void add(PhaseTimes times, double stepNs, double pathNs) {
    times.add(pathNs, 4, 8, 1);
    times.met(stepNs);
  }
}
