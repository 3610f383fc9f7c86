package org.pmhxb.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.pmhxb.ffi.NativeLibrary;
import org.pmhxb.pm.Counter;
import org.pmhxb.pm.port.Burst;

/** Java and C take the same steps: equal counters, equal digests, on every path. */
class BenchTest {
  @ParameterizedTest
  @CsvSource({
    "RECEIVE, 32, 1, 1, 64",
    "RECEIVE, 1, 1, 100, 64",
    "RECEIVE, 64, 3, 1, 64",
    "RECEIVE, 32, 9, 100, 1000",
    "RECEIVE, 32, 1, 300, 8192",
    "SEND, 32, 1, 1, 64",
    "SEND, 1, 2, 100, 64",
    "SEND, 64, 9, 7, 8192",
    "RELAY, 32, 1, 1, 64",
    "RELAY, 1, 2, 1, 64",
    "RELAY, 64, 9, 1, 8192",
    "ACK, 32, 1, 1, 64",
    "ACK, 1, 1, 100, 64",
    "ACK, 64, 2, 100, 64",
  })
  void bothDoTheSame(Path path, int burst, int rails, int peers, int payloadBytes) {
    try (Bench bench = Bench.open(new Scenario(path, burst, rails, peers, payloadBytes))) {
      bench.verify(3);

      Map<String, Long> counters = bench.java().subject.counters();
      assertThat(counters.get(worked(path).name())).isGreaterThanOrEqualTo(3 * 2_048L);
      assertThat(bench.digests()[0] != 0).isEqualTo(path == Path.RECEIVE);
      assertThat(bench.digests()[1]).isNotZero();
    }
  }

  /** What was dropped costs less than what is measured: no figure comes of it. */
  @Test
  void aDroppedFrameFailsTheCheck() {
    try (Bench bench = Bench.open(new Scenario(Path.RECEIVE, 32, 1, 1))) {
      for (PacketLoop loop : List.of(bench.java(), bench.twin())) {
        loop.batch();
        loop.check();
        Lab lab = loop.lab;
        lab.allocate(1);
        lab.frames.asSlice(lab.pool.frameAt(lab.id(0)), 64).fill((byte) 0);
        lab.burst.set(0, Burst.descriptor(lab.id(0), 64));
        lab.toNode(1);
        loop.subject.cycle(loop.nowNs);
        assertThatThrownBy(loop::check)
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("counted DROPPED = 1");
      }
    }
  }

  private static Counter worked(Path path) {
    return switch (path) {
      case RECEIVE -> Counter.DATA_DELIVERED;
      case SEND -> Counter.DATA_SENT;
      case RELAY -> Counter.RELAYED;
      case ACK -> Counter.ACKS_RECEIVED;
    };
  }

  /** A sum of batches each of which has acknowledgements, so its median has them too. */
  @Test
  void acknowledgementsStandApartFromSending() {
    try (Bench bench = Bench.open(new Scenario(Path.SEND, 32, 1, 1))) {
      for (PacketLoop loop : List.of(bench.java(), bench.twin())) {
        loop.times().begin();
        loop.batch();
        assertThat(loop.times().pathNs(Double.MAX_VALUE)).isPositive();
        assertThat(loop.times().hasAcks()).isTrue();
        assertThat(loop.times().withAcksNs(Double.MAX_VALUE))
            .isGreaterThan(loop.times().pathNs(Double.MAX_VALUE));
      }
      bench.compare();
    }
    try (Bench bench = Bench.open(new Scenario(Path.ACK, 32, 1, 1))) {
      bench.java().times().begin();
      bench.java().batch();
      assertThat(bench.java().times().hasAcks()).isFalse();
      assertThat(bench.java().times().withAcksNs(Double.MAX_VALUE))
          .isEqualTo(bench.java().times().pathNs(Double.MAX_VALUE));
    }
  }

  static final class Alone {
    public static void main(String[] args) {
      for (Path path : Path.values()) {
        try (Bench bench = Bench.openAlone(new Scenario(path, 32, 2, 1))) {
          System.out.println(path + " " + bench.java().batch());
        }
      }
      try (Bench bench = Bench.open(new Scenario(Path.SEND, 32, 1, 1))) {
        System.out.println(bench.twin().batch());
      } catch (ExceptionInInitializerError e) {
        System.out.println(e.getCause().getMessage());
      }
    }
  }

  /** As in an installation, whose rehearsal goes through the paths, and which has no twin. */
  @Test
  void theProductionNodeAloneNeedsNoTwin(@TempDir java.nio.file.Path folder) throws Exception {
    Files.copy(NativeLibrary.path(), folder.resolve(NativeLibrary.FILE_NAME));
    Process process =
        new ProcessBuilder(
                java.nio.file.Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-Dhxb.native.path=" + folder,
                "-cp",
                System.getProperty("java.class.path"),
                Alone.class.getName())
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    assertThat(said)
        .contains("receive 2048\n", "send 2048\n", "relay 2048\n", "ack 2048\n")
        .contains(folder.resolve("libhxbtwin.so") + " is not there");

    try (Bench bench = Bench.openAlone(new Scenario(Path.RECEIVE, 32, 1, 1))) {
      assertThatThrownBy(bench::twin).hasMessageContaining("no twin");
      assertThatThrownBy(() -> bench.verify(1)).hasMessageContaining("no twin");
      assertThatThrownBy(bench::compare).hasMessageContaining("no twin");
    }
  }

  /** Of these batches one in 200 ends between the probes of two rails. */
  @Test
  void theSameIsFoundWhereverABatchEnds() {
    int between = 0;
    try (Bench bench = Bench.open(new Scenario(Path.RECEIVE, 32, 2, 100))) {
      for (int i = 0; i < 600; i++) {
        bench.java().batch();
        bench.twin().batch();
        between += bench.java().emitted() != bench.twin().emitted() ? 1 : 0;
        bench.compare();
      }
    }
    assertThat(between).isBetween(1, 10);
  }

  @Test
  void aDifferenceIsFound() {
    try (Bench bench = Bench.open(new Scenario(Path.RECEIVE, 32, 1, 1))) {
      bench.java().batch();
      bench.twin().batch();
      bench.compare();
      bench.java().batch();

      assertThatThrownBy(bench::compare).hasMessageContaining("Java counted");
    }
  }

  @Test
  void refusesWhatItCannotSetUp() {
    assertThatThrownBy(() -> new Scenario(Path.RECEIVE, 65, 1, 1))
        .hasMessage("burst is 65; must be in 1..64");
    assertThatThrownBy(() -> new Scenario(Path.RELAY, 32, 1, 2))
        .hasMessageContaining("a relay knows no peers");
  }
}
