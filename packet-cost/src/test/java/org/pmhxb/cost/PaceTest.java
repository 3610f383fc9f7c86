package org.pmhxb.cost;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PaceTest {
  @Test
  void roundsAtTheSlowerSpeedDoNotCount() {
    assertThat(Pace.counted(new double[] {1.1, 1.8, 1.12, 1.9, 1.15}))
        .containsExactly(true, false, true, false, true);
  }

  /** Else two rounds would be a spread. */
  @Test
  void allCountWhereTooFewAreFast() {
    assertThat(Pace.counted(new double[] {1.1, 1.8, 1.12, 1.9, 1.7})).containsOnly(true);
    assertThat(Pace.counted(new double[] {1.8, 1.9, 1.85})).containsOnly(true);
  }

  /** Five cycles or so: the compiler must not find a shorter way. */
  @Test
  void aStepTakesWhatSomeCyclesTake() {
    Pace pace = new Pace();
    for (int i = 0; i < 20; i++) {
      pace.warmUp();
    }
    assertThat(pace.stepNs()).isBetween(0.5, 40.0);
  }
}
