package org.pmhxb.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.net.LinkSpec;
import org.pmhxb.sim.work.Workload;
import org.pmhxb.sim.work.Workloads;

/**
 * Two nodes that both stream over the links between them: what a frame's acknowledgement lets go
 * acknowledges that frame, so that few acknowledgements take a frame of their own, and the links
 * are full. A frame takes as long as one of 8 KB at 200 Mbit/s.
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
    SimResult result = stream(1, seed, 0.93);
    assertThat(perDataFrame(result, "acks-sent")).isLessThan(0.5);
  }

  /** Between two links every fourth frame comes before its turn, which data frames tell as well. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void dataAcknowledgesWhatCameBeforeItsTurn(long seed) {
    SimResult result = stream(2, seed, 0.92);
    assertThat(perDataFrame(result, "out-of-order")).isGreaterThan(0.1);
    assertThat(perDataFrame(result, "acks-sent")).isLessThan(0.4);
  }

  private static double perDataFrame(SimResult result, String counter) {
    return (double) result.counters().get(counter) / result.counters().get("data-sent");
  }

  private static SimResult stream(int links, long seed, double leastShare) {
    LinkSpec link = new LinkSpec(87_500_000L, 10_000, 512 * 1024, 256);
    double rate = links * 1e9 / link.sendNs(SIZE + HEADER_BYTES);
    int messages = (int) (1.1 * END_NS / 1e9 * rate);
    List<Deliveries> at = new ArrayList<>();
    Workload streaming = Workloads.EXCHANGE.of(messages, SIZE, 0);

    SimResult result =
        Simulation.run(
            StreamOptions.of(
                Shape.parse("2"),
                links,
                link,
                Deliveries.watching(streaming, 5 * MS, at),
                List.of(),
                seed));

    assertThat(result.violation()).isNull();
    assertThat(at.getLast().rate(WARM_NS, END_NS)).isGreaterThan(leastShare * 2 * rate);
    return result;
  }
}
