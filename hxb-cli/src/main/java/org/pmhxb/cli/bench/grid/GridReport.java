package org.pmhxb.cli.bench.grid;

import java.io.PrintWriter;
import java.util.List;
import org.pmhxb.cli.Report;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.bench.ResultFiles;

/**
 * The bottleneck experiment's outcome.
 *
 * @param seconds that the simulations took here; the figures are virtual time
 * @param files page and plots
 * @param points every figure
 * @param failures cases that could not be measured, and why
 */
public record GridReport(
    boolean ok,
    String command,
    double seconds,
    MachineInfo machine,
    boolean quick,
    ResultFiles files,
    List<GridPoint> points,
    List<String> failures)
    implements Report {
  @Override
  public void print(PrintWriter out) {
    out.printf("%-15s %-17s %4s %8s %12s %10s%n", "", "", "link", "B", "us", "MB/s");
    for (GridPoint p : points) {
      out.printf(
          "%-15s %-17s %4s %8d %12.1f %10.1f%s%n",
          p.operation(),
          p.algorithm(),
          p.network(),
          p.bytes(),
          p.microseconds()[1],
          p.megabytesPerSecond(),
          p.chosen() ? " chosen" : "");
    }
    out.println(GridNetwork.legend());
    failures.forEach(f -> out.println("failed: " + f));
    files.print(out);
  }
}
