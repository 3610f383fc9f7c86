package org.pmhxb.cli.veth;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs the programs that set up networking: {@code ip} and {@code tc}. */
final class Tool {
  private static final long LIMIT_SECONDS = 60;

  private Tool() {}

  /**
   * Runs a program to its end and returns its standard output.
   *
   * @param input what the program reads from standard input, "" for nothing
   * @throws ToolException when it is missing, ends with another code than 0 or takes above a minute
   */
  static String run(String input, List<String> command) {
    Path errors = null;
    try {
      // A file, not a pipe: a program that complains at length must not block on us.
      errors = Files.createTempFile("hxb-tool", ".err");
      Process process =
          new ProcessBuilder(command)
              .redirectError(ProcessBuilder.Redirect.to(errors.toFile()))
              .start();
      feed(process, input);
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new ToolException(command, -1, "no end after " + LIMIT_SECONDS + " s");
      }
      if (process.exitValue() != 0) {
        throw new ToolException(command, process.exitValue(), Files.readString(errors).strip());
      }
      return output;
    } catch (IOException e) {
      throw new ToolException(command, -1, e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ToolException(command, -1, "interrupted");
    } finally {
      discard(errors);
    }
  }

  private static void feed(Process process, String input) {
    try (OutputStream stdin = process.getOutputStream()) {
      stdin.write(input.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      // The program ended before it read everything: its exit code and messages tell why.
      assert e.getMessage() != null;
    }
  }

  private static void discard(Path file) {
    try {
      if (file != null) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      System.err.println("hxb: left behind " + file + ": " + e.getMessage());
    }
  }
}
