package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.pmhxb.cli.process.ProcessTree;

/**
 * A command of this machine that has ended.
 *
 * @param code exit code
 * @param out standard output
 * @param err standard error
 */
record ScriptRun(int code, String out, String err) {
  /** Runs it in a folder, where its output is kept; it has a minute. */
  static ScriptRun in(Path folder, String... words) throws IOException, InterruptedException {
    return in(folder, Map.of(), List.of(words));
  }

  /**
   * @param environment variables beside those of this process, or in place of them
   */
  static ScriptRun in(Path folder, Map<String, String> environment, List<String> words)
      throws IOException, InterruptedException {
    Path out = Files.createTempFile(folder, "out", "");
    Path err = Files.createTempFile(folder, "err", "");
    ProcessBuilder builder =
        new ProcessBuilder(words)
            .directory(folder.toFile())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile());
    builder.environment().putAll(environment);
    Process process = builder.start();
    assertThat(ProcessTree.awaitOrEnd(process, Duration.ofMinutes(1)))
        .as(String.join(" ", words))
        .isTrue();
    return new ScriptRun(process.exitValue(), Files.readString(out), Files.readString(err));
  }

  /** Standard output as the one JSON object that it must be. */
  JsonNode json() {
    try {
      return new ObjectMapper().readTree(out);
    } catch (JsonProcessingException e) {
      throw new AssertionError("not JSON: " + out + "\n" + err, e);
    }
  }
}
