package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.cli.bench.grid.GridNetwork;
import org.pmhxb.cli.cluster.ClusterState;
import picocli.CommandLine;

/** Options of the cluster's commands; nothing is started. */
class BenchCommandTest {
  @TempDir private Path root;

  private CommandRun run(String line) {
    Stream<String> words = Stream.of(line.split(" "));
    return CommandRun.of(
        Stream.concat(words, Stream.of("--run-dir", root.toString())).toArray(String[]::new));
  }

  @Test
  void theLettersOfTheGridsTableAreExplained() {
    String help = CommandRun.of("bench", "grid", "--help").out().replaceAll("\\s+", " ");
    for (GridNetwork network : GridNetwork.values()) {
      assertThat(help).contains(network.letter() + ", " + network.explanation());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "bench bandwidth --links 2 --shape 2x2 | --links N stands for",
        "bench bandwidth --relays 3 | --relays is 3; must be in 0..2",
        "bench bandwidth --shape 2x2 --relays 2 | needs a pair of nodes that differ in 3",
        "bench exchange --relays 1 | no option --relays",
        "bench latency --both | no option --both",
        "bench latency --size 8951 | --size is 8951; must be in 4..8950",
        "bench latency --relays 1 --together | --together needs --fabric shm or memif",
        "bench latency --size 3 | --size is 3; must be in 4..8950",
        "bench bandwidth --fabric veth --size 16777217 | must be in 4..16777216",
        "bench peers --peers hxb,telnet | no peer \"telnet\"; there are hxb,iperf3",
        "bench bandwidth --fabric ring --idle spin | --idle, --pin: the ring fabric",
        "bench latency --key-file /none | --key-file, --tag: frames of the ring fabric carry no tag",
        "bench exchange --tag replay | --key-file, --tag: frames of the ring fabric carry no tag",
        "bench bandwidth --fabric ring --driver packet | --driver packet: only the veth fabric",
        "bench latency --fabric memif --driver af_packet | --driver af_packet: only the veth",
        "bench latency --fabric veth --driver pci | --driver: \"pci\": must be packet or af_packet for veth",
        "bench bandwidth --seconds 0 | --seconds is 0; must be in 0.1..86400",
        "bench failover --cuts 21 | --cuts is 21; must be in 1..20",
        "bench failover --phase 0.5 | --phase is 0.5; must be in 1..60",
        "bench loss --links 10 | --links is 10; must be in 1..9",
        "bench loss --runs 0 | --runs is 0; must be in 1..20",
        "bench loss --warm-up 601 | --warm-up is 601; must be in 0.1..600",
        "bench start --nodes 2,4 | --nodes is 4; must be 2 or 8",
        "bench start --runs 21 | --runs is 21; must be in 1..20",
        "bench mpi --links 2,10 | --links is 10; must be in 1..9",
        "bench mpi --seconds 61 | --seconds is 61; must be in 0.1..60",
        "bench mpi --repeat 0 | --repeat is 0; must be in 1..100",
        "bench mpi --warm-up -1 | --warm-up is -1; must be in 0..600",
        "bench paper --budget 0 | --budget is 0; must be in 1..86400",
        "bench peers --budget -1 | --budget is -1; must be in 1..86400",
        "bench contention --budget 86401 | --budget is 86401; must be in 1..86400",
        "bench paper --output /dev/null | --output is /dev/null, which is no directory",
        "bench bandwidth --rate 1gbit | the ring fabric has no links to shape",
        "bench bandwidth --fabric memif --rate 1gbit | --rate is 1gbit; memif links cannot be shaped",
        "bench bandwidth --fabric memif --shape 3 | --shape is 3; memif joins lines of two nodes only",
        "bench bandwidth --fabric shm --rate 1gbit | --rate is 1gbit; shm links cannot be shaped",
        "bench bandwidth --fabric shm --shape 3 | --shape is 3; shm joins lines of two nodes only",
        "bench bandwidth --fabric veth --rails 10 | --rails is 10; must be in 1..9",
        "bench speed | no command \"speed\"",
        "bench bandwidth --rate fast | as in 200mbit",
        "bench barrier --algorithm best | no barrier algorithm \"best\"",
        "bench collectives --collective foo | --collective is \"foo\"; must be one of all, broadcast, ",
        "bench barrier --nodes 65 | --nodes is 65; must be in 2..64",
        "bench bandwidth --shape 2x2x2x2 | not 1 to 3",
        "bench bandwidth --shape 99x99 | the ring fabric carries at most 512",
        "bench bandwidth --fabric ring --rails 10 | --rails is 10; must be in 1..9",
        "bench collectives --shape 1 | --shape is 1; must have 2 nodes or more",
        "bench collectives --shape 99x99 | the ring fabric carries at most 512",
        "bench barrier --shape 1x1 | must have 2 nodes or more",
        "bench barrier --shape 99x99 | the ring fabric carries at most 512",
        "bench barrier --shape 5x5x5 --fabric veth | --shape is 5x5x5, which has 125 nodes; a veth fabric has at most 64",
        "logp --shape 1 | --shape is 1; must have 2 nodes or more",
        "up --shape 1 | --shape is 1; must have 2 nodes or more",
        "up --cluster A-B | --cluster is \"A-B\"; must be a letter"
      })
  void refusesWhatMakesNoSense(String line, String reason) {
    CommandRun run = run(line + " --json");

    assertThat(run.code()).as(run.err()).isEqualTo(Main.USAGE);
    assertThat(run.json().path("ok").asBoolean(true)).isFalse();
    assertThat(run.json().path("error").asText()).contains(reason);
  }

  @Test
  void theMemoryOfAPeerIsJudgedByItsBudget() {
    CommandRun run = CommandRun.of("bench", "peer-memory", "--runs", "1", "--json");

    assertThat(run.code()).as(run.err()).isZero();
    JsonNode bytes = run.json().path("bytesEach");
    assertThat(bytes.path("must").asDouble()).isEqualTo(1_024);
    assertThat(bytes.path("aim").asDouble()).isEqualTo(256);
    assertThat(bytes.path("measured").path("runs").asInt()).isEqualTo(1);
    assertThat(bytes.path("measured").path("median").asDouble()).isBetween(256.0, 1_024.0);
    assertThat(bytes.path("met").asText()).isIn("aim", "must");
    assertThat(run.json().path("command").asText()).isEqualTo("hxb bench peer-memory --runs 1");
  }

  @Test
  void theMemoryOfAPeerIsMeasuredOnceAtLeast() {
    CommandRun run = CommandRun.of("bench", "peer-memory", "--runs", "0", "--json");

    assertThat(run.code()).isEqualTo(Main.USAGE);
    assertThat(run.json().path("error").asText()).isEqualTo("--runs is 0; must be in 1..20");
  }

  @Test
  void benchAloneNamesTheBenchmarks() {
    CommandRun run = CommandRun.of("bench", "--json");

    assertThat(run.code()).isEqualTo(Main.USAGE);
    assertThat(run.json().path("error").asText())
        .startsWith("name a benchmark: ")
        .contains("bandwidth", "exchange", "latency", "paper");
  }

  @Test
  void statusWithoutAClusterSaysHowToStartOne() {
    CommandRun run = run("status --json");

    assertThat(run.code()).isEqualTo(Main.FAILED);
    assertThat(run.json().path("error").asText()).contains("hxb up", "--shape 2x2x2");
  }

  /** What {@code hxb up} wrote of a cluster whose nodes have died. */
  private void deadCluster() throws IOException {
    List<ClusterState.Node> nodes = new ArrayList<>();
    for (int node = 0; node < 2; node++) {
      long pid = ProcessHandle.current().pid(); // since the system's start: somebody else
      nodes.add(new ClusterState.Node(node, List.of(node, 0, 0), "", pid, 1, "", "", "/nowhere"));
    }
    Files.createDirectories(root.resolve("main"));
    new ObjectMapper()
        .writeValue(
            root.resolve("main/state.json").toFile(),
            new ClusterState("main", "veth", "2", 1, "200mbit", "2026-01-01T00:00:00Z", nodes));
  }

  @ParameterizedTest
  @ValueSource(strings = {"exchange", "incast", "bandwidth --both", "latency"})
  void aDeadNodeIsNamedWithTheMendBeforeAnythingIsMeasured(String benchmark) throws IOException {
    deadCluster();
    CommandRun run = run("bench " + benchmark + " --json");

    assertThat(run.code()).as(run.err()).isEqualTo(Main.FAILED);
    String in = " --run-dir " + root;
    assertThat(run.json().path("error").asText())
        .startsWith("node 0 at (0,0,0) does not answer: process ")
        .contains("; node 1 at (1,0,0) does not answer: process ")
        .contains(". Bring the cluster up again: hxb down" + in + ", then hxb up" + in)
        .contains(" --shape 2 --rails 1 --rate 200mbit");
    assertThat(run.err()).doesNotContain("warm", "measuring", "HXB_TRACE");
  }

  @Test
  void anExchangeOfSurvivorsNeedsTwo() throws IOException {
    deadCluster();
    CommandRun run = run("bench exchange --survivors --json");

    assertThat(run.code()).as(run.err()).isEqualTo(Main.FAILED);
    assertThat(run.json().path("error").asText()).startsWith("no two neighbours are left");
    assertThat(run.err()).contains("node 1 at (1,0,0) does not answer", "it takes no part");
  }

  /** Which machine the figures are of is said, not left to be found out. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "bench latency --fabric ring --rate 1gbit",
        "bench barrier --algorithm best",
        "bench collectives --collective best"
      })
  void aClusterThatIsUpAndNotMeasuredIsNamed(String line) throws IOException {
    deadCluster();
    CommandRun run = run(line);

    assertThat(run.err())
        .contains(
            "cluster \"main\" is up (veth, 2) and stays as it is; this runs on one of its own");
  }

  @Test
  void downWithoutAClusterIsNoFailure() {
    CommandRun run = run("down --cluster none7 --json");

    assertThat(run.code()).isEqualTo(Main.OK);
    assertThat(run.json().path("processes").asInt(-1)).isZero();
  }

  @Test
  void aDamagedStateFileIsNamed() throws IOException {
    Files.createDirectories(root.resolve("main"));
    Files.writeString(root.resolve("main/state.json"), "{\"nodes\":");

    assertThat(run("status --json").json().path("error").asText())
        .contains("state.json is damaged")
        .contains("hxb down");
  }

  @Test
  void aNodeWithoutItsFileSaysWhichFile() {
    CommandRun run = CommandRun.of("node", "--config", root.resolve("n.toml").toString());

    assertThat(run.code()).isEqualTo(Main.USAGE);
    assertThat(run.err()).contains(root.resolve("n.toml").toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "up",
        "status",
        "down",
        "node",
        "bench",
        "bench bandwidth",
        "bench latency",
        "bench exchange",
        "bench paper",
        "bench peers"
      })
  void helpHasAnExample(String command) {
    CommandRun run = CommandRun.of((command + " --help").split(" "));

    assertThat(run.code()).isEqualTo(Main.OK);
    assertThat(run.out()).contains("Example: hxb " + command);
    assertThat(Arrays.stream(run.out().split("\n"))).allMatch(line -> line.length() <= 120);
  }

  /** What measures some peers alone leaves the page of all of them as it is. */
  @Test
  void someOfTheSuiteIsAPart() {
    PeersCommand peers = new PeersCommand();
    assertThat(peers.isPart()).isFalse();
    new CommandLine(peers).parseArgs("--peers", "hxb");
    assertThat(peers.isPart()).isTrue();

    ContentionCommand contention = new ContentionCommand();
    assertThat(contention.isPart()).isFalse();
    new CommandLine(contention).parseArgs("--case", "relays-0");
    assertThat(contention.isPart()).isTrue();
  }
}
