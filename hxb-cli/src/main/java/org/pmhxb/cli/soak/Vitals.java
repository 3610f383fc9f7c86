package org.pmhxb.cli.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * What a process holds of the machine, out of /proc.
 *
 * @param residentBytes memory in use, heap and native
 * @param descriptors open files and sockets
 * @param threads of the process
 */
record Vitals(long residentBytes, int descriptors, int threads) {
  static Vitals of(long pid) throws IOException {
    Path process = Path.of("/proc", Long.toString(pid));
    long residentKib = 0;
    int threads = 0;
    for (String line : Files.readAllLines(process.resolve("status"))) {
      if (line.startsWith("VmRSS:")) {
        residentKib = Long.parseLong(line.replaceAll("[^0-9]", ""));
      } else if (line.startsWith("Threads:")) {
        threads = Integer.parseInt(line.replaceAll("[^0-9]", ""));
      }
    }
    try (Stream<Path> open = Files.list(process.resolve("fd"))) {
      return new Vitals(residentKib * 1024, (int) open.count(), threads);
    }
  }

  /** Growth since, none of it below 0. */
  Vitals since(Vitals earlier) {
    return new Vitals(
        Math.max(0, residentBytes - earlier.residentBytes),
        Math.max(0, descriptors - earlier.descriptors),
        Math.max(0, threads - earlier.threads));
  }
}
