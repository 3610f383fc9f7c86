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
import org.pmhxb.cli.process.ProcStat;

/**
 * Measures the processor time of the JIT compilers of Java processes, from {@code
 * /proc/PID/task/TID/stat}: threads that HotSpot names {@code C1 CompilerThre} and {@code C2
 * CompilerThre}. Owner: one thread.
 */
final class CompilerMeter {
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
    return used * ProcStat.TICK_NS;
  }

  private Map<Path, Long> compilers(long pid) throws IOException {
    Map<Path, Long> ticks = new HashMap<>();
    try (DirectoryStream<Path> tasks =
        Files.newDirectoryStream(proc.resolve(Long.toString(pid)).resolve("task"))) {
      for (Path task : tasks) {
        ProcStat.of(task)
            .filter(thread -> thread.name().matches("C[12] CompilerThre.*"))
            .ifPresent(thread -> ticks.put(task, thread.cpuTicks()));
      }
    } catch (NoSuchFileException | DirectoryIteratorException e) {
      // A node that died: an exchange goes on without it.
      return ticks;
    }
    return ticks;
  }
}
