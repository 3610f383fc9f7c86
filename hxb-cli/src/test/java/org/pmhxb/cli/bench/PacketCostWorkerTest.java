package org.pmhxb.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.pmhxb.cli.bench.PacketCostWorker.Answer;
import org.pmhxb.cli.bench.PacketCostWorker.Order;
import org.pmhxb.cli.cluster.NodeJvm;
import org.pmhxb.cost.Measurement.Effort;
import org.pmhxb.cost.Scenario;
import org.pmhxb.ffi.NativeLibrary;

class PacketCostWorkerTest {
  private static final Effort EFFORT = new Effort(5, 5, 0);
  private static final Scenario RELAY = new Scenario(org.pmhxb.cost.Path.RELAY, 32, 1, 1);
  private static final Scenario OTHER = new Scenario(org.pmhxb.cost.Path.RELAY, 32, 2, 1);

  /** No step is as short: all rounds were slow, and the machine is waited for in vain. */
  private static final double NEVER_NS = 1e-6;

  @Test
  void keepsTheRoundsOfEachScenario() throws Exception {
    try (PacketCostWorker worker = new PacketCostWorker(EFFORT)) {
      Answer relay = worker.obey(new Order(0, RELAY, Double.MAX_VALUE, 0));
      Answer other = worker.obey(new Order(1, OTHER, Double.MAX_VALUE, 0));

      assertThat(other.lines()).extracting("path", "rails").containsExactly(tuple("relay", 2));
      assertThat(other.lines().getFirst().javaNs()).isPositive();
      assertThat(other.leastStepNs()).isPositive().isLessThanOrEqualTo(relay.leastStepNs());
      Answer again = worker.obey(new Order(0, RELAY, NEVER_NS, 500));
      assertThat(again.lines()).extracting("path", "rails").containsExactly(tuple("relay", 1));
      assertThat(again.lines().getFirst().packets())
          .isGreaterThan(relay.lines().getFirst().packets());
      assertThat(again.lines().getFirst().slow()).isTrue();
      assertThat(again.leastStepNs()).isEqualTo(NEVER_NS);
    }
  }

  /** As in a checkout that was built in part. */
  @Test
  void aMissingLibraryIsNamed(@TempDir Path folder) throws Exception {
    Files.copy(NativeLibrary.path(), folder.resolve(NativeLibrary.FILE_NAME));
    List<String> command = NodeJvm.command(PacketCostWorker.class.getName());
    command.add(command.indexOf("-cp"), "-Dhxb.native.path=" + folder);
    try (PacketCostWorker worker = new PacketCostWorker(command, EFFORT)) {
      Order order = new Order(0, RELAY, Double.MAX_VALUE, 0);
      assertThatThrownBy(() -> worker.obey(order))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageStartingWith(folder.resolve("libhxbtwin.so") + " is not there");
      assertThatThrownBy(() -> worker.obey(order))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("the JVM that measures ended with 1 and gave no answer");
    }
  }
}
