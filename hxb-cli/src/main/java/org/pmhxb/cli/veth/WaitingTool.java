package org.pmhxb.cli.veth;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.pmhxb.cli.process.ProcessTree;

/**
 * A program that was started and waits for its input: what it is told happens at once, where {@link
 * Tool} would first take a processor for some 10 ms from whatever is being measured. Owner: one
 * thread at a time.
 */
public final class WaitingTool implements AutoCloseable {
  private final List<String> command;
  private final String input;
  private final Duration limit;
  private final Process process;

  /**
   * @param input what {@link #tell} gives it
   * @throws ToolException the program is missing
   */
  WaitingTool(List<String> command, String input) {
    this(command, input, Tool.LIMIT);
  }

  WaitingTool(List<String> command, String input, Duration limit) {
    this.command = command;
    this.input = input;
    this.limit = limit;
    try {
      this.process =
          new ProcessBuilder(command).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    } catch (IOException e) {
      throw new ToolException(command, -1, e.getMessage());
    }
  }

  /**
   * Gives it all its input and waits for its end, which an interrupt makes. Once.
   *
   * @throws ToolException when it ends with another code than 0 or takes above a minute
   */
  public void tell() {
    try {
      try (OutputStream in = process.getOutputStream()) {
        in.write(input.getBytes(StandardCharsets.UTF_8));
      }
      boolean ended = ProcessTree.awaitOrEnd(process, limit);
      Tool.requireSuccess(command, limit, ended, process, process.getErrorStream());
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
