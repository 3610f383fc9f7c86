package org.pmhxb.cli.bench.paper;

import java.util.List;

/**
 * A plot of the paper with our curves in it.
 *
 * @param id as in "figure-3"; the name of its files
 */
public record PaperFigure(String id, String title, List<Curve> curves) {
  /**
   * Bandwidth by message size.
   *
   * @param pair number that our curve and the paper's of the same case share
   * @param paper whether it is the paper's
   * @param sizesBytes of the messages
   * @param megabytesPerSecond medians
   * @param least of a point's runs, MB/s; null of the paper's
   * @param most of a point's runs, MB/s; null of the paper's
   * @param withheld share of the processors that the host withheld, the worst of a point's runs, 0
   *     to 1; null of the paper's, and when it is not known of every point
   */
  public record Curve(
      String label,
      int pair,
      boolean paper,
      List<Integer> sizesBytes,
      List<Double> megabytesPerSecond,
      List<Double> least,
      List<Double> most,
      List<Double> withheld) {}
}
