package org.pmhxb.cli.bench.paper;

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

/** Draws {@link PaperFigure}s: ours with a full line, the paper's dashed in the same colour. */
final class PaperPlots {
  private static final int WIDTH = 1_000;
  private static final int HEIGHT = 640;
  private static final float LINE = 1.8f;

  private PaperPlots() {}

  /**
   * Writes each figure as SVG and PNG.
   *
   * @return the files
   * @throws IOException also when the JVM cannot draw: it lacks fonts
   */
  static List<Path> write(List<PaperFigure> figures, Path directory) throws IOException {
    List<Path> files = new ArrayList<>();
    for (PaperFigure figure : figures) {
      if (figure.curves().isEmpty()) {
        continue;
      }
      files.addAll(ChartFiles.write(chart(figure), directory, figure.id()));
    }
    return files;
  }

  private static XYChart chart(PaperFigure figure) {
    XYChart chart =
        new XYChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(figure.title())
            .xAxisTitle("message size, B")
            .yAxisTitle("bandwidth, MB/s")
            .build();
    chart.getStyler().setXAxisLogarithmic(true);
    chart.getStyler().setYAxisLogarithmic(true);
    chart.getStyler().setLegendPosition(Styler.LegendPosition.OutsideE);
    chart.getStyler().setPlotBackgroundColor(Color.WHITE);
    chart.getStyler().setChartBackgroundColor(Color.WHITE);
    List<Integer> pairs = figure.curves().stream().map(PaperFigure.Curve::pair).distinct().toList();
    for (PaperFigure.Curve curve : figure.curves()) {
      XYSeries series =
          chart.addSeries(curve.label(), curve.sizesBytes(), curve.megabytesPerSecond());
      Color colour = ChartFiles.colour(pairs.indexOf(curve.pair()));
      series.setLineColor(colour);
      series.setMarkerColor(colour);
      series.setMarker(curve.paper() ? SeriesMarkers.NONE : SeriesMarkers.CIRCLE);
      series.setLineStyle(stroke(curve.paper()));
    }
    return chart;
  }

  private static BasicStroke stroke(boolean dashed) {
    return dashed
        ? new BasicStroke(
            LINE, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 1, new float[] {6, 4}, 0)
        : new BasicStroke(LINE);
  }
}
