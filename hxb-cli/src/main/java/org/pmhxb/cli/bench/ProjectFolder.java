package org.pmhxb.cli.bench;

import java.nio.file.Path;

/**
 * Where the project lies whose command this is: {@code hxb} says so, else the current folder. It is
 * a checkout, or an installation, which has no sources and is not written to.
 */
public final class ProjectFolder {
  private ProjectFolder() {}

  /** Absolute. */
  public static Path path() {
    return Path.of(System.getProperty("hxb.home", ".")).toAbsolutePath();
  }

  /** Whether it is an installation (hxb dist), as its launcher says. */
  public static boolean isInstallation() {
    return Boolean.getBoolean("hxb.installed");
  }

  /** The programs of MPJ alone. */
  public static Path examples() {
    String folder = isInstallation() ? "examples" : "pm-mpj/examples/target";
    return path().resolve(folder).resolve("hxb-mpj-examples.jar");
  }

  /**
   * Where a suite's results go, absolute.
   *
   * @param output as it was asked for; null: docs/results, or target/results; of an installation
   *     hxb-results in the current folder
   * @param keep whether they are a page to keep: a whole run
   */
  public static Path results(Path output, boolean keep) {
    Path standard =
        isInstallation()
            ? Path.of("hxb-results")
            : path().resolve(keep ? "docs/results" : "target/results");
    return (output == null ? standard : output).toAbsolutePath().normalize();
  }
}
