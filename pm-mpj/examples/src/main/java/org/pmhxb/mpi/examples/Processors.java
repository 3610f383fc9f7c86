package org.pmhxb.mpi.examples;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Processor time of the machine up to a moment, from the first line of {@code /proc/stat}. */
record Processors(long busy, long all) {
  static Processors now() {
    try {
      String[] words = Files.readAllLines(Path.of("/proc/stat")).getFirst().split(" +");
      long all = 0;
      long idle = 0;
      for (int i = 1; i < Math.min(words.length, 9); i++) {
        all += Long.parseLong(words[i]);
        idle += i == 4 || i == 5 ? Long.parseLong(words[i]) : 0;
      }
      return new Processors(all - idle, all);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read /proc/stat", e);
    }
  }

  /** Share of the time since then in which processors were not idle. */
  double busySince(Processors before) {
    return (double) (busy - before.busy) / Math.max(1, all - before.all);
  }
}
