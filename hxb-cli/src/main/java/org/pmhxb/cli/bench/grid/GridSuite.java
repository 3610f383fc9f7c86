package org.pmhxb.cli.bench.grid;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.pmhxb.cli.bench.MachineInfo;

/** Measures all cases, each in a simulation of its own, and writes page and plots. */
public final class GridSuite {
  private final Path directory;
  private final boolean quick;

  public GridSuite(Path directory, boolean quick) {
    this.directory = directory;
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
    Path page = directory.resolve("grid.md");
    List<String> files =
        GridPlots.write(points, directory.resolve("grid")).stream().map(Path::toString).toList();
    GridReport report =
        new GridReport(
            failures.isEmpty() && !points.isEmpty(),
            command,
            (System.nanoTime() - startNs) / 1e9,
            machine,
            quick,
            page.toString(),
            files,
            points,
            failures);
    Files.writeString(page, GridPage.of(report));
    return report;
  }
}
