package org.pmhxb.cli.bench;

import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;

/**
 * What a virtual machine's host withheld of the processors (steal) while the figures of a page were
 * measured: a figure that fell by it says nothing of who was measured.
 *
 * @param figures of which it is known
 * @param noted those with a run in which it was so much that their lines say so
 * @param most of any run, share of all processors' time, 0 to 1
 */
public record Withheld(int figures, int noted, double most) {
  /**
   * From here on a line says so: the kernel's accounts have steps of 10 ms, 1 % of short runs of
   * two processors.
   */
  private static final double NOTED = 0.02;

  /** Of the runs of one figure; null when one of them was not metered. */
  public static <T> Spread of(List<T> runs, Function<T, CpuUse> cpu) {
    return runs.stream().map(cpu).allMatch(Objects::nonNull)
        ? Spread.of(runs, run -> cpu.apply(run).withheld())
        : null;
  }

  /** Of all figures of a page; those that are null are not known. */
  public static Withheld of(List<Spread> figures) {
    List<Spread> known = figures.stream().filter(Objects::nonNull).toList();
    return new Withheld(
        known.size(),
        (int) known.stream().filter(Withheld::isNoted).count(),
        known.stream().mapToDouble(Spread::max).max().orElse(0));
  }

  /** Whether a line has to say so, null for what is not known. */
  public static boolean isNoted(Spread withheld) {
    return withheld != null && isNoted(withheld.max());
  }

  /** The same of one run's share, 0 to 1. */
  public static boolean isNoted(double share) {
    return share >= NOTED;
  }

  /**
   * For the line of a figure, behind something else: ", host took 2 to 9 %", least to most of its
   * runs; empty where it took next to nothing, or that is not known.
   */
  public static String note(Spread withheld) {
    if (!isNoted(withheld)) {
      return "";
    }
    long least = Math.round(100 * withheld.min());
    long most = Math.round(100 * withheld.max());
    return ", host took " + (least == most ? "" : least + " to ") + most + " %";
  }

  /** For the head of a page. */
  public String line() {
    if (figures == 0) {
      return "Host: not known what it withheld of the processors.";
    }
    if (noted == 0) {
      return "Host: withheld less than 2 % of the processors in every run.";
    }
    return String.format(
        Locale.ROOT,
        "Host: withheld 2 %% of the processors or more in a run of %d of %d figures, %d %% at most."
            + " Their lines say *host took*, least to most of the runs: they may be worse by that.",
        noted,
        figures,
        Math.round(100 * most));
  }
}
