package org.pmhxb.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.fault.Fault;
import org.pmhxb.sim.fault.Profile;
import org.pmhxb.sim.net.LinkSpec;
import org.pmhxb.sim.work.Workloads;

/**
 * All relays die but those of one order of dimensions between the corners of a cube, before any
 * session, while sessions open, and under load: each pair that a way is left for goes on. The order
 * that is left from one corner is not that of the same name from the other.
 */
class OneWayLeftTest {
  @ParameterizedTest
  @CsvSource({
    "1 3, 1", "1 5, 1", "2 3, 1", "2 6, 1", "4 5, 1", "4 6, 1", "1 3, 2", "2 6, 2", "4 6, 2"
  })
  void whoeverIsJoinedGoesOn(String relaysLeft, int rails) {
    for (String start : new String[] {"0ns", "2150us", "3ms", "20ms"}) {
      List<Fault> faults = new ArrayList<>();
      for (int node = 1; node < 7; node++) {
        if (!relaysLeft.contains(Integer.toString(node))) {
          faults.add(Fault.parse("crash@" + node + ":" + start + "+1ms"));
        }
      }

      SimResult result = Simulation.run(scenario(rails, faults).options(1));

      assertThat(result.violation()).as("dead from " + start).isNull();
      // Four live nodes send 20 messages to each of the three others.
      assertThat(result.delivered()).isGreaterThanOrEqualTo(4 * 3 * 20);
    }
  }

  private static Scenario scenario(int rails, List<Fault> faults) {
    return new Scenario(
        Shape.of(2, 2, 2),
        rails,
        Profile.NONE,
        Workloads.ALL_TO_ALL,
        20,
        0,
        Collections.nCopies(3, LinkSpec.gigabit()),
        faults,
        null);
  }
}
