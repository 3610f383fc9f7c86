package org.pmhxb.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.fault.Fault;
import org.pmhxb.sim.net.LinkSpec;
import org.pmhxb.sim.work.Workloads;

/**
 * A node that polls seldom makes long round trips, which are no queue: neither they nor a few lost
 * frames beside them keep a path to a few frames a second.
 */
class SeldomPollerTest {
  private static final int SIZE = 1_000;

  @ParameterizedTest
  @CsvSource({
    "2, 4000, 1500, seldom@1:0ms+60s:amount=12000000",
    "2, 3000, 3000, seldom@1:0ms+60s:amount=12000000 loss@*:0ms+60s:rate=0.01:seed=3",
    "2, 3000, 3000, seldom@1:0ms+60s:amount=12000000 grey@1:50ms+300ms:seed=3",
    "2x2, 4000, 20000, seldom@1:0ms+60s:amount=8000000 seldom@2:0ms+60s:amount=8000000"
        + " loss@*:0ms+60s:rate=0.01:seed=3"
  })
  void messagesKeepComing(String shape, int messages, long mostMs, String faults) {
    Shape machine = Shape.parse(shape);
    int rails = machine.nodes() == 2 ? 1 : 2;
    List<Fault> schedule = Arrays.stream(faults.split(" ")).map(Fault::parse).toList();

    SimResult result =
        Simulation.run(
            StreamOptions.of(
                machine,
                rails,
                LinkSpec.gigabit(),
                Workloads.ONE_WAY.of(messages, SIZE, 0),
                schedule,
                1));

    assertThat(result.violation()).isNull();
    assertThat(result.delivered()).isEqualTo(messages);
    assertThat(result.virtualNs() / 1_000_000).as("ms").isLessThan(mostMs);
  }
}
