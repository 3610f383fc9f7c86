package org.pmhxb.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import org.junit.jupiter.api.Test;
import org.pmhxb.cli.bench.PacketCostWorker.Answer;
import org.pmhxb.cost.Measurement.Effort;
import org.pmhxb.cost.Path;
import org.pmhxb.cost.Scenario;

class PacketCostWorkerTest {
  private static final Effort EFFORT = new Effort(5, 5, 0);

  /** Faster than any: all rounds were slow, and the machine is waited for in vain. */
  private static final double NEVER_NS = 1e-6;

  @Test
  void keepsTheRoundsOfEachScenario() throws Exception {
    try (PacketCostWorker worker = new PacketCostWorker(EFFORT)) {
      Answer relay = worker.measure(new Scenario(Path.RELAY, 32, 1, 1));
      Answer ack = worker.measure(new Scenario(Path.ACK, 32, 1, 3));

      assertThat(ack.lines()).extracting("path", "peers").containsExactly(tuple("ack", 3));
      assertThat(ack.lines().getFirst().javaNs()).isPositive();
      assertThat(ack.leastStepNs()).isPositive().isLessThanOrEqualTo(relay.leastStepNs());
      assertThat(worker.measureAgain(1, ack.leastStepNs(), 0).lines()).isEqualTo(ack.lines());
      Answer again = worker.measureAgain(0, NEVER_NS, 1);
      assertThat(again.lines()).extracting("path", "peers").containsExactly(tuple("relay", 1));
      assertThat(again.lines().getFirst().packets()).isEqualTo(relay.lines().getFirst().packets());
      assertThat(again.leastStepNs()).isEqualTo(NEVER_NS);
    }
  }

  /** As where its library is missing. */
  @Test
  void whatEndsItIsItsMessage() throws Exception {
    try (PacketCostWorker worker = new PacketCostWorker(EFFORT)) {
      assertThatThrownBy(() -> worker.measureAgain(7, 1, 0))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("Index 7 out of bounds");
      assertThatThrownBy(() -> worker.measureAgain(7, 1, 0))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("the JVM that measures ended with 0 and gave no answer");
    }
  }
}
