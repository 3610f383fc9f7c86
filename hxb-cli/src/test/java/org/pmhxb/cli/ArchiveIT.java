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

  private static boolean withRails() throws Exception {
    JsonNode rails = result(BUILD_LOG).path("rails");
    assertThat(rails.isBoolean()).as(BUILD_LOG + " says whether rails took part").isTrue();
    return rails.booleanValue();
  }

  private static void assertMet(String act, String... counters) throws Exception {
    JsonNode counts = act(act).path("counters");
    for (String counter : counters) {
      assertThat(counts.path(counter).asLong()).as(act + ": " + counter).isPositive();
    }
  }

  @Test
  void nothingWasLostInTheRehearsalOfTheBuild() throws Exception {
    assertThat(recorded().path("ok").asBoolean()).as(recorded().toString()).isTrue();
    List<String> acts = new ArrayList<>(List.of("bursts", "lines", "relays", "cuts", "faults"));
    if (!withRails()) {
      acts.remove("cuts");
    }
    assertThat(recorded().path("acts"))
        .extracting(act -> act.path("name").asText())
        .containsExactlyElementsOf(acts);
    for (JsonNode act : recorded().path("acts")) {
      String name = act.path("name").asText();
      assertThat(act.path("failures").isArray()).as(name).isTrue();
      assertThat(act.path("failures")).as(name).isEmpty();
      assertThat(act.path("faulty").asLong(-1)).as(name).isZero();
      assertThat(act.path("messages").asLong()).as(name).isGreaterThan(1_000);
    }
  }

  /**
   * What a JVM has met, those that start from its archive compile. Paths are given up and taken
   * back in "cuts" for certain, here by chance.
   */
  @Test
  void everyFaultWasMetInIt() throws Exception {
    assertMet("lines", "messages-coalesced", "acks-received", "probe-replies");
    assertMet("relays", "relayed", "out-of-order");
    assertMet(
        "faults",
        "resent",
        "duplicates-reported",
        "out-of-order",
        "drop.crc",
        "drop.duplicate",
        "drop.hop-check");
  }

  @Test
  void railsOfTheKernelWereCutInIt() throws Exception {
    assumeTrue(withRails(), "who built could make no network namespace");
    assertMet("cuts", "resent", "out-of-order", "paths-evicted", "paths-restored");
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
