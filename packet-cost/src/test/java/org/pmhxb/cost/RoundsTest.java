package org.pmhxb.cost;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;
import org.pmhxb.cost.Rounds.Round;
import org.pmhxb.cost.Rounds.Sides;

class RoundsTest {
  @Test
  void roundsAtTheSlowerSpeedDoNotCount() {
    assertThat(counted(rounds(1.1, 1.8, 1.12, 1.9, 1.15)))
        .extracting(Round::stepNs)
        .containsExactly(1.1, 1.12, 1.15);
    assertThat(counted(rounds(1.1, 1.8), rounds(1.9, 1.12), rounds(1.15)))
        .extracting(Round::stepNs)
        .containsExactly(1.1, 1.12, 1.15);
  }

  /** Else two rounds would be a spread. */
  @Test
  void allCountWhereTooFewAreFast() {
    assertThat(counted(rounds(1.1, 1.8, 1.12, 1.9, 1.7))).hasSize(5);
    assertThat(counted(rounds(1.8, 1.9, 1.85))).hasSize(3);
  }

  /** Else the median would be that of the placements that the machine was fast in. */
  @Test
  void allCountWhereAPlacementHasNoFastOne() {
    assertThat(counted(rounds(1.1, 1.1, 1.1), rounds(1.8, 1.9, 1.7))).hasSize(6);
  }

  /** Which of a line's rounds were fast is known by the fastest of all lines. */
  @Test
  void moreAreWantedWhereTooFewAreFast() {
    assertThat(rounds(1.1, 1.8, 1.9).tooFewAreFast(1.1)).isTrue();
    assertThat(rounds(1.1, 1.8, 1.2).tooFewAreFast(1.1)).isFalse();
    assertThat(rounds(1.8, 1.9, 1.85).tooFewAreFast(1.1)).isTrue();
    assertThat(rounds(1.8, 1.9, 1.85).tooFewAreFast(1.8)).isFalse();
  }

  @Test
  void aSpreadIsOfTheFigureAskedFor() {
    var spread = Rounds.spread(counted(rounds(1.1, 1.3, 1.2)), r -> r.path().ratio());
    assertThat(spread).isEqualTo(new Spread(2, 2, 2));
    assertThat(Rounds.spread(counted(rounds(1.1, 1.2, 1.15)), Round::stepNs))
        .isEqualTo(new Spread(1.1, 1.15, 1.2));
  }

  private static List<Round> counted(Rounds... placements) {
    return Rounds.counted(List.of(placements));
  }

  private static Rounds rounds(double... stepNs) {
    Rounds rounds = new Rounds();
    DoubleStream.of(stepNs)
        .forEach(ns -> rounds.add(new Round(ns, new Sides(20, 10), new Sides(24, 12), 1)));
    return rounds;
  }
}
