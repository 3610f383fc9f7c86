package org.pmhxb.cli.bench.grid;

import java.awt.BasicStroke;
import java.awt.Color;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.markers.SeriesMarkers;
import org.pmhxb.cli.bench.ChartFiles;

/** One plot an operation: bandwidth against size, a colour an algorithm, a dash a network. */
final class GridPlots {
  private static final int WIDTH = 1_000;
  private static final int HEIGHT = 640;
  private static final float LINE = 1.8f;
  private static final float[][] DASHES = {null, {9, 4}, {2, 4}, {9, 4, 2, 4}};

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
    XYChart chart =
        new XYChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(
                operation
                    + ", two clusters of eight: 4 links, 1 link, 1 link + 1 ms (d), 1 link, ranks"
                    + " in turn (1i)")
            .xAxisTitle("message size, B")
            .yAxisTitle("bandwidth, MB/s")
            .build();
    chart.getStyler().setXAxisLogarithmic(true);
    chart.getStyler().setYAxisLogarithmic(true);
    chart.getStyler().setLegendPosition(Styler.LegendPosition.OutsideE);
    chart.getStyler().setPlotBackgroundColor(Color.WHITE);
    chart.getStyler().setChartBackgroundColor(Color.WHITE);
    List<String> algorithms = points.stream().map(GridPoint::algorithm).distinct().toList();
    for (String algorithm : algorithms) {
      for (GridNetwork network : GridNetwork.values()) {
        List<GridPoint> curve =
            points.stream()
                .filter(p -> p.algorithm().equals(algorithm))
                .filter(p -> p.network().equals(network.letter()))
                .toList();
        if (!curve.isEmpty()) {
          add(chart, curve, algorithms.indexOf(algorithm), network);
        }
      }
    }
    return chart;
  }

  private static void add(XYChart chart, List<GridPoint> curve, int colour, GridNetwork network) {
    XYSeries series =
        chart.addSeries(
            curve.getFirst().algorithm() + " (" + network.letter() + ")",
            curve.stream().map(GridPoint::bytes).toList(),
            curve.stream().map(GridPoint::megabytesPerSecond).toList());
    series.setLineColor(ChartFiles.colour(colour));
    series.setMarkerColor(ChartFiles.colour(colour));
    series.setMarker(SeriesMarkers.CIRCLE);
    series.setLineStyle(
        new BasicStroke(
            LINE, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 1, DASHES[network.ordinal()], 0));
  }
}
