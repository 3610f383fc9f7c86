package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.cli.bench.BenchCluster;
import org.pmhxb.cli.veth.VethFabric;

/** Processes on veth whose ports misbehave, whose nodes are stopped, killed and started again. */
class FaultsIT {
  @TempDir private Path directory;
  private Path root;
  private String cluster;

  @BeforeEach
  void name() {
    assumeTrue("root".equals(System.getProperty("user.name")), "network namespaces need root");
    root = directory.resolve("r");
    cluster = "ft" + ProcessHandle.current().pid() % 100_000;
  }

  @AfterEach
  void leavesNothing() {
    assertThat(run("down").code()).isEqualTo(Main.OK);
    assertThat(VethFabric.namespaces(cluster)).isEmpty();
    assertThat(root).doesNotExist();
  }

  private CommandRun run(String line) {
    List<String> common = List.of("--json", "--run-dir", root.toString(), "--cluster", cluster);
    return CommandRun.of(
        Stream.concat(Stream.of(line.split(" ")), common.stream()).toArray(String[]::new));
  }

  private JsonNode ok(String line) {
    CommandRun run = run(line);
    assertThat(run.code()).as(line + "\n" + run.out() + run.err()).isEqualTo(Main.OK);
    return run.json();
  }

  /** Loss, repetition, reordering and damage at once, under a key that every frame is tagged by. */
  @Test
  void anExchangeUnderFaultsAndTagsArrivesWhole() throws Exception {
    Path key = directory.resolve("key");
    Files.writeString(key, "000102030405060708090a0b0c0d0e0f\n");
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    ok(
        "up --shape 2 --rails 2 --key-file "
            + key
            + " --faults loss=0.01,duplicate=0.01,reorder=0.1,corrupt=0.001,seed=3");
    JsonNode exchange = ok("bench exchange --seconds 1 --warm-up 1 --size 2048");
    assertThat(exchange.path("messages").asLong()).isPositive();
    assertThat(exchange.path("resent").asLong()).isPositive();
    for (JsonNode node : ok("status").path("nodes")) {
      JsonNode counters = node.path("counters");
      assertThat(counters.path("peers-down").asLong(-1)).isZero();
      assertThat(counters.path("drop.tag").asLong() + counters.path("drop.crc").asLong())
          .as("damage that was found")
          .isPositive();
    }
  }

  /**
   * A cut rail costs its share and nothing else, with the carrier up or down. Links so slow that
   * they have work for as long as a node may wait for a processor.
   */
  @ParameterizedTest
  @Tag("beside-others")
  @CsvSource({"silent, 2", "down, 1"})
  void aRailThatIsCutUnderLoadLosesNothing(String how, int cuts) {
    CommandRun run =
        run("bench failover --links 3 --rate 10mbit --phase 1 --cut " + how + " --cuts " + cuts);
    JsonNode json = run.json();
    assertThat(json.path("messages").asLong()).as(run.out() + run.err()).isGreaterThan(1_000);
    assertThat(json.path("lost").asLong(-1)).isZero();
    assertThat(json.path("duplicated").asLong(-1)).isZero();
    assertThat(json.path("misordered").asLong(-1)).isZero();
    assertThat(json.path("corrupt").asLong(-1)).isZero();
    // Two links of three go on, and the third comes back: not a figure, but not one link either.
    assertThat(json.path("cuts")).hasSize(cuts);
    for (JsonNode cut : json.path("cuts")) {
      assertThat(cut.path("share").asDouble()).isBetween(0.75, 1.4);
      assertThat(cut.path("after").asDouble()).isGreaterThan(cut.path("during").asDouble());
    }
    assertThat(json.path("missingMs").path("measured").path("runs").asInt()).isEqualTo(cuts);
    assertThat(json.path("missingMs").path("must").asDouble()).isEqualTo(5);
    assertThat(json.path("longestStopMs").asDouble()).isPositive();
    assertThat(json.path("undisturbedMissingMs").path("runs").asInt())
        .as("the second before each")
        .isGreaterThanOrEqualTo(3 * cuts);
    assertThat(json.path("machine").asText()).contains("JDK");
  }

  /** Links so slow that two nodes beside other tests fill them, and lose what is resent in time. */
  @Test
  @Tag("beside-others")
  void lossCostsAboutWhatIsLostAndNoMessage() {
    JsonNode json = ok("bench loss --rate 10mbit --runs 1 --seconds 1 --warm-up 1");
    assertThat(json.path("command").asText())
        .endsWith(" --rate 10mbit --runs 1 --seconds 1 --warm-up 1");
    assertThat(json.path("resent").asLong()).isPositive();
    assertThat(json.path("clean").path("median").asDouble()).isBetween(0.75, 1.01);
    JsonNode lost = json.path("lostPercent");
    assertThat(lost.path("measured").path("median").asDouble()).isBetween(-10.0, 25.0);
    assertThat(lost.path("must").asDouble()).isEqualTo(2);
    assertThat(json.path("machine").asText()).contains("DPDK");
  }

  @Test
  @Tag("beside-others")
  void aStartIsTimedUntilAllAreReady() throws Exception {
    JsonNode json = ok("bench start --nodes 2 --runs 1");
    assertThat(json.path("results")).hasSize(1);
    JsonNode seconds = json.path("results").path(0).path("seconds");
    assertThat(seconds.path("measured").path("median").asDouble()).isBetween(0.3, 30.0);
    assertThat(seconds.path("must").asDouble()).isEqualTo(2);
    assertThat(VethFabric.namespaces(BenchCluster.ownName())).isEmpty();
  }

  /**
   * Long before its stream would have ended, and none of the tools that wait in its namespaces is
   * left: who is asked by a supervisor to end has 30 s.
   */
  @Test
  @Tag("beside-others")
  void aFailoverThatIsInterruptedEndsAtOnceAndLeavesNothing() throws Exception {
    AtomicReference<CommandRun> ended = new AtomicReference<>();
    Thread command =
        Thread.ofPlatform()
            .start(() -> ended.set(run("bench failover --links 2 --rate 10mbit --phase 60")));
    // Of cutting and of mending, at both ends.
    long deadlineNs = System.nanoTime() + 60_000_000_000L;
    while (waitingTools() < 4) {
      assertThat(command.isAlive()).as("the command, before its tools wait").isTrue();
      assertThat(System.nanoTime()).isLessThan(deadlineNs);
      Thread.sleep(20);
    }
    Thread.sleep(1_000);
    command.interrupt();
    command.join(20_000);
    assertThat(command.isAlive()).isFalse();
    assertThat(ended.get().code()).isEqualTo(Main.FAILED);
    assertThat(ended.get().out()).isEmpty();
    assertThat(ended.get().err()).contains(": interrupted");
    assertThat(waitingTools()).isZero();
    assertThat(VethFabric.namespaces(BenchCluster.ownName())).isEmpty();
  }

  private static long waitingTools() {
    return ProcessHandle.current()
        .children()
        .filter(child -> child.info().commandLine().orElse("").endsWith("tc -batch -"))
        .count();
  }

  /** On a line of three all neighbours are all others; by either driver. */
  @ParameterizedTest
  @Tag("beside-others")
  @ValueSource(
      strings = {
        "loss=0.05,seed=4 --driver af_packet",
        "reorder=0.1,duplicate=0.01,corrupt=0.001,seed=4",
      })
  void allToAllUnderFaultsArrivesWhole(String faults) {
    ok("up --shape 3 --rails 2 --faults " + faults);
    JsonNode run = ok("bench exchange --seconds 0.5 --warm-up 0.5 --size 2048");
    assertThat(run.path("messages").asLong()).isPositive();
    for (String fault : new String[] {"lost", "duplicated", "misordered", "corrupt"}) {
      assertThat(run.path(fault).asLong(-1)).as(fault).isZero();
    }
  }

  @Test
  void aKeyThatOthersMayReadIsRefusedBeforeAnythingIsBuilt() throws Exception {
    Path key = directory.resolve("key");
    Files.writeString(key, "000102030405060708090a0b0c0d0e0f\n");
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r--r--"));
    CommandRun run = run("up --shape 2 --key-file " + key);
    assertThat(run.code()).isEqualTo(Main.USAGE);
    assertThat(run.json().path("error").asText()).contains("chmod 600 " + key);
    assertThat(VethFabric.namespaces(cluster)).isEmpty();
  }

  /** A short soak: a node stopped for 3 s in mid-traffic, all verified, nothing left, no growth. */
  @Test
  @Tag("beside-others")
  void aShortSoakIsClean() {
    CommandRun run = run("soak --minutes 0.1 --fabric veth");
    assertThat(run.code()).as(run.out() + run.err()).isEqualTo(Main.OK);
    assertThat(run.json().path("stops").asInt()).isPositive();
    assertThat(run.json().path("lost").asLong(-1)).isZero();
  }

  /** The very thing that a soak looks for: its report stays, and says which node and why. */
  @Test
  @Tag("beside-others")
  void aNodeThatEndsInASoakIsReportedWithItsLog() throws Exception {
    AtomicReference<CommandRun> ended = new AtomicReference<>();
    Thread command =
        Thread.ofPlatform().start(() -> ended.set(run("soak --minutes 10 --fabric veth")));
    long deadlineNs = System.nanoTime() + 60_000_000_000L;
    while (Thread.getAllStackTraces().keySet().stream()
        .noneMatch(thread -> thread.getName().equals("soak-stopper"))) {
      assertThat(command.isAlive()).as("the command, before its traffic").isTrue();
      assertThat(System.nanoTime()).isLessThan(deadlineNs);
      Thread.sleep(20);
    }
    Thread.sleep(1_500);
    ProcessHandle node =
        ProcessHandle.current()
            .children()
            .filter(child -> child.info().commandLine().orElse("").contains("/node-2"))
            .findFirst()
            .orElseThrow();
    assertThat(node.destroyForcibly()).isTrue();

    command.join(60_000);
    assertThat(command.isAlive()).isFalse();
    assertThat(ended.get().code()).isEqualTo(Main.FAILED);
    JsonNode report = ended.get().json();
    assertThat(report.path("failures").toString())
        .contains("veth round 0: node 2 ended; its log ends:");
    assertThat(report.path("seed").asLong()).isEqualTo(1);
    assertThat(report.path("rounds").asLong()).isEqualTo(1);
  }
}
