package org.pmhxb.cost;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;
import org.pmhxb.cost.Rounds.Round;
import org.pmhxb.cost.Rounds.Sides;

class RoundsTest {
  @Test
  void roundsAtTheSlowerSpeedDoNotCount() {
    assertThat(stepsOf(rounds(1.1, 1.8), rounds(1.9, 1.12), rounds(1.15)))
        .containsExactly(List.of(1.1), List.of(1.12), List.of(1.15));
  }

  /** Else the median would be that of the placements that the machine was fast in. */
  @Test
  void allCountWhereAPlacementHasNoFastOne() {
    assertThat(stepsOf(rounds(1.1, 1.9), rounds(1.8, 1.9, 1.7)))
        .containsExactly(List.of(1.1, 1.9), List.of(1.8, 1.9, 1.7));
  }

  /** As where the machine has become slower for good. */
  @Test
  void theScenariosOwnFasterSpeedCountsWhereEachPlacementHasThat() {
    assertThat(stepsOf(rounds(1.4, 1.9), rounds(1.5, 2.2)))
        .containsExactly(List.of(1.4), List.of(1.5));
  }

  /** Which of a line's rounds were fast is known by the fastest of all lines. */
  @Test
  void theFastestOfAllLinesSaysWhichAreFast() {
    assertThat(rounds(1.8, 1.9, 1.85).hasFast(1.1)).isFalse();
    assertThat(rounds(1.8, 1.9, 1.85).hasFast(1.8)).isTrue();
    assertThat(Rounds.counted(List.of(rounds(1.2, 1.3)), 1.1).getFirst()).hasSize(1);
    assertThat(Rounds.counted(List.of(rounds(1.1, 1.3)), 1.2).getFirst()).hasSize(2);
  }

  /** Where none is, more have a better chance later. */
  @Test
  void fewAreFastWhereOneIs() {
    assertThat(rounds(1.1, 1.8, 1.9).fastAreFew(1.1)).isTrue();
    assertThat(rounds(1.1, 1.8, 1.2).fastAreFew(1.1)).isFalse();
    assertThat(rounds(1.8, 1.9, 1.85).fastAreFew(1.1)).isFalse();
    assertThat(rounds(1.1).fastAreFew(1.1)).isFalse();
  }

  @Test
  void aSpreadIsOfTheFigureAskedFor() {
    assertThat(spread(r -> r.path().ratio(), rounds(1.1, 1.3))).isEqualTo(new Spread(2, 2, 2));
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
    return Rounds.counted(List.of(placements), 1.1).stream()
        .map(rounds -> rounds.stream().map(Round::stepNs).toList())
        .toList();
  }

  private static Rounds rounds(double... stepNs) {
    Rounds rounds = new Rounds();
    DoubleStream.of(stepNs)
        .forEach(ns -> rounds.add(new Round(ns, new Sides(20, 10), new Sides(24, 12), 1)));
    return rounds;
  }
}
