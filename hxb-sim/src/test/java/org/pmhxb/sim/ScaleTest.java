package org.pmhxb.sim;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.fault.Profile;
import org.pmhxb.sim.work.Workloads;

/** The paper's largest machine has 2,560 nodes; here a tenth of it, hxb sim runs all. */
class ScaleTest {
  private static final long MB = 1 << 20;

  @Test
  void thePoolOfANodeAmongThousandsIsAtMostOneMegabyte() {
    assertThat(NodeOptions.large().budget(6).regionBytes()).isLessThanOrEqualTo(MB);
  }

  @ParameterizedTest
  @EnumSource(names = {"EXCHANGE", "PERMUTATION"})
  void aMachineOfHundredsOfNodesDeliversEverything(Workloads work) {
    SimResult result =
        Simulation.run(Scenario.of(Shape.of(8, 8, 5), 2, Profile.NONE, work, 2).options(1));

    assertThat(result.violation()).isNull();
    assertThat(result.delivered()).isEqualTo(result.messages()).isPositive();
    assertThat(result.peerDowns()).isZero();
  }
}
