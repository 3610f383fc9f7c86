package org.pmhxb.cli;

import java.io.PrintWriter;

/**
 * Progress on standard error: a line that is rewritten in place on a terminal, and otherwise one
 * line per second at most, so that a log stays readable. Owner: one thread.
 */
public final class Progress {
  /** Set by the launcher, as Java cannot ask whether standard error is a terminal. */
  private static final boolean TERMINAL = Boolean.getBoolean("hxb.stderr.terminal");

  private static final long LOG_INTERVAL_NS = 1_000_000_000L;

  private final PrintWriter err;
  private boolean open;
  private boolean logged;
  private long loggedNs;

  Progress(PrintWriter err) {
    this.err = err;
  }

  /** A line that stays. */
  public void say(String line) {
    end();
    err.println(line);
    err.flush();
  }

  /** A line that the next one replaces. */
  public void update(String line) {
    if (TERMINAL) {
      err.print("\r\u001b[K" + line);
      err.flush();
      open = true;
      return;
    }
    long nowNs = System.nanoTime();
    if (!logged || nowNs - loggedNs >= LOG_INTERVAL_NS) {
      err.println(line);
      err.flush();
      logged = true;
      loggedNs = nowNs;
    }
  }

  /** Ends a line that is being rewritten. */
  void end() {
    if (open) {
      err.println();
      err.flush();
      open = false;
    }
  }
}
