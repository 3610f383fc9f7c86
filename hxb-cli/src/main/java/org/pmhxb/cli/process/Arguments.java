package org.pmhxb.cli.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** With what words a process was started. */
public final class Arguments {
  private Arguments() {}

  /**
   * As the kernel has them: of a long command line {@link ProcessHandle} says nothing.
   *
   * @return the program first; empty when there is no such process, or none any more
   */
  public static List<String> of(long pid) {
    try {
      byte[] bytes = Files.readAllBytes(Path.of("/proc", Long.toString(pid), "cmdline"));
      return List.of(new String(bytes, StandardCharsets.UTF_8).split("\0"));
    } catch (IOException e) {
      // Ended in the meantime.
      return List.of();
    }
  }
}
