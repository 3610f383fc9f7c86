package org.pmhxb.cli;

import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** Whether a figure that misses its bound fails a benchmark. */
final class BudgetsOption {
  @Option(
      names = "--require-budgets",
      description = "Exit with 1 when a figure that was measured misses what it must reach, too.",
      showDefaultValue = Visibility.NEVER)
  private boolean required;

  boolean required() {
    return required;
  }
}
