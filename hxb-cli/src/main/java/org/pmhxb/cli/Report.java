package org.pmhxb.cli;

import java.io.PrintWriter;

/**
 * A command's result. Implementations are records whose components are the fields of the JSON
 * object, {@code ok} first.
 */
public interface Report {
  /** Whether the command succeeded; decides the exit code. */
  boolean ok();

  /** Whether the exit code says so too: a command may ask for more than a valid result. */
  default boolean succeeded() {
    return ok();
  }

  /** The same result as text for a person. */
  void print(PrintWriter out);
}
