package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.pmhxb.cli.cluster.NodeJvm;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.cli.veth.OwnLinks;

/** The archive that this build made, and the rehearsal that it was recorded of. */
@Tag("beside-others")
class ArchiveIT {
  private static final Path ARCHIVE =
      Path.of(System.getProperty("hxb.home"), "hxb-cli", "target", "hxb.aot");

  /** What the build's step said, which made the archive. */
  private static final Path BUILD_LOG = ARCHIVE.resolveSibling("archive-classes.log");

  private static JsonNode result(Path log) throws Exception {
    for (String line : Files.readAllLines(log)) {
      if (line.startsWith("{")) {
        return new ObjectMapper().readTree(line);
      }
    }
    throw new AssertionError("no result in " + log);
  }

  private static JsonNode recorded() throws Exception {
    return result(Path.of(ARCHIVE + ".log"));
  }

  private static JsonNode act(String name) throws Exception {
    return StreamSupport.stream(recorded().path("acts").spliterator(), false)
        .filter(act -> act.path("name").asText().equals(name))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no act " + name));
  }

  @Test
  void theRehearsalOfTheBuildWentWell() throws Exception {
    assertThat(recorded().path("ok").asBoolean()).as(recorded().toString()).isTrue();
    assertThat(act("faults").path("counters").path("resent").asLong()).isPositive();
  }

  @Test
  void railsOfTheKernelWereCutInIt() throws Exception {
    JsonNode rails = result(BUILD_LOG).path("rails");
    assertThat(rails.isBoolean()).as(BUILD_LOG + " says whether rails took part").isTrue();
    assumeTrue(rails.booleanValue(), "who built could make no network namespace");
    JsonNode counters = act("cuts").path("counters");
    for (String met : List.of("resent", "out-of-order", "paths-evicted", "paths-restored")) {
      assertThat(counters.path(met).asLong()).as(met).isPositive();
    }
  }

  /** The JVM takes it or ends; with the collector of a node, which is not the recording's. */
  @Test
  void aNodesJvmTakesIt() throws Exception {
    assumeTrue(
        System.getProperty("hxb.test.jar") != null, "nodes start from the tests' class path here");
    List<String> command = new ArrayList<>(NodeJvm.command(Main.class.getName()));
    command.removeIf(flag -> flag.startsWith("-XX:AOTCache="));
    command.addAll(1, List.of("-XX:AOTCache=" + ARCHIVE, "-XX:AOTMode=on"));
    command.add("--version");
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    assertThat(process.waitFor()).as(said).isZero();
    assertThat(said).startsWith("hxb ");
  }

  /** Rails that were made in the host's namespace would stay there. */
  @Test
  void whoHasLeftNoNamespaceMakesNoRails() throws Exception {
    CommandRun run = CommandRun.of("rehearse", "--left-network", OwnLinks.namespace(), "--json");
    assertThat(run.code()).isEqualTo(Main.USAGE);
    assertThat(run.json().path("error").asText()).contains("still in the network namespace");
  }

  /** Nor in one that somebody uses, whatever the command was told. */
  @Test
  void noRailsAreMadeInANamespaceThatIsInUse() {
    List<OwnLinks.Pair> pairs = List.of(new OwnLinks.Pair("hxbtest0", "hxbtest1"));
    assertThatThrownBy(() -> new OwnLinks(pairs, LinkRate.parse("1gbit")))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("in use");
  }
}
