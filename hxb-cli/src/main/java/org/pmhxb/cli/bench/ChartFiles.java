package org.pmhxb.cli.bench;

import java.awt.Color;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.XYChart;

/** Writes a chart as SVG and PNG. */
public final class ChartFiles {
  /** Told apart also without colour vision (Okabe and Ito). */
  private static final Color[] COLOURS = {
    new Color(0x000000),
    new Color(0xE69F00),
    new Color(0x0072B2),
    new Color(0x009E73),
    new Color(0xD55E00),
    new Color(0xCC79A7)
  };

  /** Thousandths of a pixel do for a plot, and spare a fifth of the file. */
  private static final Pattern LONG_NUMBER = Pattern.compile("(\\d+\\.\\d{3})\\d+");

  private ChartFiles() {}

  /** A colour for the i-th of a few. */
  public static Color colour(int i) {
    return COLOURS[i % COLOURS.length];
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
