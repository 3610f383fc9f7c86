package org.pmhxb.cli;

import picocli.CommandLine.Option;

/** How often a benchmark measures the same, of those that tell the median. */
final class RunsOption {
  private static final int MOST = 20;

  @Option(
      names = "--runs",
      paramLabel = "N",
      description = "Measurements of each, 1 to " + MOST + ". Default: 3; of peer-memory 5.")
  private Integer runs;

  /**
   * As given.
   *
   * @param other when not
   */
  int runsOr(HxbCommand command, int other) {
    int count = runs == null ? other : runs;
    command.range("--runs", count, 1, MOST);
    return count;
  }
}
