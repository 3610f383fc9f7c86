package org.pmhxb.cli.veth;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.pmhxb.cli.process.ProcessTree;

/**
 * A program that was started and waits for its input: what it is told happens at once, where {@link
 * Tool} would first take a processor for some 10 ms from whatever is being measured. Owner: one
 * thread at a time.
 */
public final class WaitingTool implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofMinutes(1);

  private final List<String> command;
  private final Process process;

  /**
   * @throws ToolException the program is missing
   */
  WaitingTool(List<String> command) {
    this.command = command;
    try {
      this.process =
          new ProcessBuilder(command).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    } catch (IOException e) {
      throw new ToolException(command, -1, e.getMessage());
    }
  }

  /**
   * Gives it all its input and waits for its end. Once.
   *
   * @throws ToolException when it ends with another code than 0 or takes above a minute
   */
  void tell(String input) {
    try {
      try (OutputStream in = process.getOutputStream()) {
        in.write(input.getBytes(StandardCharsets.UTF_8));
      }
      if (!process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
        throw new ToolException(command, -1, "no end after " + LIMIT.toSeconds() + " s");
      }
      if (process.exitValue() != 0) {
        String errors = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        throw new ToolException(command, process.exitValue(), errors.strip());
      }
    } catch (IOException e) {
      throw new ToolException(command, -1, e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while " + command + " ran", e);
    }
  }

  /** Ends it, whether it was told anything or not. */
  @Override
  public void close() {
    ProcessTree.end(process);
  }
}
