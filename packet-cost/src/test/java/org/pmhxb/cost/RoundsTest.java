package org.pmhxb.cost;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;
import org.pmhxb.cost.Rounds.Round;
import org.pmhxb.cost.Rounds.Sides;

class RoundsTest {
  @Test
  void roundsAtTheSlowerSpeedDoNotCount() {
    assertThat(rounds(1.1, 1.8, 1.12, 1.9, 1.15).counted())
        .extracting(Round::stepNs)
        .containsExactly(1.1, 1.12, 1.15);
  }

  /** Else two rounds would be a spread. */
  @Test
  void allCountWhereTooFewAreFast() {
    assertThat(rounds(1.1, 1.8, 1.12, 1.9, 1.7).counted()).hasSize(5);
    assertThat(rounds(1.8, 1.9, 1.85).counted()).hasSize(3);
  }

  /** Which of a line's rounds were fast is known by the fastest of all lines. */
  @Test
  void moreAreWantedWhereTooFewAreFast() {
    assertThat(rounds(1.1, 1.8, 1.9).tooFewAreFast(1.1)).isTrue();
    assertThat(rounds(1.1, 1.8, 1.2).tooFewAreFast(1.1)).isFalse();
    assertThat(rounds(1.8, 1.9, 1.85).tooFewAreFast(1.1)).isTrue();
    assertThat(rounds(1.8, 1.9, 1.85).tooFewAreFast(1.8)).isFalse();
  }

  /** Of one placement in three all rounds may be what its memory costs: the median is another's. */
  @Test
  void placementsAreSummedUpAsOne() {
    Rounds all = rounds(1.1, 1.1, 1.1);
    all.addAll(rounds(1.1, 1.8, 1.12));
    assertThat(all.counted()).hasSize(5);
    assertThat(all.size()).isEqualTo(6);
  }

  @Test
  void aSpreadIsOfTheFigureAskedFor() {
    var spread = Rounds.spread(rounds(1.1, 1.3, 1.2).counted(), r -> r.path().ratio());
    assertThat(spread).isEqualTo(new Measurement.Spread(2, 2, 2));
    assertThat(Rounds.spread(rounds(1.1, 1.2, 1.15).counted(), Round::stepNs))
        .isEqualTo(new Measurement.Spread(1.1, 1.15, 1.2));
  }

  private static Rounds rounds(double... stepNs) {
    Rounds rounds = new Rounds();
    DoubleStream.of(stepNs)
        .forEach(ns -> rounds.add(new Round(ns, new Sides(20, 10), new Sides(24, 12), 1)));
    return rounds;
  }
}
