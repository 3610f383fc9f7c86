package org.pmhxb.mpi.examples;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Time for which the machine's processors were idle up to a moment, from the first line of {@code
 * /proc/stat}. The kernel measures that, but samples what they do otherwise: so what was not idle
 * is taken from the clock. To 10 ms.
 */
record Processors(long idleTicks, long nowNs) {
  private static final double TICK_NS = 10_000_000.0;
  private static final int IDLE = 4;
  private static final int WAITS_FOR_DISK = 5;

  static Processors now() {
    try {
      String[] words = Files.readAllLines(Path.of("/proc/stat")).getFirst().split(" +");
      long idle = Long.parseLong(words[IDLE]) + Long.parseLong(words[WAITS_FOR_DISK]);
      return new Processors(idle, System.nanoTime());
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read /proc/stat", e);
    }
  }

  /** Share of the processors' time since then in which they were not idle, 0 to 1. */
  double busySince(Processors before) {
    double allNs = (double) (nowNs - before.nowNs) * Runtime.getRuntime().availableProcessors();
    return Math.clamp(1 - (idleTicks - before.idleTicks) * TICK_NS / Math.max(1, allNs), 0, 1);
  }
}
