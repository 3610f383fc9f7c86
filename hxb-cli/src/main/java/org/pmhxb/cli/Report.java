package org.pmhxb.cli;

import java.io.PrintWriter;
import java.util.List;

/**
 * A command's result. Implementations are records whose components are the fields of the JSON
 * object, {@code ok} first.
 */
public interface Report {
  /** Whether the command succeeded; decides the exit code. */
  boolean ok();

  /**
   * Figures that miss what they must reach, with value and limit, for people. No fault of the run,
   * so they fail the command only where that was asked for.
   */
  default List<String> missed() {
    return List.of();
  }

  /** The same result as text for a person. */
  void print(PrintWriter out);
}
