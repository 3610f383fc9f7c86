package org.pmhxb.sim;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.pmhxb.sim.fault.Profile;
import org.pmhxb.sim.net.LinkSpec;
import org.pmhxb.sim.net.Trunk;
import org.pmhxb.sim.work.Workloads;

class TrunkTest {
  private static final LinkSpec CABLE = LinkSpec.gigabit();

  private static SimResult allToAll(int boundary, int cables) {
    SimOptions options = TestRuns.of("8", 1, 1, Profile.NONE, Workloads.ALL_TO_ALL, 200);
    return Simulation.run(options.withTrunk(new Trunk(0, boundary, cables, CABLE)));
  }

  @Test
  void whatCrossesItSharesItsCables() {
    SimResult one = allToAll(4, 1);
    SimResult four = allToAll(4, 4);
    SimResult none = allToAll(8, 1);

    for (SimResult result : new SimResult[] {one, four, none}) {
      assertThat(result.violation()).isNull();
      assertThat(result.delivered()).isEqualTo(result.messages()).isPositive();
    }
    // Four of eight nodes' seven partners are behind it: 16 flows each way over one link's rate.
    assertThat(one.goodputRatio()).isLessThan(0.6 * four.goodputRatio());
    // Four cables carry it; that they change which frames meet in a queue is worth a few percent.
    assertThat(four.goodputRatio())
        .isBetween(0.7 * none.goodputRatio(), 1.05 * none.goodputRatio());
  }
}
