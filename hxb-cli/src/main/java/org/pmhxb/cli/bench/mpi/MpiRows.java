package org.pmhxb.cli.bench.mpi;

import java.util.ArrayList;
import java.util.List;
import org.pmhxb.cli.bench.SuiteTime;

/**
 * What was measured so far, and what failed: minutes of measurements are not lost to a later one.
 * Owner: one thread.
 */
public final class MpiRows {
  private final List<MpiRow> rows = new ArrayList<>();
  private final List<String> failures = new ArrayList<>();

  /** Measures one row. */
  @FunctionalInterface
  public interface Measurement {
    /** Measures it. */
    MpiRow run() throws Exception;
  }

  /**
   * Measures another row.
   *
   * @param title names it, for people, where it fails
   * @throws Exception what it failed with, where nothing is lost by that: it was the first
   */
  public void add(String title, Measurement row) throws Exception {
    try {
      rows.add(row.run());
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      SuiteTime.throwIfInterrupted(e);
      if (rows.isEmpty()) {
        throw e;
      }
      failures.add(title + ": " + e.getMessage());
    }
  }

  /** In the order in which they were measured. */
  public List<MpiRow> measured() {
    return List.copyOf(rows);
  }

  /** A line each. */
  public List<String> failures() {
    return List.copyOf(failures);
  }
}
