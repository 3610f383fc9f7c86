package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.pmhxb.cli.process.Running;

/** Barriers and collectives of processes in network namespaces, by the commands of a user. */
class CollectivesIT {
  @TempDir private Path directory;
  private Path root;

  @BeforeEach
  void needsRoot() {
    assumeTrue("root".equals(System.getProperty("user.name")), "network namespaces need root");
    root = directory.resolve("r");
  }

  @AfterEach
  void leavesNothing() {
    assertThat(root).doesNotExist();
    assertThat(Running.startedWith(directory)).isEmpty();
  }

  private JsonNode ok(String line) {
    List<String> common = List.of("--json", "--run-dir", root.toString());
    CommandRun run =
        CommandRun.of(
            Stream.concat(Stream.of(line.split(" ")), common.stream()).toArray(String[]::new));
    assertThat(run.code()).as(line + "\n" + run.out() + run.err()).isEqualTo(Main.OK);
    assertThat(run.json().path("ok").asBoolean()).isTrue();
    return run.json();
  }

  /** Where Open MPI is not installed the report says so, and has no ratio. */
  @Test
  @Tag("beside-others")
  void barriersBesideMpi() {
    JsonNode json =
        ok(
            "bench barrier --fabric veth --nodes 2 --rails 1 --algorithm exchange,concurrent"
                + " --warm-up 0 --seconds 0.1");

    assertThat(json.path("sides")).hasSize(3);
    for (JsonNode side : json.path("sides")) {
      assertThat(side.path("results")).hasSize(2);
      double best = Double.MAX_VALUE;
      for (JsonNode line : side.path("results")) {
        assertThat(line.path("framesPerBarrier").asDouble()).as("%s", line).isBetween(2.0, 4.0);
        assertThat(line.path("predictedNs").asDouble()).as("%s", line).isPositive();
        best = Math.min(best, line.path("latencyNs").path("p50").asDouble() / 1e3);
      }
      if (!side.hasNonNull("mpi")) {
        assertThat(json.path("peer").asText()).contains("run scripts/install-peers.sh");
        assertThat(side.hasNonNull("ratio")).isFalse();
      } else {
        assertThat(json.path("peer").asText()).startsWith("mpirun");
        assertThat(side.path("ratio").asDouble())
            .isEqualTo(best / side.path("mpi").path("p50Us").asDouble());
      }
    }
  }

  /** Three processes on a bridge; where there are fewer processors they sleep. */
  @Test
  void logpOfALine() {
    JsonNode json = ok("logp --fabric veth --nodes 3 --rails 1 --pings 20 --seconds 0.05");

    JsonNode measured = json.path("measured");
    boolean shared = Runtime.getRuntime().availableProcessors() < 3;
    assertThat(measured.path("wakeNs").asDouble() > 0).isEqualTo(shared);
    assertThat(measured.path("logp").path("osNs").asDouble()).isPositive();
    assertThat(measured.path("ways")).hasSize(1);
    assertThat(json.path("results").size()).isGreaterThan(8);
    assertThat(json.path("choice").asText()).contains(" for all of 3: ", "by the model");
  }

  @Test
  void collectivesWithRightResults() {
    JsonNode json =
        ok(
            "bench collectives --fabric veth --nodes 3 --rails 1 --collective allreduce"
                + " --size 8,16384 --rounds 3");

    Set<Integer> sizes = new TreeSet<>();
    int chosen = 0;
    for (JsonNode point : json.path("results")) {
      sizes.add(point.path("bytes").asInt());
      chosen += point.path("chosen").asBoolean() ? 1 : 0;
      assertThat(point.path("operations").asLong()).as("%s", point).isGreaterThanOrEqualTo(3);
      assertThat(point.path("microseconds").path("median").asDouble()).isPositive();
    }
    assertThat(sizes).containsExactly(8, 16_384);
    assertThat(chosen).isEqualTo(2);
  }
}
