package org.pmhxb.collectives.barrier;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.pmhxb.collectives.barrier.plan.BarrierPlan;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.router.Shape;

/** Over which rail a frame goes. */
class OutgoingTest {
  private final Participants square = Participants.of(Shape.of(3, 3), 2, 0, 1, 2, 3, 4, 5, 6, 7, 8);

  @Test
  void barriersInFlightAtOnceBeginWithDifferentRails() {
    BarrierSpec spec = BarrierSpec.parse("crossbar/r2");
    BarrierPlan.Send exit = new BarrierPlan.Send(1, new int[] {3, 6}, 0, 1);
    List<Integer> rails = new ArrayList<>();
    List<Integer> ways = new ArrayList<>();
    for (int barrier = 0; barrier < 4; barrier++) {
      rails.add(new Outgoing(0, exit, square, spec, barrier).rail);
      BarrierPlan.Send report = new BarrierPlan.Send(0, new int[] {0}, 1, -1);
      ways.add(new Outgoing(0, report, square, spec, barrier).way);
    }

    assertThat(rails).containsExactly(2, 3, 2, 3); // Y0, Y1
    assertThat(ways).containsExactly(1, 0, 1, 0);
  }

  @Test
  void oneRailIsOneRail() {
    BarrierSpec spec = BarrierSpec.parse("crossbar");
    BarrierPlan.Send exit = new BarrierPlan.Send(1, new int[] {3, 6}, 0, 1);

    assertThat(new Outgoing(0, exit, square, spec, 7).rail).isEqualTo(2);
  }
}
