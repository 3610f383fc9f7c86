package org.pmhxb.jmh;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PoolCycleTest {
  /** It would run for ever, or more cycles than its figure is divided by. */
  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 1_000, 2_048})
  void aBurstThatIsNoPartOfTheCyclesIsRefused(int burst) {
    PoolCycle cycle = new PoolCycle();
    cycle.burst = burst;
    assertThatThrownBy(cycle::open)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("burst is " + burst + "; must divide 1024");
  }
}
