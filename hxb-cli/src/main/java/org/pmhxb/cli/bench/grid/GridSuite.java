package org.pmhxb.cli.bench.grid;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.bench.ResultFiles;

/** Measures all cases, each in a simulation of its own, and writes page and plots. */
public final class GridSuite {
  private static final String PAGE = "grid.md";

  private final ResultFiles files;
  private final boolean quick;

  public GridSuite(ResultFiles files, boolean quick) {
    this.files = files;
    this.quick = quick;
  }

  /**
   * Runs it.
   *
   * @param command as it was given, for the page
   * @param jobs simulations at a time
   * @param progress takes lines for people
   */
  public GridReport run(String command, MachineInfo machine, int jobs, Consumer<String> progress)
      throws IOException, InterruptedException {
    long startNs = System.nanoTime();
    List<GridCase> cases = GridCase.all(quick);
    List<GridPoint> points = new ArrayList<>();
    List<String> failures = new ArrayList<>();
    try (ExecutorService pool = Executors.newFixedThreadPool(jobs)) {
      List<Future<GridPoint>> runs = new ArrayList<>();
      cases.forEach(c -> runs.add(pool.submit(() -> GridRun.measure(c))));
      for (int i = 0; i < runs.size(); i++) {
        progress.accept("case " + (i + 1) + " of " + runs.size());
        try {
          points.add(runs.get(i).get());
        } catch (ExecutionException e) {
          failures.add(String.valueOf(e.getCause().getMessage()));
        } catch (InterruptedException e) {
          pool.shutdownNow();
          throw e;
        }
      }
    }
    List<String> order = cases.stream().map(GridCase::operationName).distinct().toList();
    // Stable: algorithms and networks stay in their order.
    points.sort(
        Comparator.comparingInt((GridPoint p) -> order.indexOf(p.operation()))
            .thenComparingInt(GridPoint::bytes));
    files.add(PAGE);
    files.add(GridPlots.write(points, files.path("grid")));
    GridReport report =
        new GridReport(
            failures.isEmpty() && !points.isEmpty(),
            command,
            (System.nanoTime() - startNs) / 1e9,
            machine,
            quick,
            files,
            points,
            failures);
    files.write(PAGE, GridPage.of(report));
    return report;
  }
}
