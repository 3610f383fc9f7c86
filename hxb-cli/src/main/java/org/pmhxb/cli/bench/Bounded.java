package org.pmhxb.cli.bench;

import java.util.Locale;
import org.pmhxb.cli.Words;

/**
 * A figure that a budget bounds from above. Its median is judged, for a machine of few processors
 * stops whoever is measured now and then; least and most stand beside it.
 *
 * @param measured of several runs
 * @param must what the median may be at most
 * @param aim what it is meant to be at most, no more than {@code must}
 * @param met "aim", "must" or "missed"
 */
public record Bounded(Spread measured, double must, double aim, String met) {
  /** Judges it. */
  public static Bounded of(Spread measured, double must, double aim) {
    double median = measured.median();
    return new Bounded(
        measured, must, aim, median <= aim ? "aim" : median <= must ? "must" : "missed");
  }

  /** For a terminal: "1.2 ms (0.4 to 3.1, 3 runs); must 5.0, aim 1.0: must". */
  public String line(String unit) {
    return String.format(
        Locale.ROOT,
        "%.1f %s (%.1f to %.1f, %s); must %.1f, aim %.1f: %s",
        measured.median(),
        unit,
        measured.min(),
        measured.max(),
        Words.count(measured.runs(), "run"),
        must,
        aim,
        met);
  }
}
