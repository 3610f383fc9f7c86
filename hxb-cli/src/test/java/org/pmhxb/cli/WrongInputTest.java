package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.cli.control.ControlServer;
import org.pmhxb.cli.node.NodeService;

/** Wrong files and options: a message with place and range, exit code 2, nothing half-started. */
class WrongInputTest {
  private static final String NODE =
      """
      key = "k"
      shape = "2"
      coordinates = [0]
      control-socket = "SOCKET"

      [[rail]]
      dimension = "x"
      index = 0
      driver = "af_packet"
      device = "nosuch0"
      """;

  @TempDir private Path folder;

  private CommandRun node(String text) throws IOException {
    Path file = folder.resolve("node.toml");
    Files.writeString(file, text.replace("SOCKET", folder.resolve("s").toString()));
    return CommandRun.of("node", "--json", "--config", file.toString());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          [0]       | [0            | node.toml:4: is not TOML
          shape =   | shapes =      | node.toml:2: shapes = "2": is no key; did you mean "shape"?
          "2"       | "1x2x3x4"     | node.toml:2: shape = 1x2x3x4:
          [0]       | [2]           | node.toml:3: coordinates = [2]: must be in 0..1 for the shape 2
          index = 0 | index = 9     | node.toml:8: rail[0].index = 9: must be 0 to 8
          af_packet | ring          | node.toml:9: rail[0].driver = ring: joins the nodes of one process
          [[rail]]  | [rail]        | node.toml:6: rail =
          key =     | mtu = 1;key = | node.toml:1: mtu = 1: must be 602 to 16000 bytes
          """)
  void aWrongFileIsRefusedWithItsPlaceBeforeAnythingStarts(String from, String to, String message)
      throws IOException {
    CommandRun run = node(NODE.replace(from, to.replace(";", "\n")));
    assertThat(run.code()).as(run.err()).isEqualTo(Main.USAGE);
    assertThat(run.err()).contains(folder + "/" + message).doesNotContain("\tat ");
    assertThat(run.json().path("ok").asBoolean(true)).isFalse();
    assertThat(run.json().path("error").asText()).contains(message);
    assertNothingStarted();
  }

  @Test
  void aFileThatCannotBeReadIsRefused() {
    for (Path file : List.of(folder.resolve("none.toml"), folder, Path.of("/dev/zero"))) {
      CommandRun run = CommandRun.of("node", "--config", file.toString());
      assertThat(run.code()).as(file.toString()).isEqualTo(Main.USAGE);
      assertThat(run.err()).startsWith("hxb node: " + file + ": ");
    }
    assertNothingStarted();
  }

  /** The file is right, and the device may come: a failure of the command, not of its usage. */
  @Test
  void aDeviceThatIsNotThereFailsAndLeavesNothing() throws IOException {
    CommandRun run = node(NODE);
    assertThat(run.code()).as(run.err()).isEqualTo(Main.FAILED);
    assertThat(run.err()).contains("device nosuch0 of rail x0 is not in this network namespace");
    assertNothingStarted();
  }

  /** Two nodes of the same coordinates end each other's sessions. */
  @Test
  void aNodeThatRunsAlreadyIsNamedBeforeAnotherIsHeardOf() throws IOException {
    try (ControlServer running =
        ControlServer.start(folder.resolve("s"), new NodeService(null)::conversation)) {
      CommandRun run = node(NODE);
      assertThat(run.code()).as(run.err()).isEqualTo(Main.FAILED);
      assertThat(run.err()).contains("a process answers there already").doesNotContain("nosuch0");
      String file = folder.resolve("node.toml").toString();
      CommandRun rank = CommandRun.of("mpirank", "--config", file, "--", Main.class.getName());
      assertThat(rank.code()).isEqualTo(Main.FAILED);
      assertThat(rank.err()).contains("a process answers there already");
      assertThat(folder.resolve("s")).exists();
    }
    assertNothingStarted();
  }

  @Test
  void aPoolThatIsTooSmallIsRefusedBeforeDpdkStarts() throws IOException {
    CommandRun run = node(NODE + "\n[pool]\nbuffers = 64\n");
    assertThat(run.code()).as(run.err()).isEqualTo(Main.USAGE);
    assertThat(run.err())
        .contains(folder + "/node.toml: pool.buffers = 64: the sum of its uses is ");
    assertNothingStarted();
  }

  /** 10 GB of buffers in 2 MB pages that nobody has reserved. */
  @Test
  void hugepagesThatRunOutEndTheStart() throws IOException {
    CommandRun run = node(NODE + "\n[pool]\nbuffers = 1000000\nhugepages = \"require\"\n");
    assertThat(run.code()).as(run.err()).isEqualTo(Main.USAGE);
    assertThat(run.err())
        .contains(
            folder
                + "/node.toml: pool.hugepages = require: of the pool of 9888 MB, it needs 4944 pages"
                + " of 2 MB, ",
            " are free: as root, sysctl -w vm.nr_hugepages=",
            "; or take \"auto\"")
        .doesNotContain("\tat ", "HXB_TRACE");
    assertNothingStarted();
  }

  /** A conversation of a closed server ends soon, by itself; what was started would stay. */
  private void assertNothingStarted() {
    assertThat(folder.resolve("s")).doesNotExist();
    long untilNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    List<String> started = startedThreads();
    while (!started.isEmpty() && System.nanoTime() - untilNs < 0) {
      LockSupport.parkNanos(1_000_000);
      started = startedThreads();
    }
    // Not looked at once more: a conversation that was waiting may begin, and end, even now.
    assertThat(started).isEmpty();
  }

  private static List<String> startedThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("hxb-poll") || name.startsWith("control"))
        .toList();
  }

  /** With libpmix and without it, what is to be done is said; a trace would tell nothing. */
  @Test
  void aRankWithoutALauncherSaysWhatIsToBeDone() throws IOException {
    Path config = Files.writeString(folder.resolve("node.toml"), NODE.replace("SOCKET", "s"));
    CommandRun run =
        CommandRun.of("mpirank", "--config", config.toString(), "--", Main.class.getName());
    assertThat(run.code()).isEqualTo(Main.FAILED);
    assertThat(run.err())
        .containsAnyOf("mpirun -n 8 hxb mpirank", "apt-get install libpmix2")
        .doesNotContain("HXB_TRACE");
  }

  /** The value, what it may be, and in the words that are typed. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          demo --rails ten        | --rails is "ten"; must be a whole number of less than 2^31. --rails: Rails per dimension, 1 to 9.
          demo --seconds fast     | --seconds is "fast"; must be a number. --seconds: How long to send, 0.1 to 3600.
          demo --seed 9999999999999999999 | --seed is "9999999999999999999"; must be a whole number of less than 2^63.
          demo --faults loss      | --faults: "loss" has no number; write it as in loss=0.01
          demo --shape 0x0        | --shape: shape "0x0": extent 0 is not in 1..65535
          demo --shape 99x99      | the ring fabric carries at most 512: take a smaller shape or fewer rails
          up --shape 0x0          | --shape: shape "0x0": extent 0 is not in 1..65535
          up --shape 20x20x6      | --shape is 20x20x6, which has 2400 nodes; a veth fabric has at most 64, each is a process
          up --rate 200           | --rate: "200": expected a whole number and bit, kbit, mbit or gbit, as in 200mbit
          up --idle sleepy        | --idle is "sleepy"; must be one of spin, yield, backoff, park
          up --tag maybe          | --tag is "maybe"; must be one of off, tag, replay
          soak --fabric tin       | --fabric is "tin"; must be one of ring, veth, both
          mpirun --map x -- A     | --map is "x"; must be one of lines, snake
          mpirun -n 2 -cp /nonexistent -- a.A | there is no class a.A in -cp /nonexistent; there is no /nonexistent; give the folder or the jar where a/A.class is
          mpirun -n 2 -cp /nonexistent/* -- A | there is no class A in -cp /nonexistent/*; there is no /nonexistent
          mpirun -n 2 -- src/Hello.java | "src/Hello.java" is a file; give the class's name, Hello, when javac has compiled it
          mpirun -n 2 -- org.pmhxb.cli.Options | class org.pmhxb.cli.Options in -cp . cannot be started: it has to be public, and to have a method public static void main(String[])
          mpirank --config /nonexistent -- Hello.class | "Hello.class" is a file; give the class's name, Hello
          mpirank --config /nonexistent -- org.pmhxb.cli.Options | cannot be started
          mpirank --config /nonexistent -- org.pmhxb.cli.Main | /nonexistent: no such file
          mpirank --local --cluster none7 -- org.pmhxb.cli.Main | /run/hxb/none7/node-0.toml: no such file
          rehearse --archive /nonexistent/x | --archive is /nonexistent/x, and there is no folder /nonexistent; make it or choose one
          rehearse --archive /tmp | --archive is /tmp, which is a folder; name a file in it
          doctor --root /nonexistent | --root is /nonexistent, and there is no such folder
          doctor --config /nonexistent | /nonexistent: no such file
          up --driver x           | --driver: "x": must be packet or af_packet for veth interfaces
          mpirun --driver memif -- A | --driver: "memif": must be packet or af_packet for veth interfaces
          demo --size 3           | --size is 3; must be in 4..8950
          demo --size 8951        | --size is 8951; must be in 4..8950
          logp --fabric memif     | --fabric is "memif"; must be one of ring, veth
          sim --workload none     | --workload: "none" is none of [exchange, all-to-all,
          sim --fault cut@0.x9:1ms+2ms | there is no 0.x9; the machine has nodes 0..7, dimensions xyz, rails 0..1 each
          sim --shape 4 --fault crash@4:1ms+2ms | there is no 4; the machine has nodes 0..3, dimensions x,
          sim --shape 4 --fault cut@*.y0:1ms+2ms | there is no *.y0; the machine has nodes 0..3, dimensions x,
          bench exchange --shape 1 | --shape is 1; an exchange needs 2 nodes or more
          logp --nodes 60 --rails 9 | --nodes: shape 60 with 9 rails per dimension has 540 rails; the ring fabric carries at most 512
          bench mpi --kernels S --links 2 | --links is not for --kernels
          bench mpi --links 2 --repeat 3 | --repeat is for --kernels alone
          bench packet-cost --peers 0 | --peers is 0; must be in 1..2560
          bench bandwidth --shape 1 | --relays 0 needs a pair of nodes that differ in 1 coordinate; the shape 1 has none
          mpirun -n 2             | PROGRAM is missing
          node                    | --config FILE is missing
          status --config a --socket b | give one of --config FILE and --socket PATH
          status --socket b --cluster a | --cluster and --run-dir name a cluster of hxb up, not a node
          status --config /nonexistent | /nonexistent: no such file
          bench compare           | --base FILE, --with FILE are missing
          demo --rails 1 --rails 2 | option --rails (R) should be specified only once
          demo --rails            | Missing required parameter for option --rails
          fuzz --frames many      | "many" is not a number as in 5000, 20k or 10m
          bench packet-cost --path none | --path is "none"; must be one of receive, send, relay, ack
          """)
  void aWrongValueIsNamedWithWhatItMayBe(String line, String message) {
    CommandRun run = CommandRun.of(line.strip().split(" "));
    assertThat(run.code()).as(line + "\n" + run.out() + run.err()).isEqualTo(Main.USAGE);
    assertThat(run.err()).contains(message).doesNotContain("\tat ", "HXB_TRACE");
    assertNothingStarted();
  }

  /** What is refused is not begun, not even in words. */
  @ParameterizedTest
  @ValueSource(
      strings = {"demo --size 3", "demo --size 8951", "demo --shape 64x64", "demo --rails 11"})
  void aDemoIsRefusedBeforeItSaysThatItBuilds(String line) {
    CommandRun run = CommandRun.of(line.split(" "));
    assertThat(run.code()).isEqualTo(Main.USAGE);
    assertThat(run.err()).doesNotContain("building");
  }

  /** Right words for what is not there: exit code 1, and no word of stack traces. */
  @Test
  void whatIsNotThereIsTheUsersToMend() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "{}");
    Path none = folder.resolve("none");
    for (List<String> line :
        List.of(
            List.of("status", "--run-dir", none.toString(), "no cluster \"main\" is up; start one"),
            List.of("up", "--run-dir", file.toString(), file + " is no directory"))) {
      List<String> words = line.subList(0, line.size() - 1);
      CommandRun run = CommandRun.of((String.join(" ", words) + " --json").split(" "));
      assertThat(run.code()).as(run.err()).isEqualTo(Main.FAILED);
      assertThat(run.err()).contains(line.getLast()).doesNotContain("HXB_TRACE", "\tat ");
      assertThat(run.json().path("error").asText()).contains(line.getLast());
    }
    assertThat(file).hasContent("{}");
  }

  /** It would be the current folder, which the end of the last cluster in it removes. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "up --run-dir",
        "down --run-dir",
        "status --socket",
        "node --config",
        "doctor --root"
      })
  void anEmptyPathIsRefused(String line) {
    CommandRun run = CommandRun.of((line + "= --json").split(" "));
    assertThat(run.code()).as(run.err()).isEqualTo(Main.USAGE);
    assertThat(run.json().path("error").asText())
        .startsWith(line.split(" ")[1] + " is \"\"; must be a path. ");
  }

  /** Exit code 1 would say that something got slower. */
  @Test
  void reportsThatCannotBeComparedAreWrongUsage() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "{}");
    Path none = folder.resolve("none");
    for (List<Object> wrong :
        List.<List<Object>>of(
            List.of(none, file, "--base: " + none + ": there is no such file"),
            List.of(folder, file, "--base: " + folder + ": "),
            List.of(file, none, "--base: " + file + " holds no report of hxb bench packet-cost"))) {
      CommandRun run =
          CommandRun.of(
              ("bench compare --json --base " + wrong.get(0) + " --with " + wrong.get(1))
                  .split(" "));
      assertThat(run.code()).as(run.err()).isEqualTo(Main.USAGE);
      assertThat(run.json().path("error").asText()).startsWith(wrong.get(2).toString());
    }
    assertThat(file).hasContent("{}");
  }

  /** Minutes of measuring are not thrown away for it. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "logp --plot FILE",
        "bench grid --output FILE",
        "bench paper --output FILE",
        "bench contention --output FILE",
        "bench peers --output FILE"
      })
  void whereNoResultsCanGoIsRefusedBeforeTheyAreMeasured(String line) throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "kept");
    CommandRun run = CommandRun.of(line.replace("FILE", file.toString()).split(" "));
    assertThat(run.code()).as(run.err()).isEqualTo(Main.USAGE);
    assertThat(run.err()).contains(file.toString(), "directory").doesNotContain("HXB_TRACE");
    assertThat(file).hasContent("kept");
  }

  @ParameterizedTest
  @ValueSource(strings = {"logp --plot FOLDER", "bench grid --quick --output FOLDER"})
  void aFolderThatCannotBeMadeIsRefusedBeforeResultsAreMeasured(String line) throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "kept");
    Path below = file.resolve("a/b");
    CommandRun run = CommandRun.of(line.replace("FOLDER", below.toString()).split(" "));
    assertThat(run.code()).as(run.err()).isEqualTo(Main.USAGE);
    assertThat(run.err())
        .contains(" is " + below + ", and " + file + " is no directory; choose another")
        .doesNotContain("HXB_TRACE");
    assertThat(file).hasContent("kept");
  }

  @Test
  void aFileForResultsIsWritableOrCanBeMadeInAFolderThatIs() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "kept");
    Path fresh = folder.resolve("fresh");
    assertThat(HxbCommand.fileObjection(file, file::equals)).isNull();
    assertThat(HxbCommand.fileObjection(fresh, folder::equals)).isNull();
    assertThat(HxbCommand.fileObjection(file, folder::equals))
        .isEqualTo("which is not writable; choose another");
    assertThat(HxbCommand.fileObjection(fresh, at -> false))
        .isEqualTo("and the folder " + folder + " is not writable; choose another");
    assertThat(HxbCommand.fileObjection(folder, at -> true))
        .isEqualTo("which is a folder; name a file in it");
    assertThat(HxbCommand.fileObjection(fresh.resolve("a"), at -> true))
        .isEqualTo("and there is no folder " + fresh + "; make it or choose one");
  }

  /** Two minutes of measuring are not thrown away for it, nor another page written first. */
  @Test
  void aPageThatCannotTakeTheTableIsRefusedBeforeItIsMeasured() throws IOException {
    String marked = "<!-- packet-cost -->\nkept\n<!-- /packet-cost -->\n";
    Path good = Files.writeString(folder.resolve("good.md"), marked);
    Path plain = Files.writeString(folder.resolve("plain.md"), "# Title\n");
    for (List<Object> wrong :
        List.<List<Object>>of(
            List.of(plain, plain + " has no lines <!-- packet-cost -->"),
            List.of(folder.resolve("none.md"), "/none.md: there is no such file"))) {
      CommandRun run =
          CommandRun.of(
              "bench", "packet-cost", "--json", "--into", good + "," + wrong.getFirst().toString());
      assertThat(run.code()).as(run.err()).isEqualTo(Main.USAGE);
      assertThat(run.json().path("error").asText()).contains(wrong.get(1).toString());
    }
    assertThat(good).hasContent(marked);
  }

  /** For root, who runs these tests, everything is writable. */
  @Test
  void aFolderForResultsIsWritableOrCanBeMadeInOneThatIs() throws IOException {
    Path below = folder.resolve("a/b");
    assertThat(HxbCommand.objection(folder, folder::equals)).isNull();
    assertThat(HxbCommand.objection(below, folder::equals)).isNull();
    assertThat(HxbCommand.objection(folder, at -> false))
        .isEqualTo("which is not writable; choose another");
    assertThat(HxbCommand.objection(below, at -> false))
        .isEqualTo("and the folder " + folder + " is not writable; choose another");
    Path link = Files.createSymbolicLink(folder.resolve("link"), folder.resolve("none"));
    assertThat(HxbCommand.objection(link, at -> true))
        .isEqualTo("which is no directory; choose another");
    assertThat(HxbCommand.objection(link.resolve("a"), at -> true))
        .isEqualTo("and " + link + " is no directory; choose another");
    Files.createDirectory(folder.resolve("none"));
    assertThat(HxbCommand.objection(link.resolve("a"), link::equals)).isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "FOLDER, which is a folder",
    "/, which is a folder",
    "FOLDER/none/x, and there is no folder",
    "FOLDER/file/x, and there is no folder"
  })
  void whereNoExamplesCanGoIsRefusedBeforeTheyAreMade(String given, String objection)
      throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "kept");
    String path = given.replace("FOLDER", folder.toString());
    CommandRun run = CommandRun.of("fuzz", "--frames", "1k", "--examples", path);
    assertThat(run.code()).as(run.err()).isEqualTo(Main.USAGE);
    assertThat(run.err())
        .contains("--examples is " + path + ", " + objection)
        .doesNotContain("HXB_TRACE");
    assertThat(file).hasContent("kept");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "demo --shape 2x2x2x2",
        "demo --shape 1",
        "demo --shape 2x0",
        "demo --rails 0",
        "demo --rails 10",
        "demo --seconds 0",
        "demo --seconds NaN",
        "demo --loss -0.1",
        "demo --loss 2",
        "demo --loss 0.1 --faults reorder=0.1",
        "demo --size 3",
        "demo --size 100000",
        "demo --size ten",
        "demo --seed 99999999999999999999",
        "demo --faults lose=0.1",
        "demo --faults loss=0.9",
        "up --tag replay",
        "fuzz --frames 0",
        "fuzz --frames many",
        "fuzz --tag maybe",
        "soak --minutes 0",
        "soak --fabric tin",
        "up --shape 1",
        "up --rails 10",
        "up --rate fast",
        "up --rate 0mbit",
        "up --timeout 0",
        "up --cluster not-a-name",
        "status --cluster 1",
        "down --cluster averyverylongname",
        "bench",
        "bench nothing",
        "bench latency --fabric carrier-pigeon",
        "bench bandwidth --seconds 0",
        "bench bandwidth --warm-up -1",
        "bench bandwidth --size 3",
        "bench bandwidth --relays 3",
        "bench bandwidth --links 0",
        "bench bandwidth --rate 1gbit",
        "node",
        "rehearse --archive a --left-network net:[1]",
        "doctor --nonsense",
        "foo --help",
        "bench foo --help",
        "--foo --help"
      })
  void anOptionOutOfRangeIsWrongUsageAndOneJsonObject(String line) {
    CommandRun run =
        CommandRun.of(
            Stream.concat(Stream.of(line.split(" ")), Stream.of("--json")).toArray(String[]::new));
    assertThat(run.code()).as(line + "\n" + run.out() + run.err()).isEqualTo(Main.USAGE);
    assertThat(run.json().path("ok").asBoolean(true)).isFalse();
    assertThat(run.json().path("error").asText()).isNotBlank();
    assertThat(run.err()).contains("See: hxb").doesNotContain("\tat ");
    assertNothingStarted();
  }
}
