package org.pmhxb.cli.veth;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.pmhxb.cli.process.ProcessTree;

/** Runs the programs that set up networking: {@code ip} and {@code tc}. */
final class Tool {
  static final Duration LIMIT = Duration.ofMinutes(1);

  /** In memory first: a cluster has to come down when the disk is full, too. */
  private static final List<Path> FOLDERS =
      List.of(Path.of("/dev/shm"), Path.of(System.getProperty("java.io.tmpdir")));

  private static final String IN = "in";
  private static final String OUT = "out";
  private static final String ERRORS = "errors";

  private Tool() {}

  /**
   * Runs a program to its end and returns its standard output. An interrupt waits for that end:
   * what the program makes must not appear behind whoever cleans up.
   *
   * @param input what the program reads from standard input, "" for nothing
   * @throws ToolException when it is missing, ends with another code than 0 or takes above a minute
   */
  static String run(String input, List<String> command) {
    return run(input, command, LIMIT);
  }

  static String run(String input, List<String> command, Duration limit) {
    return run(input, command, limit, FOLDERS);
  }

  /**
   * @param folders where the program's input and output may lie; the first that has room
   */
  static String run(String input, List<String> command, Duration limit, List<Path> folders) {
    Path files = null;
    try {
      // Files, not pipes: who reads or writes one waits for the program, and for its children.
      files = files(input, folders);
      Path in = files.resolve(IN);
      Path out = files.resolve(OUT);
      Path errors = files.resolve(ERRORS);
      try (InputStream said = Files.newInputStream(out);
          InputStream complained = Files.newInputStream(errors)) {
        Process process =
            new ProcessBuilder(ofItsOwn(command))
                .redirectInput(in.toFile())
                .redirectOutput(out.toFile())
                .redirectError(errors.toFile())
                .start();
        // All have them open: without names, who is killed meanwhile leaves none behind.
        discard(files);
        files = null;
        return result(command, limit, process, said, complained);
      }
    } catch (IOException e) {
      throw new ToolException(command, -1, e.getMessage());
    } finally {
      discard(files);
    }
  }

  /** A terminal's Ctrl-C is for who started it: half of a removal is none. */
  private static List<String> ofItsOwn(List<String> command) {
    List<String> whole = new ArrayList<>(List.of("setsid"));
    whole.addAll(command);
    return whole;
  }

  private static Path files(String input, List<Path> folders) throws IOException {
    IOException failure = null;
    for (Path folder : folders) {
      Path files = null;
      try {
        files = Files.createTempDirectory(folder, "hxb-tool");
        Files.writeString(files.resolve(IN), input);
        Files.createFile(files.resolve(OUT));
        Files.createFile(files.resolve(ERRORS));
        return files;
      } catch (IOException e) {
        discard(files);
        failure = new IOException("no room for its input in " + folder + ": " + e, e);
      }
    }
    throw failure;
  }

  private static String result(
      List<String> command,
      Duration limit,
      Process process,
      InputStream said,
      InputStream complained)
      throws IOException {
    boolean ended = endsWithin(limit, process);
    if (!ended) {
      ProcessTree.end(process);
      // What it is about to make must not appear behind whoever cleans up.
      endsWithin(LIMIT, process);
    }
    requireSuccess(command, limit, ended, process, complained);
    return text(said);
  }

  /**
   * Reads how a program ended.
   *
   * @param ended by itself, within the limit
   * @param complained its standard error
   * @throws ToolException when it did not, or with another code than 0
   */
  static void requireSuccess(
      List<String> command, Duration limit, boolean ended, Process process, InputStream complained)
      throws IOException {
    if (!ended) {
      throw new ToolException(command, -1, "no end after " + limit.toSeconds() + " s");
    }
    if (process.exitValue() != 0) {
      throw new ToolException(command, process.exitValue(), text(complained).strip());
    }
  }

  private static String text(InputStream from) throws IOException {
    return new String(from.readAllBytes(), StandardCharsets.UTF_8);
  }

  private static boolean endsWithin(Duration limit, Process process) {
    long deadlineNs = System.nanoTime() + limit.toNanos();
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return process.waitFor(deadlineNs - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static void discard(Path files) {
    if (files == null) {
      return;
    }
    try {
      for (String name : List.of(IN, OUT, ERRORS)) {
        Files.deleteIfExists(files.resolve(name));
      }
      Files.delete(files);
    } catch (IOException e) {
      System.err.println("hxb: left behind " + files + ": " + e.getMessage());
    }
  }
}
