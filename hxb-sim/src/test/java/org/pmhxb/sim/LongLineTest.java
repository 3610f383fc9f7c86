package org.pmhxb.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.net.LinkSpec;
import org.pmhxb.sim.work.Workloads;

/**
 * Many nodes of one line start together: their announcements of full length are more than a
 * switch's queue holds, and would be in step for ever (PROTOCOL.md section 8).
 */
class LongLineTest {
  private static final int NODES = 32;

  /** Four frames of full length. */
  private static final LinkSpec SHORT_QUEUE = new LinkSpec(1_000_000_000L, 10_000, 8_192, 64);

  @Test
  void nodesThatStartTogetherHearEachOther() {
    SimResult result =
        Simulation.run(
            StreamOptions.of(
                Shape.of(NODES), 1, SHORT_QUEUE, Workloads.EXCHANGE.of(1, 200, 0), List.of(), 1));

    assertThat(result.violation()).isNull();
    assertThat(result.delivered()).isEqualTo(2 * NODES);
    assertThat(result.virtualNs() / 1_000_000).as("ms").isLessThan(200);
  }
}
