package org.pmhxb.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.fault.Fault;
import org.pmhxb.sim.fault.Schedule;
import org.pmhxb.sim.net.LinkSpec;
import org.pmhxb.sim.work.Workload;
import org.pmhxb.sim.work.Workloads;

/**
 * One of six gigabit rails is cut under full load, with the carrier up, and mended: delivery is
 * full again on the others within the budget of 5 ms, and costs the rail's share.
 */
class RailCutTest {
  private static final long MS = 1_000_000L;
  private static final int RAILS = 6;
  private static final int MESSAGES = 60_000;
  private static final int SIZE = 1_400;

  private static final long CUT_NS = 30 * MS;
  private static final long CUT_LENGTH_NS = 40 * MS;
  private static final long BIN_NS = MS / 2;
  private static final long BUDGET_NS = 5 * MS;

  @ParameterizedTest
  @ValueSource(strings = {"cut@0.x3", "cut-tx@0.x3", "cut-rx@1.x3"})
  void aRailThatIsCutCostsItsShareAndNoMore(String fault) {
    List<Deliveries> at = new ArrayList<>();
    Workload stream = Workloads.ONE_WAY.of(MESSAGES, SIZE, 0);
    Workload watched = Deliveries.watching(stream, BIN_NS, at);

    SimResult result = Simulation.run(options(watched, fault));

    assertThat(result.violation()).isNull();
    assertThat(result.delivered()).isEqualTo(MESSAGES);
    assertThat(result.peerDowns()).isZero();
    assertThat(result.counters().get("paths-evicted")).isEqualTo(1);
    assertThat(result.counters().get("paths-restored")).isEqualTo(1);
    Deliveries seen = at.getLast();
    double before = seen.rate(CUT_NS - 10 * MS, CUT_NS);
    double share = before * (RAILS - 1) / RAILS;
    long endNs = CUT_NS + CUT_LENGTH_NS;
    assertThat(seen.shortUntilNs(CUT_NS, endNs, 0.97 * share) - CUT_NS)
        .as("ns from the cut to full delivery on the others")
        .isLessThanOrEqualTo(BUDGET_NS);
    assertThat(seen.rate(CUT_NS + BUDGET_NS, endNs)).isGreaterThanOrEqualTo(0.97 * share);
  }

  private static SimOptions options(Workload work, String fault) {
    NodeOptions node = NodeOptions.small();
    NodeOptions wide =
        new NodeOptions(
            256,
            1_024,
            256,
            node.loanBuffers(),
            node.ringBuffers(),
            node.reserveBuffers(),
            node.strideBytes(),
            node.peerTimeoutNs(),
            node.firstSeq(),
            node.inline(),
            node.idleGapNs(),
            node.parkGapNs());
    Fault cut = Fault.parse(fault + ":" + CUT_NS + "ns+" + CUT_LENGTH_NS + "ns");
    Shape line = Shape.of(2);
    return new SimOptions(
        line,
        RAILS,
        1,
        wide,
        Collections.nCopies(3, LinkSpec.gigabit()),
        new Schedule(line, RAILS, node.peerTimeoutNs(), List.of(cut)),
        work,
        SimOptions.PROGRESS_BOUND_NS,
        16,
        false);
  }
}
