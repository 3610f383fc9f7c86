package org.pmhxb.cost;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PaceTest {
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
