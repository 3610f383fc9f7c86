package org.pmhxb.pm.port;

import java.util.HashSet;
import java.util.Locale;
import java.util.Set;

/**
 * What a {@link FaultyPort} does to the frames it receives.
 *
 * @param loss probability that a frame vanishes, 0 to 0.5
 * @param duplicate that it comes again a little later
 * @param reorder that frames behind it come first
 * @param corrupt that one of its bits flips
 * @param seed of the choices; each port adds its number
 */
public record PortFaults(double loss, double duplicate, double reorder, double corrupt, long seed) {
  /** A port that does what it should. */
  public static final PortFaults NONE = new PortFaults(0, 0, 0, 0, 1);

  private static final double MOST = 0.5;

  /** Refuses what is no probability. */
  public PortFaults {
    check("loss", loss);
    check("duplicate", duplicate);
    check("reorder", reorder);
    check("corrupt", corrupt);
  }

  private static void check(String name, double value) {
    if (!(value >= 0 && value <= MOST)) {
      throw new IllegalArgumentException(name + " is " + value + "; must be 0 to " + MOST);
    }
  }

  boolean isNone() {
    return loss == 0 && duplicate == 0 && reorder == 0 && corrupt == 0;
  }

  /**
   * Reads {@code loss=0.01,reorder=0.1,duplicate=0.01,corrupt=0.001,seed=7}, any of them; an empty
   * text is {@link #NONE}.
   *
   * @throws IllegalArgumentException naming the part, its range and what there is
   */
  public static PortFaults parse(String text) {
    double loss = 0;
    double duplicate = 0;
    double reorder = 0;
    double corrupt = 0;
    long seed = 1;
    Set<String> names = new HashSet<>();
    for (String part : text.isBlank() ? new String[0] : text.split(",", -1)) {
      String[] pair = part.strip().split("=", 2);
      String value = pair.length < 2 ? "" : pair[1];
      if (!names.add(pair[0])) {
        throw new IllegalArgumentException("\"" + part + "\" is given twice; once is enough");
      }
      switch (pair[0]) {
        case "loss" -> loss = number(part, value);
        case "duplicate" -> duplicate = number(part, value);
        case "reorder" -> reorder = number(part, value);
        case "corrupt" -> corrupt = number(part, value);
        case "seed" -> seed = seed(part, value);
        default ->
            throw new IllegalArgumentException(
                "\"" + part + "\" is none of loss, duplicate, reorder, corrupt, seed");
      }
    }
    return new PortFaults(loss, duplicate, reorder, corrupt, seed);
  }

  private static double number(String part, String value) {
    try {
      return Double.parseDouble(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "\"" + part + "\" has no number; write it as in loss=0.01", e);
    }
  }

  /** By way of a fraction it would be another one from 2^53 on. */
  private static long seed(String part, String value) {
    try {
      return Long.parseLong(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "\"" + part + "\" has no whole number; write it as in seed=7", e);
    }
  }

  /** As {@link #parse} reads it. */
  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "loss=%s,duplicate=%s,reorder=%s,corrupt=%s,seed=%d",
        loss,
        duplicate,
        reorder,
        corrupt,
        seed);
  }
}
