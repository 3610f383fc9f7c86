package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.cli.bench.BenchCluster;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.process.Running;
import org.pmhxb.cli.veth.FabricPlan;
import org.pmhxb.cli.veth.VethFabric;
import org.pmhxb.router.Shape;

/** Real nodes over every fabric, by the commands that a user gives. */
class FabricIT {
  private static final double MOST_EFFICIENCY = 1.01;
  private static final long DETECTION_MS = 6_000;

  @TempDir private Path directory;
  private Path root;
  private String cluster;

  @BeforeEach
  void name() {
    root = directory.resolve("r");
    cluster = "it" + ProcessHandle.current().pid() % 100_000;
  }

  @AfterEach
  void leavesNothing() {
    CommandRun down = run("down");
    assertThat(down.code()).as(down.err()).isEqualTo(Main.OK);
    assertThat(VethFabric.namespaces(cluster)).isEmpty();
    assertThat(root).doesNotExist();
    assertThat(Running.startedWith(root)).isEmpty();
  }

  private static void needsRoot() {
    assumeTrue("root".equals(System.getProperty("user.name")), "network namespaces need root");
  }

  private CommandRun run(String line) {
    List<String> common = List.of("--json", "--run-dir", root.toString(), "--cluster", cluster);
    return CommandRun.of(
        Stream.concat(Stream.of(line.split(" ")), common.stream()).toArray(String[]::new));
  }

  private JsonNode ok(String line) {
    CommandRun run = run(line);
    assertThat(run.code()).as(line + "\n" + run.out() + run.err()).isEqualTo(Main.OK);
    assertThat(run.json().path("ok").asBoolean()).isTrue();
    return run.json();
  }

  private static void assertVerified(JsonNode result) {
    assertThat(result.path("messages").asLong()).isPositive();
    for (String fault : List.of("lost", "duplicated", "misordered", "corrupt")) {
      assertThat(result.path(fault).asLong(-1)).as(fault).isZero();
    }
  }

  private static void assertShaped(JsonNode result) {
    assertVerified(result);
    assertThat(result.path("efficiency").asDouble()).isPositive().isLessThan(MOST_EFFICIENCY);
  }

  @Test
  void eightNodesComeUpExchangeLoseOneAndGoDown() throws Exception {
    needsRoot();
    JsonNode up = ok("up --shape 2x2x2 --rails 2 --rate 200mbit");
    assertThat(up.path("nodes")).hasSize(8);
    assertThat(VethFabric.namespaces(cluster)).hasSize(8);

    JsonNode status = ok("status");
    assertThat(status.path("nodes")).allMatch(node -> node.path("peersUp").asInt() == 3);
    assertThat(status.path("nodes")).allMatch(node -> node.path("rails").size() == 6);
    assertThat(status.path("nodes").findValues("rails"))
        .allSatisfy(rails -> assertThat(rails).allMatch(FabricIT::hasCounted));

    JsonNode exchange = ok("bench exchange --seconds 1 --warm-up 1");
    assertShaped(exchange);
    assertThat(exchange.path("pairs")).hasSize(24);
    assertThat(exchange.path("pairs")).allMatch(pair -> pair.path("messages").asLong() > 0);
    assertThat(exchange.path("theoreticalBytesPerSecond").asDouble()).isEqualTo(1.2e9);
    assertVerified(ok("bench latency --relays 2 --seconds 0.5 --warm-up 0.5"));

    long pid = up.path("nodes").get(5).path("pid").asLong();
    ProcessHandle.of(pid).orElseThrow().destroyForcibly();
    long killedNs = System.nanoTime();
    assertNodeFiveIsNamed(killedNs);
    assertVerified(ok("bench bandwidth --seconds 0.5 --warm-up 0.5"));
    CommandRun refused = run("bench exchange --seconds 0.5 --warm-up 0.5");
    assertThat(refused.code()).isEqualTo(Main.FAILED);
    assertThat(refused.json().path("error").asText())
        .startsWith("node 5 at (1,0,1) does not answer: process " + pid + " has ended.")
        .contains("--survivors");
    CommandRun rest = run("bench exchange --survivors --seconds 0.5 --warm-up 0.5");
    assertThat(rest.code()).as(rest.err()).isEqualTo(Main.OK);
    assertVerified(rest.json());
    assertThat(rest.json().path("pairs")).hasSize(24 - 6);
    assertThat(rest.json().path("failures")).isEmpty();
    assertThat(rest.err()).contains("node 5 at (1,0,1) does not answer", "it takes no part");
  }

  @Test
  @Tag("beside-others")
  void aClusterOfSharedMemoryComesUpLosesANodeAndGoesDown() {
    JsonNode up = ok("up --fabric shm --shape 2x2 --rails 2 --idle park");
    assertThat(up.path("fabric").asText()).isEqualTo("shm");
    assertThat(up.path("nodes")).hasSize(4);
    Running.assertThatEachHasAGroup(
        up.path("nodes").valueStream().map(node -> node.path("pid").asLong()).toList());
    assertThat(VethFabric.namespaces(cluster)).isEmpty();
    assertThat(ok("status").path("nodes")).allMatch(node -> node.path("peersUp").asInt() == 2);
    JsonNode exchange = ok("bench exchange --seconds 0.5 --warm-up 0.5");
    assertVerified(exchange);
    assertThatANodeTellsAloneWhatItTellsOfTheCluster(1);
    assertThat(exchange.path("fabric").asText()).isEqualTo("shm");
    assertVerified(ok("bench latency --relays 1 --seconds 0.5 --warm-up 0.5"));
    ProcessHandle last =
        ProcessHandle.of(up.path("nodes").get(3).path("pid").asLong()).orElseThrow();
    last.destroyForcibly();
    last.onExit().join();
    assertVerified(ok("bench bandwidth --seconds 0.5 --warm-up 0.5"));
    assertThat(ok("down").path("processes").asInt()).isEqualTo(3);
    CommandRun shaped = run("up --fabric shm --shape 2 --rate 1gbit");
    assertThat(shaped.code()).isEqualTo(Main.USAGE);
    assertThat(shaped.json().path("error").asText())
        .contains("--rate", "shm links cannot be shaped");
  }

  private void assertThatANodeTellsAloneWhatItTellsOfTheCluster(int number) {
    JsonNode of = ok("status").path("nodes").get(number);
    Path config = new ClusterPaths(root, cluster).config(number);
    CommandRun run = CommandRun.of("status", "--json", "--config", config.toString());
    assertThat(run.code()).as(run.err()).isEqualTo(Main.OK);
    JsonNode alone = run.json();
    for (String same : List.of("node", "coordinates", "pid", "version", "wire", "poolPageBytes")) {
      assertThat(alone.path(same))
          .as(same)
          .isEqualTo(of.path(same))
          .isNotEqualTo(MissingNode.getInstance());
    }
    assertThat(alone.path("version").asText()).isEqualTo(Version.project());
    assertThat(alone.path("rails")).hasSize(4).allMatch(FabricIT::hasCounted);
    assertThat(alone.path("peers")).allMatch(peer -> peer.path("paths").asInt() > 0);
    assertThat(alone.path("peers")).allMatch(peer -> peer.path("pathsEvicted").isInt());
  }

  private static boolean hasCounted(JsonNode rail) {
    JsonNode counters = rail.path("counters");
    return Stream.of("rxFrames", "rxBytes", "txFrames", "txBytes")
            .allMatch(count -> counters.path(count).asLong() > 0)
        && Stream.of("rxDropped", "rxErrors", "txErrors").allMatch(counters::has);
  }

  private void assertNodeFiveIsNamed(long killedNs) throws InterruptedException {
    JsonNode status = run("status").json();
    while (status.path("peersDown").size() < 3) {
      assertThat(System.nanoTime() - killedNs).isLessThan(TimeUnit.SECONDS.toNanos(60));
      Thread.sleep(100);
      status = run("status").json();
    }
    assertThat(status.path("ok").asBoolean()).isFalse();
    assertThat(status.path("nodes").get(5).path("alive").asBoolean(true)).isFalse();
    assertThat(status.path("peersDown"))
        .allMatch(down -> down.path("node").asInt() == 5)
        .allMatch(down -> !down.path("reason").asText().isEmpty())
        .allMatch(down -> down.path("session").asLong() > 0);
    for (int node : new int[] {1, 4, 7}) {
      assertThatItKnewInTime(node, killedNs);
    }
  }

  /**
   * Asking takes its time on a busy machine; what counts is when the node knew, which is before the
   * answer by what it says and after the question by as much: who asks often enough can tell.
   */
  private void assertThatItKnewInTime(int node, long killedNs) {
    long atMostMs;
    do {
      long askedMs = (System.nanoTime() - killedNs) / 1_000_000;
      JsonNode peers = run("status").json().path("nodes").get(node).path("peers");
      long answeredMs = (System.nanoTime() - killedNs) / 1_000_000;
      long sinceMs = sinceNodeFiveIsDown(peers);
      assertThat(askedMs - sinceMs).as("node %d knew after ms", node).isLessThan(DETECTION_MS);
      assertThat(askedMs).as("ms without an answer soon enough").isLessThan(60_000);
      atMostMs = answeredMs - sinceMs;
    } while (atMostMs >= DETECTION_MS);
  }

  private static long sinceNodeFiveIsDown(JsonNode peers) {
    for (JsonNode peer : peers) {
      if (peer.path("node").asInt() == 5) {
        return peer.path("sinceMs").asLong();
      }
    }
    throw new AssertionError("node 5 is no peer: " + peers);
  }

  @Test
  void linesOfThreeNodesShareASwitch() {
    needsRoot();
    ok("up --shape 3x2 --rails 1 --rate 100mbit --driver af_packet");

    JsonNode exchange = ok("bench exchange --seconds 0.5 --warm-up 0.5");
    assertShaped(exchange);
    assertThat(exchange.path("pairs")).hasSize(6 * 3);
    assertShaped(ok("bench bandwidth --relays 1 --both --seconds 0.5 --warm-up 0.5"));
    CommandRun other = run("bench bandwidth --shape 2 --fabric veth");
    assertThat(other.code()).isEqualTo(Main.FAILED);
    assertThat(other.json().path("error").asText()).contains("is up with --shape 3x2, not 2;");
    CommandRun links = run("bench bandwidth --links 1 --fabric veth");
    assertThat(links.json().path("error").asText())
        .contains("with --shape 3x2, not 2 (--links 1 stands for --shape 2 --rails 1);");
  }

  /**
   * Short frames pass a port of the switch that was forgotten, 8 KB do not; then its cable goes.
   */
  @Test
  @Tag("beside-others")
  void aNarrowPortOfASwitchIsNamedAndSoIsADeadOne() throws Exception {
    needsRoot();
    ok("up --shape 3 --rails 2");
    ok("status");
    String switches = new FabricPlan(cluster, Shape.of(3), 2, null).switchNamespace();
    VethFabric.configure(switches, List.of("link set dev n0x1 mtu 1500"));
    JsonNode narrow = awaitStatus(nodes -> nodes.path(0).path("faults").size() == 2);
    for (JsonNode fault : narrow.path("nodes").path(0).path("faults")) {
      assertThat(fault.asText())
          .startsWith("frames of full length do not arrive: x1 of node 0 at (0,0,0)")
          .contains("those of 9014 bytes do not; raise the MTU of the switch or interface")
          .contains("to 9000");
    }
    assertVerified(ok("bench exchange --seconds 0.5 --warm-up 0.5"));

    VethFabric.configure(switches, List.of("link set dev n2x1 down"));
    JsonNode dead =
        awaitStatus(
            nodes ->
                !nodes.path(2).path("rails").path(1).path("carrier").asBoolean(true)
                    && nodes.path(1).path("missing").toString().contains("node 2"));
    assertThat(dead.path("nodes").path(1).path("missing").toString())
        .containsPattern("node 2 at \\(2,0,0\\) silent for [0-9]+ s on rail x1 \\(x1\\)");
    assertThat(dead.path("nodes")).allMatch(node -> node.path("ready").asBoolean());
    assertVerified(ok("bench exchange --seconds 0.5 --warm-up 0.5"));
  }

  /** What {@code hxb status} says once its nodes are so; it ends with 1 then. */
  private JsonNode awaitStatus(Predicate<JsonNode> nodes) throws InterruptedException {
    long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    CommandRun status = run("status");
    while (!nodes.test(status.json().path("nodes"))) {
      assertThat(System.nanoTime()).as(status.out()).isLessThan(deadlineNs);
      Thread.sleep(200);
      status = run("status");
    }
    assertThat(status.code()).isEqualTo(Main.FAILED);
    return status.json();
  }

  @ParameterizedTest
  @ValueSource(strings = {"packet", "af_packet"})
  void aBenchmarkBringsItsOwnVethClusterUpAndDown(String driver) {
    needsRoot();
    JsonNode result =
        ok(
            "bench bandwidth --fabric veth --links 3 --rate 100mbit --seconds 1 --warm-up 1"
                + " --driver "
                + driver);

    assertShaped(result);
    assertThat(result.path("links").asInt()).isEqualTo(3);
    assertThat(result.path("theoreticalBytesPerSecond").asDouble()).isEqualTo(37.5e6);
    assertThat(root).doesNotExist();
  }

  @Test
  void thePapersTablesAreBrokenOffInTimeAndLeaveWhatWasMeasured() {
    needsRoot();
    Path results = directory.resolve("results");
    CommandRun run = run("bench paper --quick --rate 100mbit --budget 1 --output " + results);

    assertThat(run.code()).as(run.err()).isEqualTo(Main.FAILED);
    JsonNode report = run.json();
    assertThat(report.path("finished").asBoolean(true)).isFalse();
    assertThat(report.path("failures")).isEmpty();
    JsonNode oneLink = report.path("tables").get(0).path("rows").get(0);
    assertThat(oneLink.path("label").asText()).isEqualTo("1 link");
    assertThat(report.path("figures").get(0).path("curves").get(0).path("label").asText())
        .isEqualTo("hxb, 1 link of 100mbit");
    assertThat(results.resolve("paper.md")).content().contains("Not finished");
    assertThat(results.resolve("paper/figure-3.svg")).isNotEmptyFile();
    assertThat(VethFabric.namespaces(BenchCluster.ownName())).isEmpty();
  }

  @ParameterizedTest
  @Tag("beside-others")
  @ValueSource(
      strings = {
        "bandwidth --fabric ring --size 64",
        "bandwidth --fabric ring --relays 2 --both",
        "latency --fabric ring --size 4",
        "exchange --fabric ring --shape 3x2 --rails 1",
        "bandwidth --fabric shm",
        "latency --fabric shm --relays 1 --together",
        "bandwidth --fabric memif",
        "latency --fabric memif --relays 1",
        "latency --fabric memif --relays 1 --together"
      })
  void measuresWithoutNamespaces(String line) {
    JsonNode result = ok("bench " + line + " --seconds 0.5 --warm-up 0.5");

    assertVerified(result);
    assertThat(result.path("bytesPerSecond").asDouble()).isPositive();
    if (line.startsWith("latency")) {
      JsonNode half = result.path("halfRoundTripNs");
      assertThat(half.path("min").asLong()).isPositive();
      assertThat(half.path("p50").asLong()).isLessThanOrEqualTo(half.path("max").asLong());
    }
  }
}
