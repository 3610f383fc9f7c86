package org.pmhxb.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.fault.Fault;
import org.pmhxb.sim.fault.Profile;
import org.pmhxb.sim.net.LinkSpec;
import org.pmhxb.sim.work.Workloads;

class ShrinkerTest {
  /** A delay beyond the peer timeout ends the session, and the oracle knows no excuse for that. */
  @Test
  void keepsOnlyWhatIsNeededAndSaysHowToReplayIt() {
    List<Fault> faults =
        List.of(
            Fault.parse("loss@*:1ms+20ms:rate=0.01"),
            Fault.parse("delay@*:4ms+10s:amount=6000000000"),
            Fault.parse("jitter@*:1ms+20ms:amount=1000"));
    Scenario scenario =
        new Scenario(
            Shape.of(2),
            1,
            Profile.NONE,
            Workloads.ONE_WAY,
            10_000,
            1_000,
            Collections.nCopies(3, LinkSpec.gigabit()),
            faults,
            null);

    SimResult result = Simulation.run(scenario.options(1).withLog(true));

    assertThat(result.violation().kind()).isEqualTo(Violation.Kind.PEER_DOWN_WITHOUT_CAUSE);
    assertThat(result.lastEvents(5)).isNotEmpty();
    assertThat(new Shrinker(scenario, 1, result.violation().kind()).shrink()).containsExactly(1);
    assertThat(scenario.replayCommand(1, List.of(1)))
        .isEqualTo(
            "hxb sim --shape 2 --rails 1 --seed 1 --faults none --fault "
                + faults.get(0)
                + " --fault "
                + faults.get(1)
                + " --fault "
                + faults.get(2)
                + " --workload one-way --messages 10000 --size 1000 --only 1 --replay");
  }
}
