package org.pmhxb.cli.mpi;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Passes on what processes write, line by line, labelled. */
final class RankOutputs {
  private final List<Thread> pumps = new ArrayList<>();

  /** Begins to pass on. */
  void pump(InputStream from, String label, PrintStream to) {
    pumps.add(Thread.startVirtualThread(() -> copy(from, label, to)));
  }

  private static void copy(InputStream from, String label, PrintStream to) {
    try (var lines = new BufferedReader(new InputStreamReader(from, StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        to.println(label + line);
      }
    } catch (IOException e) {
      to.println(label + "(output ends: " + e.getMessage() + ")");
    }
  }

  /** Returns when all that was written has been passed on. */
  void await() throws InterruptedException {
    for (Thread pump : pumps) {
      pump.join();
    }
  }
}
