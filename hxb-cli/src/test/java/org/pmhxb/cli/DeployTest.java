package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.router.Dimension;
import org.pmhxb.router.HxbConfig;
import picocli.CommandLine.ParseResult;

/** What docs/DEPLOY.md, docs/MPI.md and the systemd unit tell is what the commands take. */
class DeployTest {
  private static final Path HOME = Path.of(System.getProperty("hxb.home"));

  /** Of the script {@code hxb}, which has help of its own. */
  private static final Set<String> SCRIPTS =
      Set.of("build", "test", "jmh", "stress", "clean", "dist");

  private static final Pattern COMMAND = Pattern.compile("(?:^|[ /])hxb ([a-z-].*)");

  private static ParseResult parsed(List<String> words) {
    return Main.commands()
        .setCaseInsensitiveEnumValuesAllowed(true)
        .parseArgs(words.toArray(String[]::new));
  }

  private static String text(String file) throws IOException {
    return Files.readString(HOME.resolve(file));
  }

  private static List<HxbConfig> configurations() throws IOException {
    List<HxbConfig> read = new ArrayList<>();
    Matcher m = Pattern.compile("(?s)```toml\n(.*?)```").matcher(text("docs/DEPLOY.md"));
    while (m.find()) {
      read.add(HxbConfig.parse("DEPLOY.md", m.group(1)));
    }
    return read;
  }

  /** The value of a setting, or null; lines that are none are refused. */
  private static String setting(String key) throws IOException {
    String value = null;
    for (String line : text("scripts/hxb-node.service").lines().toList()) {
      assertThat(line).matches("|#.*|\\[(Unit|Service|Install)]|[A-Z]\\w+=\\S.*");
      if (line.startsWith(key + "=")) {
        value = line.substring(key.length() + 1);
      }
    }
    return value;
  }

  @Test
  void theUnitStartsANodeWithOptionsThatItHas() throws IOException {
    String[] words = setting("ExecStart").split(" ");
    assertThat(words[0]).isEqualTo("/opt/hxb/bin/hxb");
    ParseResult parsed = parsed(List.of(words).subList(1, words.length));
    assertThat(parsed.subcommand().commandSpec().name()).isEqualTo("node");
    assertThat(parsed.subcommand().matchedOption("--config").stringValues())
        .containsExactly("/etc/hxb/node.toml");
    assertThat(parsed.subcommand().unmatched()).isEmpty();
  }

  @Test
  void theUnitGivesWhatTheNodesFileNeeds() throws IOException {
    assertThat(setting("AmbientCapabilities")).isEqualTo("CAP_NET_RAW");
    assertThat(setting("CapabilityBoundingSet")).isEqualTo(setting("AmbientCapabilities"));
    assertThat(setting("LimitMEMLOCK")).isEqualTo("infinity");
    Path socket = Path.of(configurations().getFirst().controlSocket());
    assertThat(socket.getParent()).hasToString("/run/" + setting("RuntimeDirectory"));
  }

  @Test
  void theConfigurationsAreRead() throws IOException {
    assertThat(configurations())
        .extracting(c -> c.rails().getFirst().driver())
        .containsExactly(HxbConfig.Driver.PACKET, HxbConfig.Driver.PCI);
  }

  /** On this machine, whatever it has: the lines of a node, and none of the veth fabric. */
  @Test
  void theDoctorLooksAtTheFirstOfThem(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("node.toml");
    Files.writeString(file, configurations().getFirst().toToml());
    CommandRun run = CommandRun.of("doctor", "--json", "--config", file.toString());
    assertThat(run.json().path("checks").findValuesAsText("name"))
        .contains("rail x0", "rail x1", "capabilities", "numa", "key file", "control socket")
        .doesNotContain("permissions", "tc tbf");
    assertThat(run.code()).isEqualTo(run.json().path("ok").asBoolean() ? Main.OK : Main.FAILED);
  }

  /** Of a node with all four NICs. */
  @Test
  void theDoctorWantsTheHugepagesThatThePageNames(@TempDir Path folder) throws IOException {
    HxbConfig.Builder node = configurations().getFirst().toBuilder();
    for (int index = 2; index < 4; index++) {
      node.rail(new HxbConfig.Rail(Dimension.X, index, HxbConfig.Driver.PACKET, "more" + index));
    }
    Path file = Files.writeString(folder.resolve("node.toml"), node.build().toToml());
    CommandRun run = CommandRun.of("doctor", "--config", file.toString());
    Matcher wanted = Pattern.compile("the node's pool (\\d+), DPDK (\\d+)").matcher(run.out());
    assumeThat(wanted.find()).as("this kernel has pages of 2 MB").isTrue();
    assertThat(text("docs/DEPLOY.md"))
        .contains(
            "here %s for its pool, and %s have to be free for DPDK"
                .formatted(wanted.group(1), wanted.group(2)));
  }

  /** Messages that the pages explain, as those who throw them have them. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          docs/DEPLOY.md | hxb-router/src/main/java/org/pmhxb/router/node/HxbNode.java | is not in this network namespace
          docs/DEPLOY.md | hxb-router/src/main/java/org/pmhxb/router/MissingNeighbour.java | not heard
          docs/DEPLOY.md | hxb-router/src/main/java/org/pmhxb/router/PairingFault.java | cable on the wrong rail index
          docs/DEPLOY.md | hxb-router/src/main/java/org/pmhxb/router/PairingFault.java | two nodes with the same coordinates
          docs/DEPLOY.md | hxb-router/src/main/java/org/pmhxb/router/PairingFault.java | frames of full length do not arrive
          docs/MPI.md | pm-mpj/src/main/java/org/pmhxb/mpi/launch/RankNode.java | no way to the job's nodes
          """)
  void theMessagesThatAreExplainedAreSaid(String page, String source, String message)
      throws IOException {
    assertThat(text(page)).contains(message);
    assertThat(text(source)).contains(message);
  }

  static List<String> commands() throws IOException {
    List<String> commands = new ArrayList<>();
    for (String file : List.of("docs/DEPLOY.md", "docs/MPI.md")) {
      for (String line : text(file).lines().filter(l -> l.startsWith("    ")).toList()) {
        Matcher m = COMMAND.matcher(line.replaceFirst("\\s+# .*", "").strip());
        if (m.find() && !SCRIPTS.contains(m.group(1).split(" ")[0])) {
          commands.add(m.group(1));
        }
      }
    }
    return commands;
  }

  @Test
  void thereAreCommandsToTry() throws IOException {
    assertThat(commands())
        .hasSizeGreaterThan(8)
        .anyMatch(c -> c.startsWith("doctor --config "))
        .anyMatch(c -> c.startsWith("mpirank "));
  }

  @ParameterizedTest
  @MethodSource("commands")
  void theCommandsAreTaken(String line) {
    ParseResult parsed = parsed(List.of(line.split(" ")));
    assertThat(parsed.hasSubcommand()).isTrue();
    assertThat(parsed.subcommand().unmatched()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"docs/DEPLOY.md", "docs/MPI.md", "README.md"})
  void theLinksLeadSomewhere(String file) throws IOException {
    Path from = HOME.resolve(file);
    Matcher m = Pattern.compile("\\]\\(([^)#]*)(?:#([^)]*))?\\)").matcher(Files.readString(from));
    List<String> wrong = new ArrayList<>();
    while (m.find()) {
      Path to = m.group(1).isEmpty() ? from : from.resolveSibling(m.group(1));
      if (!Files.exists(to) || m.group(2) != null && !anchors(to).contains(m.group(2))) {
        wrong.add(m.group());
      }
    }
    assertThat(wrong).isEmpty();
  }

  /** Of a page's headings, as the usual readers of Markdown make them. */
  private static List<String> anchors(Path page) throws IOException {
    try (Stream<String> lines = Files.lines(page)) {
      return lines
          .filter(line -> line.startsWith("#"))
          .map(line -> line.replaceFirst("^#+ ", "").toLowerCase(Locale.ROOT))
          .map(heading -> heading.replaceAll("[^a-z0-9 -]", "").replace(' ', '-'))
          .toList();
    }
  }

  @Test
  void theReadmeLeadsThere() throws IOException {
    assertThat(text("README.md")).contains("](docs/DEPLOY.md)");
  }
}
