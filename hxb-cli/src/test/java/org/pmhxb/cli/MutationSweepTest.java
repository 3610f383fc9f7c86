package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The mutations have to follow the code that they break. */
class MutationSweepTest {
  private static Path home() {
    Path at = Path.of("").toAbsolutePath();
    while (!Files.exists(at.resolve("scripts/mutation-sweep"))) {
      at = at.getParent();
    }
    return at;
  }

  @Test
  void everyMutationAppliesToTheSources() throws Exception {
    ProcessBuilder script =
        new ProcessBuilder("bash", home().resolve("scripts/mutation-sweep").toString(), "--check")
            .redirectErrorStream(true);
    script.environment().put("JAVA_HOME", System.getProperty("java.home"));
    Process process = script.start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(process.waitFor()).as(said).isZero();
    assertThat(said.lines()).hasSizeGreaterThanOrEqualTo(8).allMatch(l -> l.endsWith(": applies"));
  }
}
