package org.pmhxb.sim;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.pmhxb.sim.fault.Profile;
import org.pmhxb.sim.work.Workloads;

class SimulationTest {
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CHURN") // closed endpoints lose messages
  void withoutFaultsEverythingArrivesAndNoSessionEnds(Workloads work) {
    SimResult result = Simulation.run(TestRuns.of("2x2x2", 2, 1, Profile.NONE, work, 5));

    assertThat(result.violation()).isNull();
    assertThat(result.delivered()).isEqualTo(result.messages()).isPositive();
    assertThat(result.peerDowns()).isZero();
    assertThat(result.leakedBuffers()).isZero();
  }

  @ParameterizedTest
  @EnumSource(Profile.class)
  void oneSeedGivesOneLogByteByByte(Profile profile) {
    SimOptions options =
        TestRuns.of("2x2x2", 2, 7, profile, Workloads.ALL_TO_ALL, 10).withLog(true);

    SimResult once = Simulation.run(options);
    SimResult again = Simulation.run(options);

    assertThat(once.log().bytes()).isNotEmpty().isEqualTo(again.log().bytes());
  }
}
