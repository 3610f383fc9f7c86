package org.pmhxb.cli.bench;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;
import java.util.Optional;
import org.pmhxb.cli.Words;

/**
 * A figure and its bounds. Its median is judged, for a machine of few processors stops whoever is
 * measured now and then; least and most stand beside it.
 *
 * @param measured of several runs
 * @param most whether the bounds are what the median may be at most; else at least
 * @param must what has to be kept to
 * @param aim what is meant to be, no easier than {@code must}
 * @param met "aim", "must" or "missed"
 */
public record Bounded(Spread measured, boolean most, double must, double aim, String met) {
  private static final MathContext FIVE_DIGITS = new MathContext(5);

  /** Judges a figure of which less is better. */
  public static Bounded atMost(Spread measured, double must, double aim) {
    return of(measured, true, must, aim);
  }

  /** Judges a figure of which more is better. */
  public static Bounded atLeast(Spread measured, double must, double aim) {
    return of(measured, false, must, aim);
  }

  private static Bounded of(Spread measured, boolean most, double must, double aim) {
    double median = measured.median();
    String met = within(median, most, aim) ? "aim" : within(median, most, must) ? "must" : "missed";
    return new Bounded(measured, most, must, aim, met);
  }

  private static boolean within(double median, boolean most, double limit) {
    return most ? median <= limit : median >= limit;
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

  /**
   * What to say where {@code must} is not kept to: "start of 2 nodes: 2.134 s; must be 2 at most".
   *
   * @param what was measured
   */
  public Optional<String> missed(String what, String unit) {
    return met.equals("missed")
        ? Optional.of(missed(what, measured.median(), unit, must, most))
        : Optional.empty();
  }

  /** The same for whoever judged by itself. */
  public static String missed(String what, double value, String unit, double must, boolean most) {
    return "%s: %s %s; must be %s at %s"
        .formatted(what, digits(value), unit, digits(must), most ? "most" : "least");
  }

  private static String digits(double value) {
    return Double.isFinite(value)
        ? new BigDecimal(value).round(FIVE_DIGITS).stripTrailingZeros().toPlainString()
        : String.valueOf(value);
  }
}
