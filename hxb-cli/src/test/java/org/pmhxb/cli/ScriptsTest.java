package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.pmhxb.cli.cluster.NodeJvm;

/** What can be said of the scripts without the hour that some of them take. */
class ScriptsTest {
  private record Said(int exitCode, String text) {}

  private static Path scripts() {
    Path at = Path.of("").toAbsolutePath();
    while (!Files.exists(at.resolve("scripts/mutation-sweep"))) {
      at = at.getParent();
    }
    return at.resolve("scripts");
  }

  static List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(scripts())) {
      return files
          .filter(f -> Files.isRegularFile(f) && Files.isExecutable(f))
          .map(f -> f.getFileName().toString())
          .sorted()
          .toList();
    }
  }

  private static Said run(String name, String... arguments) throws Exception {
    return run(Map.of(), name, arguments);
  }

  private static Said run(Map<String, String> environment, String name, String... arguments)
      throws Exception {
    List<String> command = new ArrayList<>(List.of(scripts().resolve(name).toString()));
    command.addAll(List.of(arguments));
    ProcessBuilder script = new ProcessBuilder(command).redirectErrorStream(true);
    script.environment().put("JAVA_HOME", System.getProperty("java.home"));
    script.environment().putAll(environment);
    Process process = script.start();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Said(process.waitFor(), text);
  }

  @ParameterizedTest
  @MethodSource("names")
  void saysHowItIsUsed(String name) throws Exception {
    Said said = run(name, "--help");

    assertThat(said.exitCode()).as(said.text()).isZero();
    assertThat(said.text()).startsWith("Usage: scripts/" + name).contains("\nExample: ");
  }

  @Test
  void whatIsNotUnderstoodIsRefusedBeforeAnythingIsDone() throws Exception {
    Said install = run("install-peers.sh", "--hlep");
    assertThat(install.exitCode()).as(install.text()).isEqualTo(2);
    assertThat(install.text()).startsWith("Usage: ");
    for (String threshold : List.of("5%", "-1", "11", "")) {
      Said compare = run(Map.of("THRESHOLD", threshold), "bench-compare", "none", "none");
      boolean standard = threshold.isEmpty(); // then it is the revisions that are refused
      assertThat(compare.exitCode()).as(compare.text()).isEqualTo(2);
      assertThat(compare.text().contains("THRESHOLD is " + threshold)).isNotEqualTo(standard);
    }
  }

  /** Whose forks inherit them: else the barriers of another collector would be measured. */
  @Test
  void theBenchmarksRunWithANodesFlags() throws Exception {
    String hxb = Files.readString(scripts().resolveSibling("hxb"));

    assertThat(hxb)
        .contains("exec \"${JAVA[@]}\" " + String.join(" ", NodeJvm.OWN_FLAGS) + " \\\n");
  }

  /** The mutations have to follow the code that they break. */
  @Test
  void everyMutationAppliesToTheSources() throws Exception {
    Said said = run("mutation-sweep", "--check");

    assertThat(said.exitCode()).as(said.text()).isZero();
    assertThat(said.text().lines())
        .hasSizeGreaterThanOrEqualTo(8)
        .allMatch(l -> l.endsWith(": applies"));
  }
}
