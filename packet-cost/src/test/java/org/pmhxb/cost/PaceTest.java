package org.pmhxb.cost;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PaceTest {
  /** Five cycles or so: the compiler must not find a shorter way. */
  @Test
  void aStepTakesWhatSomeCyclesTake() {
    Pace pace = new Pace();
    pace.warmUp();
    assertThat(pace.leastNs()).isBetween(0.5, 40.0);
  }

  /** One that was too short by chance would make all others another speed's. */
  @Test
  void theShortestStepIsOneThatWasMetTwice() {
    double[] steps = {2, 0.5, 1.5, 1.25, 3, 1};
    int[] next = {0};
    Pace pace = new Pace(() -> steps[next[0]++]);
    for (int i = 0; i < steps.length; i++) {
      pace.stepNs();
    }
    assertThat(pace.leastNs()).isEqualTo(1.5);
    pace.learn(1.375);
    assertThat(pace.leastNs()).isEqualTo(1.375);
  }

  /** The speed may change within a batch, either way. */
  @Test
  void aBatchIsAsSlowAsTheSlowerLookBesideIt() {
    double[] steps = {1, 3, 2};
    int[] next = {0};
    Pace pace = new Pace(() -> steps[next[0]++]);
    pace.stepNs();
    try (Bench bench = Bench.openAlone(new Scenario(Path.RELAY, 32, 1, 1))) {
      for (int i = 1; i < steps.length; i++) {
        bench.java().times().begin();
        assertThat(pace.batch(bench.java())).isEqualTo(PacketLoop.BATCH_PACKETS);
        assertThat(bench.java().times().stepNs(Double.MAX_VALUE)).isEqualTo(3);
      }
    }
  }
}
