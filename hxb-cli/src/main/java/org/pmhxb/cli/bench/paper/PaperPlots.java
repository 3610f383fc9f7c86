package org.pmhxb.cli.bench.paper;

import java.awt.BasicStroke;
import java.awt.Color;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Draws {@link PaperFigure}s: ours with a full line, the paper's dashed in the same colour. */
final class PaperPlots {
  private static final int WIDTH = 1_000;
  private static final int HEIGHT = 640;
  private static final float LINE = 1.8f;

  /** Told apart also without colour vision (Okabe and Ito). */
  private static final Color[] COLOURS = {
    new Color(0x000000),
    new Color(0xE69F00),
    new Color(0x0072B2),
    new Color(0x009E73),
    new Color(0xD55E00),
    new Color(0xCC79A7)
  };

  private PaperPlots() {}

  /**
   * Writes each figure as SVG and PNG.
   *
   * @return the files
   * @throws IOException also when the JVM cannot draw: it lacks fonts
   */
  static List<Path> write(List<PaperFigure> figures, Path directory) throws IOException {
    // There is no screen, and none is needed.
    System.setProperty("java.awt.headless", "true");
    Files.createDirectories(directory);
    List<Path> files = new ArrayList<>();
    for (PaperFigure figure : figures) {
      if (figure.curves().isEmpty()) {
        continue;
      }
      Path svg = directory.resolve(figure.id() + ".svg");
      Path png = directory.resolve(figure.id() + ".png");
      try {
        XYChart chart = chart(figure);
        VectorGraphicsEncoder.saveVectorGraphic(
            chart, svg.toString(), VectorGraphicsEncoder.VectorGraphicsFormat.SVG);
        BitmapEncoder.saveBitmap(chart, png.toString(), BitmapEncoder.BitmapFormat.PNG);
      } catch (LinkageError | InternalError | NullPointerException e) {
        // What java.desktop throws where fontconfig or a font is missing.
        throw new IOException(
            "cannot draw "
                + svg
                + ": "
                + e
                + "; install: apt-get install fontconfig"
                + " fonts-dejavu-core libfreetype6",
            e);
      }
      files.add(svg);
      files.add(png);
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
      Color colour = COLOURS[pairs.indexOf(curve.pair()) % COLOURS.length];
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
