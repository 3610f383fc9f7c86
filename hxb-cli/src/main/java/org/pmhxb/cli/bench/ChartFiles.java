package org.pmhxb.cli.bench;

import java.awt.BasicStroke;
import java.awt.Color;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Charts of one look, with a legend beside them; written as SVG and PNG. */
public final class ChartFiles {
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

  /** Thousandths of a pixel do for a plot, and spare a fifth of the file. */
  private static final Pattern LONG_NUMBER = Pattern.compile("(\\d+\\.\\d{3})\\d+");

  private ChartFiles() {}

  /** How a line is drawn. */
  public enum Line {
    FULL((float[]) null),
    DASHED(9, 4),
    DOTTED(2, 4),
    MIXED(9, 4, 2, 4);

    private final float[] dash;

    Line(float... dash) {
      this.dash = dash;
    }

    private BasicStroke stroke() {
      return new BasicStroke(LINE, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 1, dash, 0);
    }
  }

  /**
   * One curve.
   *
   * @param colour those that belong together share one, 0 or more
   * @param marked whether its points are shown
   */
  public record Curve(
      String label,
      int colour,
      Line line,
      boolean marked,
      List<? extends Number> x,
      List<? extends Number> y) {}

  /** A chart with logarithmic axes. */
  public static XYChart logLog(String title, String xTitle, String yTitle, List<Curve> curves) {
    XYChart chart = chart(title, xTitle, yTitle, curves);
    chart.getStyler().setXAxisLogarithmic(true);
    chart.getStyler().setYAxisLogarithmic(true);
    return chart;
  }

  /** A chart with even axes, whose upright one goes from 0 to {@code most}. */
  public static XYChart linear(
      String title, String xTitle, String yTitle, double most, List<Curve> curves) {
    XYChart chart = chart(title, xTitle, yTitle, curves);
    chart.getStyler().setYAxisMin(0.0);
    chart.getStyler().setYAxisMax(most);
    return chart;
  }

  private static XYChart chart(String title, String xTitle, String yTitle, List<Curve> curves) {
    XYChart chart =
        new XYChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(title)
            .xAxisTitle(xTitle)
            .yAxisTitle(yTitle)
            .build();
    chart.getStyler().setLegendPosition(Styler.LegendPosition.OutsideE);
    chart.getStyler().setPlotBackgroundColor(Color.WHITE);
    chart.getStyler().setChartBackgroundColor(Color.WHITE);
    for (Curve curve : curves) {
      XYSeries series = chart.addSeries(curve.label(), curve.x(), curve.y());
      Color colour = COLOURS[curve.colour() % COLOURS.length];
      series.setLineColor(colour);
      series.setMarkerColor(colour);
      series.setMarker(curve.marked() ? SeriesMarkers.CIRCLE : SeriesMarkers.NONE);
      series.setLineStyle(curve.line().stroke());
    }
    return chart;
  }

  /**
   * Writes both files, {@code id.svg} and {@code id.png}.
   *
   * @throws IOException also when the JVM cannot draw: it lacks fonts
   */
  public static List<Path> write(XYChart chart, Path directory, String id) throws IOException {
    // There is no screen, and none is needed.
    System.setProperty("java.awt.headless", "true");
    Files.createDirectories(directory);
    Path svg = directory.resolve(id + ".svg");
    Path png = directory.resolve(id + ".png");
    try {
      VectorGraphicsEncoder.saveVectorGraphic(
          chart, svg.toString(), VectorGraphicsEncoder.VectorGraphicsFormat.SVG);
      Files.writeString(svg, LONG_NUMBER.matcher(Files.readString(svg)).replaceAll("$1"));
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
    return List.of(svg, png);
  }
}
