package org.pmhxb.cli;

import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/**
 * Whether a figure that misses its bound fails a benchmark: {@link HxbCommand} asks for it, of
 * those that have it.
 */
final class BudgetsOption {
  static final String NAME = "--require-budgets";

  @Option(
      names = NAME,
      description = "Exit with 1 when a figure that was measured misses what it must reach, too.",
      showDefaultValue = Visibility.NEVER)
  private boolean required;
}
