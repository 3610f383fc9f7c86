package org.pmhxb.cli.bench.barrier;

import java.awt.BasicStroke;
import java.awt.Color;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Time of a barrier against the number of nodes, as SVG and PNG. */
public final class BarrierPlot {
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
    new Color(0xCC79A7),
    new Color(0x56B4E9)
  };

  private BarrierPlot() {}

  /**
   * One curve.
   *
   * @param colour those of one algorithm share one
   * @param dashed of a model
   */
  public record Curve(
      String label, int colour, boolean dashed, List<Integer> nodes, List<Double> microseconds) {}

  /**
   * Writes {@code name.svg} and {@code name.png}.
   *
   * @throws IOException also when the JVM cannot draw: it lacks fonts
   */
  public static List<Path> write(String title, List<Curve> curves, Path directory, String name)
      throws IOException {
    System.setProperty("java.awt.headless", "true");
    Files.createDirectories(directory);
    Path svg = directory.resolve(name + ".svg");
    Path png = directory.resolve(name + ".png");
    try {
      XYChart chart =
          new XYChartBuilder()
              .width(WIDTH)
              .height(HEIGHT)
              .title(title)
              .xAxisTitle("nodes")
              .yAxisTitle("barrier, us")
              .build();
      chart.getStyler().setXAxisLogarithmic(true);
      chart.getStyler().setYAxisLogarithmic(true);
      chart.getStyler().setLegendPosition(Styler.LegendPosition.OutsideE);
      chart.getStyler().setPlotBackgroundColor(Color.WHITE);
      chart.getStyler().setChartBackgroundColor(Color.WHITE);
      for (Curve curve : curves) {
        XYSeries series = chart.addSeries(curve.label(), curve.nodes(), curve.microseconds());
        Color colour = COLOURS[curve.colour() % COLOURS.length];
        series.setLineColor(colour);
        series.setMarkerColor(colour);
        series.setMarker(curve.dashed() ? SeriesMarkers.NONE : SeriesMarkers.CIRCLE);
        series.setLineStyle(
            curve.dashed()
                ? new BasicStroke(
                    LINE, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 1, new float[] {6, 4}, 0)
                : new BasicStroke(LINE));
      }
      VectorGraphicsEncoder.saveVectorGraphic(
          chart, svg.toString(), VectorGraphicsEncoder.VectorGraphicsFormat.SVG);
      BitmapEncoder.saveBitmap(chart, png.toString(), BitmapEncoder.BitmapFormat.PNG);
    } catch (LinkageError | InternalError | NullPointerException e) {
      throw new IOException(
          "cannot draw "
              + svg
              + ": "
              + e
              + "; install: apt-get install fontconfig fonts-dejavu-core libfreetype6",
          e);
    }
    return List.of(svg, png);
  }
}
