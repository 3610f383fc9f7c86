package org.pmhxb.cli.bench.grid;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.knowm.xchart.XYChart;
import org.pmhxb.cli.bench.ChartFiles;

/** One plot an operation: bandwidth against size, a colour an algorithm, a dash a network. */
final class GridPlots {
  private GridPlots() {}

  /** The name of an operation's files. */
  static String id(String operation) {
    return "grid-" + operation;
  }

  static List<Path> write(List<GridPoint> points, Path directory) throws IOException {
    List<Path> files = new ArrayList<>();
    for (String operation : points.stream().map(GridPoint::operation).distinct().toList()) {
      XYChart chart =
          chart(operation, points.stream().filter(p -> p.operation().equals(operation)).toList());
      files.addAll(ChartFiles.write(chart, directory, id(operation)));
    }
    return files;
  }

  private static XYChart chart(String operation, List<GridPoint> points) {
    List<String> algorithms = points.stream().map(GridPoint::algorithm).distinct().toList();
    List<ChartFiles.Curve> curves = new ArrayList<>();
    for (String algorithm : algorithms) {
      for (GridNetwork network : GridNetwork.values()) {
        List<GridPoint> of =
            points.stream()
                .filter(p -> p.algorithm().equals(algorithm))
                .filter(p -> p.network().equals(network.letter()))
                .toList();
        if (!of.isEmpty()) {
          curves.add(curve(of, algorithms.indexOf(algorithm), network));
        }
      }
    }
    return ChartFiles.logLog(
        operation
            + ", two clusters of eight: 4 links, 1 link, 1 link + 1 ms (d), 1 link, ranks in turn"
            + " (1i)",
        "message size, B",
        "bandwidth, MB/s",
        curves);
  }

  private static ChartFiles.Curve curve(List<GridPoint> points, int colour, GridNetwork network) {
    return new ChartFiles.Curve(
        points.getFirst().algorithm() + " (" + network.letter() + ")",
        colour,
        ChartFiles.Line.values()[network.ordinal()],
        true,
        points.stream().map(GridPoint::bytes).toList(),
        points.stream().map(GridPoint::megabytesPerSecond).toList());
  }
}
