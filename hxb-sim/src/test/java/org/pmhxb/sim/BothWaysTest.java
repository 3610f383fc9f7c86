package org.pmhxb.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.fault.Schedule;
import org.pmhxb.sim.net.LinkSpec;
import org.pmhxb.sim.work.Workload;
import org.pmhxb.sim.work.Workloads;

/**
 * Two nodes that both stream over the link between them: what a frame's acknowledgement lets go
 * acknowledges that frame, so that few acknowledgements take a frame of their own, and the link is
 * full. A frame takes as long as one of 8 KB at 200 Mbit/s.
 */
class BothWaysTest {
  private static final long MS = 1_000_000L;
  private static final long WARM_NS = 200 * MS;
  private static final long END_NS = 700 * MS;
  private static final int SIZE = 3_584;
  private static final int HEADER_BYTES = 64;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void mostAcknowledgementsGoWithDataThatTheyLetGo(long seed) {
    LinkSpec link = new LinkSpec(87_500_000L, 10_000, 512 * 1024, 256);
    double perLink = 1e9 / link.sendNs(SIZE + HEADER_BYTES);
    int messages = (int) (1.1 * END_NS / 1e9 * perLink);
    List<Deliveries> at = new ArrayList<>();
    Workload streaming = Workloads.EXCHANGE.of(messages, SIZE, 0);

    SimResult result =
        Simulation.run(options(link, Deliveries.watching(streaming, 5 * MS, at), seed));

    assertThat(result.violation()).isNull();
    assertThat(at.getLast().rate(WARM_NS, END_NS)).isGreaterThan(0.93 * 2 * perLink);
    assertThat(result.counters().get("acks-sent"))
        .isLessThan(result.counters().get("data-sent") / 2);
  }

  private static SimOptions options(LinkSpec link, Workload work, long seed) {
    Shape shape = Shape.parse("2");
    NodeOptions node = NodeOptions.small();
    NodeOptions wide =
        new NodeOptions(
            256,
            2_048,
            256,
            node.loanBuffers(),
            256,
            node.reserveBuffers(),
            4_096,
            node.peerTimeoutNs(),
            node.firstSeq(),
            node.inline(),
            node.idleGapNs(),
            node.parkGapNs());
    return new SimOptions(
        shape,
        1,
        seed,
        wide,
        Collections.nCopies(3, link),
        new Schedule(shape, 1, node.peerTimeoutNs(), List.of()),
        work,
        SimOptions.PROGRESS_BOUND_NS,
        1_000,
        false);
  }
}
