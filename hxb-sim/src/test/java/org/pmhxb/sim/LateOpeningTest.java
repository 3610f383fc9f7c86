package org.pmhxb.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.fault.Fault;
import org.pmhxb.sim.fault.FaultKind;
import org.pmhxb.sim.fault.Place;
import org.pmhxb.sim.fault.Profile;
import org.pmhxb.sim.net.LinkSpec;
import org.pmhxb.sim.work.Workloads;

/**
 * Two nodes lose each other again and again, over slow links on which copies of old OPENs turn up
 * amid later handshakes: no session is lost for that (PROTOCOL.md section 4.2).
 */
class LateOpeningTest {
  private static final int LIVES = 12;
  private static final int SEEDS = 8;
  private static final long MS = 1_000_000L;

  @Test
  void oldOpensCostNoLaterSession() {
    int ended = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
      List<Fault> faults = new ArrayList<>();
      faults.add(new Fault(FaultKind.DELAY, Place.ALL, 0, 20_000 * MS, 0, 4 * MS, seed));
      faults.add(
          new Fault(FaultKind.LATE_DUPLICATION, Place.ALL, 0, 20_000 * MS, 0.9, 400 * MS, seed));
      for (int life = 0; life < LIVES; life++) {
        long atNs = (100 + 90 * life) * MS;
        faults.add(new Fault(FaultKind.RESTART, Place.node(0), atNs, 10 * MS, 0, 0, seed));
      }
      SimResult result = Simulation.run(scenario(faults).options(seed));
      assertThat(result.violation()).as("seed " + seed).isNull();
      ended += result.peerDowns();
    }
    assertThat(ended).as("ends of sessions, by restarts").isGreaterThan(SEEDS * LIVES / 2);
  }

  private static Scenario scenario(List<Fault> faults) {
    return new Scenario(
        Shape.of(2),
        1,
        Profile.NONE,
        Workloads.ALL_TO_ALL,
        1_000,
        200, // each says of which life it is
        Collections.nCopies(3, LinkSpec.gigabit()),
        faults,
        null);
  }
}
