package org.pmhxb.cli.mpi;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Passes on what processes write, line by line, labelled. */
final class RankOutputs {
  private static final long LOOK_MS = 20;

  private final List<Pump> pumps = new ArrayList<>();

  /** Begins to pass on. */
  void pump(InputStream from, String label, PrintStream to) {
    pumps.add(new Pump(from, label, to));
  }

  /**
   * Call it when the processes have ended: returns when all that they wrote has been passed on,
   * however slowly that is taken. What a process started that outlives it may keep the output open:
   * for that it waits no longer than a limit in which nothing comes.
   *
   * @return false: somebody still has an output
   */
  boolean await(long silenceMs) throws InterruptedException {
    long startNs = System.nanoTime();
    boolean ended = true;
    for (Pump pump : pumps) {
      while (!pump.thread.join(Duration.ofMillis(LOOK_MS))) {
        if (pump.silentSince(startNs) >= silenceMs * 1_000_000) {
          ended = false;
          break;
        }
      }
    }
    return ended;
  }

  /** Of one stream. Owner of what it writes: its thread. */
  private static final class Pump {
    private final InputStream from;
    private final String label;
    private final PrintStream to;

    /** When it began to read what is not there yet; 0 while it writes. */
    private volatile long readingSinceNs = System.nanoTime();

    private final Thread thread;

    Pump(InputStream from, String label, PrintStream to) {
      this.from = from;
      this.label = label;
      this.to = to;
      this.thread = Thread.startVirtualThread(this::copy);
    }

    private void copy() {
      try (var lines = new BufferedReader(new InputStreamReader(from, StandardCharsets.UTF_8))) {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          readingSinceNs = 0;
          to.println(label + line);
          readingSinceNs = System.nanoTime();
        }
      } catch (IOException e) {
        to.println(label + "(output ends: " + e.getMessage() + ")");
      }
    }

    /** For how long nothing has come, from a moment on. */
    long silentSince(long startNs) {
      long sinceNs = readingSinceNs;
      return sinceNs == 0 ? 0 : System.nanoTime() - Math.max(sinceNs, startNs);
    }
  }
}
