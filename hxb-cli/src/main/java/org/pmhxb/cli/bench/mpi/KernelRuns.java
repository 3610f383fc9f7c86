package org.pmhxb.cli.bench.mpi;

import java.util.Comparator;
import java.util.List;

/**
 * A kernel's repetitions on one shape, of which the shortest counts: the first ones are compiled.
 *
 * @param seconds of the shortest
 * @param idle share of the machine's processor time that was idle during it
 * @param calls share of it that the ranks spent in calls of MPI, on average
 * @param all seconds of each repetition, in order
 */
public record KernelRuns(double seconds, double idle, double calls, List<Double> all) {
  static KernelRuns of(String kernel, String size, MpiFigures figures) {
    List<MpiFigures.Figure> runs = figures.all(kernel, size);
    List<MpiFigures.Figure> calls = figures.all(kernel + "-calls", size);
    if (runs.isEmpty() || runs.size() != calls.size()) {
      throw new IllegalArgumentException(
          runs.size() + " runs of " + kernel + " " + size + ", " + calls.size() + " shares of MPI");
    }
    MpiFigures.Figure best =
        runs.stream().min(Comparator.comparingDouble(MpiFigures.Figure::value)).orElseThrow();
    return new KernelRuns(
        best.value(),
        1 - best.busy(),
        calls.get(runs.indexOf(best)).value(),
        runs.stream().map(MpiFigures.Figure::value).toList());
  }
}
