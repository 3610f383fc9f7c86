package org.pmhxb.cli.bench;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Measures the processor time of the JIT compilers of Java processes, from {@code
 * /proc/PID/task/TID/stat}: threads that HotSpot names {@code C1 CompilerThre} and {@code C2
 * CompilerThre}. Owner: one thread.
 */
final class CompilerMeter {
  /** A tick of those files: USER_HZ is 100 wherever Linux runs Java. */
  private static final long TICK_NS = 10_000_000L;

  private final Path proc;
  private final Collection<Long> pids;

  /** What each compiler thread had used at the last look; these threads come and go. */
  private Map<Path, Long> ticksOf = new HashMap<>();

  CompilerMeter(Path proc, Collection<Long> pids) {
    this.proc = proc;
    this.pids = List.copyOf(pids);
  }

  /** Nanoseconds that the compilers have used since the last look, or since they began. */
  long look() throws IOException {
    Map<Path, Long> now = new HashMap<>();
    long used = 0;
    for (long pid : pids) {
      for (Map.Entry<Path, Long> thread : compilers(pid).entrySet()) {
        now.put(thread.getKey(), thread.getValue());
        used += thread.getValue() - ticksOf.getOrDefault(thread.getKey(), 0L);
      }
    }
    ticksOf = now;
    return used * TICK_NS;
  }

  private Map<Path, Long> compilers(long pid) throws IOException {
    Map<Path, Long> ticks = new HashMap<>();
    try (DirectoryStream<Path> tasks =
        Files.newDirectoryStream(proc.resolve(Long.toString(pid)).resolve("task"))) {
      for (Path task : tasks) {
        String stat = read(task.resolve("stat"));
        int open = stat.indexOf('(');
        int close = stat.lastIndexOf(')');
        if (open >= 0 && stat.substring(open + 1, close).matches("C[12] CompilerThre.*")) {
          // The third field, behind the name in brackets, is index 0 here.
          String[] fields = stat.substring(close + 2).split(" ");
          ticks.put(task, Long.parseLong(fields[11]) + Long.parseLong(fields[12]));
        }
      }
    } catch (NoSuchFileException | DirectoryIteratorException e) {
      // A node that died: an exchange goes on without it.
      return ticks;
    }
    return ticks;
  }

  /** Empty for a thread that has ended meanwhile. */
  private static String read(Path stat) {
    try {
      return Files.readString(stat);
    } catch (IOException e) {
      return "";
    }
  }
}
