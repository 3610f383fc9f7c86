package org.pmhxb.sim;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.pmhxb.sim.fault.Profile;
import org.pmhxb.sim.net.LinkSpec;
import org.pmhxb.sim.net.Trunk;
import org.pmhxb.sim.work.Workloads;

class TrunkTest {
  private static final LinkSpec CABLE = LinkSpec.gigabit();
  private static final int SEEDS = 4;

  /** Which frames meet in a queue is chance: the mean of some seeds. */
  private static double goodput(int boundary, int cables) {
    double sum = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
      SimOptions options = TestRuns.of("8", 1, seed, Profile.NONE, Workloads.ALL_TO_ALL, 200);
      SimResult result = Simulation.run(options.withTrunk(new Trunk(0, boundary, cables, CABLE)));
      assertThat(result.violation()).isNull();
      assertThat(result.delivered()).isEqualTo(result.messages()).isPositive();
      sum += result.goodputRatio();
    }
    return sum / SEEDS;
  }

  @Test
  void whatCrossesItSharesItsCables() {
    double one = goodput(4, 1);
    double four = goodput(4, 4);
    double none = goodput(8, 1);

    // Four of eight nodes' seven partners are behind it: 16 flows each way over one link's rate.
    assertThat(one).isLessThan(0.6 * four);
    // Four cables carry it; that they change which frames meet in a queue is worth a few percent.
    assertThat(four).isBetween(0.7 * none, 1.05 * none);
  }

  /**
   * A switch copies what is for everybody behind the cable, not in front of it: announcements of
   * full length would else fill its queue, and neighbours stay unknown for seconds.
   */
  @Test
  void whatIsForEverybodyCrossesOnce() {
    LinkSpec tight = new LinkSpec(1_000_000_000L, 10_000, 24 * 1024, 128);
    SimOptions options = TestRuns.of("16", 1, 1, Profile.NONE, Workloads.ALL_TO_ALL, 1);
    SimResult result = Simulation.run(options.withTrunk(new Trunk(0, 8, 1, tight)));
    assertThat(result.violation()).isNull();
    assertThat(result.ok()).isTrue();
    assertThat(result.virtualNs()).isLessThan(100_000_000L);
  }
}
