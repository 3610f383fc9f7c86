package org.pmhxb.cli.bench.paper;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.knowm.xchart.XYChart;
import org.pmhxb.cli.bench.ChartFiles;

/** Draws {@link PaperFigure}s: ours with a full line, the paper's dashed in the same colour. */
final class PaperPlots {
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
    List<Integer> pairs = figure.curves().stream().map(PaperFigure.Curve::pair).distinct().toList();
    List<ChartFiles.Curve> curves =
        figure.curves().stream().map(curve -> curve(curve, pairs.indexOf(curve.pair()))).toList();
    return ChartFiles.logLog(figure.title(), "message size, B", "bandwidth, MB/s", curves);
  }

  private static ChartFiles.Curve curve(PaperFigure.Curve of, int colour) {
    return new ChartFiles.Curve(
        of.label(),
        colour,
        of.paper() ? ChartFiles.Line.DASHED : ChartFiles.Line.FULL,
        !of.paper(),
        of.sizesBytes(),
        of.megabytesPerSecond());
  }
}
