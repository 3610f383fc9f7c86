package org.pmhxb.cli.bench.paper;

import java.util.List;
import org.pmhxb.cli.bench.Spread;

/**
 * A table of the paper with our figures in it.
 *
 * @param id as in "table 4"
 * @param conditions what was measured how, for people
 */
public record PaperTable(
    String id, String title, String conditions, List<String> columns, List<Row> rows) {

  /**
   * One line of it.
   *
   * @param cells one for each column
   * @param limit what kept our figures from being more, and what the host withheld meanwhile
   */
  public record Row(String label, List<Cell> cells, String limit) {}

  /**
   * One figure and the paper's.
   *
   * @param unit of both
   * @param digits behind the point that are worth printing
   * @param ours null when it was not measured
   * @param paper null where the paper has none
   * @param withheld share of the processors that the host withheld in our runs, 0 to 1; null when
   *     it is not known
   */
  public record Cell(String unit, int digits, Spread ours, Double paper, Spread withheld) {}
}
