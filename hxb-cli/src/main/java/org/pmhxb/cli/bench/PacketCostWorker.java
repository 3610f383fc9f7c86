package org.pmhxb.cli.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.pmhxb.cli.cluster.NodeJvm;

/** Runs the measurement of one path in a JVM of its own, which has a node's flags. */
public final class PacketCostWorker {
  private PacketCostWorker() {}

  /**
   * Runs the command line in a new JVM and reads the report that it prints; its standard error is
   * ours.
   *
   * @throws IllegalStateException it printed no report
   */
  public static List<PacketCostReport.Line> run(String mainClass, List<String> words)
      throws IOException, InterruptedException {
    List<String> command = NodeJvm.command(mainClass);
    command.addAll(words);
    Process process = new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
    try {
      String text =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      int code = process.waitFor();
      if (!text.contains("\"results\"")) {
        throw new IllegalStateException(
            "the JVM that measures ended with %d and said: %s".formatted(code, text));
      }
      return new ObjectMapper().readValue(text, PacketCostReport.class).results();
    } finally {
      process.destroy();
    }
  }
}
