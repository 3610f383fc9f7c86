package org.pmhxb.jmh;

import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.RunResult;
import org.pmhxb.cost.Pace;

/**
 * Which iterations count: those of the machine's faster speed, as far as any benchmark of the same
 * run has met it. By the speed alone, never by what was measured. Immutable.
 */
final class Iterations {
  private final double mostStepNs;

  /** Of one run, to its end. */
  Iterations(Collection<RunResult> results) {
    double leastNs =
        results.stream()
            .flatMap(Iterations::of)
            .filter(i -> has(i, PhaseProfiler.STEP))
            .mapToDouble(i -> figure(i, PhaseProfiler.STEP))
            .min()
            .orElse(Double.POSITIVE_INFINITY);
    mostStepNs = Pace.mostNs(leastNs);
  }

  /** A figure of each that counts, of every fork, sorted; of all, if none is of that speed. */
  double[] counted(RunResult result, String label) {
    List<IterationResult> fast = of(result).filter(this::isFast).toList();
    return figures(fast.isEmpty() ? of(result) : fast.stream(), label);
  }

  /** Whatever the speed. */
  static double[] all(RunResult result, String label) {
    return figures(of(result), label);
  }

  /** "5/8": five of eight iterations are of the faster speed. */
  String fastOfAll(RunResult result) {
    return of(result).filter(this::isFast).count() + "/" + of(result).count();
  }

  private boolean isFast(IterationResult iteration) {
    return has(iteration, PhaseProfiler.STEP)
        && figure(iteration, PhaseProfiler.STEP) <= mostStepNs;
  }

  private static double[] figures(Stream<IterationResult> iterations, String label) {
    return iterations
        .filter(i -> has(i, label))
        .mapToDouble(i -> figure(i, label))
        .sorted()
        .toArray();
  }

  /** All, of every fork. */
  static Stream<IterationResult> of(RunResult result) {
    return result.getBenchmarkResults().stream()
        .flatMap(fork -> fork.getIterationResults().stream());
  }

  private static boolean has(IterationResult iteration, String label) {
    return iteration.getSecondaryResults().containsKey(label);
  }

  private static double figure(IterationResult iteration, String label) {
    return iteration.getSecondaryResults().get(label).getScore();
  }
}
