package org.pmhxb.cli.bench;

import java.nio.file.Path;

/** Where the project lies whose command this is: {@code hxb} says so, else the current folder. */
public final class ProjectFolder {
  private ProjectFolder() {}

  /** Absolute. */
  public static Path path() {
    return Path.of(System.getProperty("hxb.home", ".")).toAbsolutePath();
  }

  /**
   * Where a suite's results go, absolute.
   *
   * @param output as it was asked for; null: docs/results, or target/results
   * @param keep whether they are a page to keep: a whole run
   */
  public static Path results(Path output, boolean keep) {
    Path standard = path().resolve(keep ? "docs/results" : "target/results");
    return (output == null ? standard : output).toAbsolutePath().normalize();
  }
}
