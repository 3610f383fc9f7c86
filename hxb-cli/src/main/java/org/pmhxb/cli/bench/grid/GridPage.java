package org.pmhxb.cli.bench.grid;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.pmhxb.collectives.Collective;

/** Writes the outcome as a Markdown page. */
final class GridPage {
  /** Differences below this are none. */
  private static final double NOTABLE = 1.05;

  private final List<GridPoint> points;
  private final StringBuilder page = new StringBuilder();

  private GridPage(List<GridPoint> points) {
    this.points = points;
  }

  static String of(GridReport report) {
    GridPage page = new GridPage(report.points());
    page.head(report);
    for (String operation :
        report.points().stream().map(GridPoint::operation).distinct().toList()) {
      page.operation(operation);
    }
    page.losses();
    page.choices();
    return page.page.toString();
  }

  private void head(GridReport report) {
    page.append("# Two clusters and a bottleneck\n\n");
    page.append(
        """
        The experiment of Matsuda et al., *Performance Evaluation of the GridMPI*, in the simulator: 16 nodes on two switches of eight,
        which 4 links join (4), or 1 link (1), or 1 link with 1 ms more each way (d). All links carry 1 Gbit/s and add 10 us; a switch queues
        256 KB towards each; a node's frames always take the same of the 4 links. Nodes run the production classes with frames of 8,000 B, one rail, a window of 1 MB
        between two members; they know by `PmNode.longWay` how much longer the way to the other cluster is. Ranks 0 to 7 are the one cluster, 8 to 15 the other;
        and once more over 1 link with ranks from the two in turn (1i), because what a tree that knows nothing of clusters costs hangs on that.

        """);
    page.append("- Command: `").append(report.command()).append("`, ");
    page.append(String.format(Locale.ROOT, "%.0f s%n", report.seconds()));
    page.append("- Machine: ").append(report.machine().line()).append('\n');
    page.append(
        String.format(
            "- All ranks begin at once and are done when the last is; 2 operations to warm up,"
                + " median of %d measured, virtual time. Every byte of every result was checked.%n",
            GridRun.REPEATS));
    page.append(
        """
        - Bandwidth as in the paper: point-to-point what arrives; alltoall what one rank sends to all others; broadcast and reduction the message's length times 16.
        - *pairwise*, *binomial*, *chain* and *binomial-growing* know nothing of clusters; the last is the paper's tree, whose distances grow, so that 8 messages cross in the last step.
          *cluster-...* cross once. **Bold**: what the registry chooses by its model of this network (where it is shown).
        """);
    report.failures().forEach(f -> page.append("- **Failed**: ").append(f).append('\n'));
    page.append('\n');
  }

  private void operation(String operation) {
    List<GridPoint> its = points.stream().filter(p -> p.operation().equals(operation)).toList();
    page.append("## ").append(operation).append("\n\nMB/s.\n\n| B |");
    List<String> columns = new ArrayList<>();
    for (String algorithm : its.stream().map(GridPoint::algorithm).distinct().toList()) {
      for (GridNetwork network : GridNetwork.values()) {
        columns.add(algorithm + " (" + network.letter() + ")");
      }
    }
    columns.forEach(c -> page.append(' ').append(c).append(" |"));
    page.append("\n|---:|").append("---:|".repeat(columns.size())).append('\n');
    for (int bytes : its.stream().map(GridPoint::bytes).distinct().sorted().toList()) {
      page.append("| ").append(String.format(Locale.ROOT, "%,d", bytes)).append(" |");
      for (String column : columns) {
        String cell =
            its.stream()
                .filter(p -> p.bytes() == bytes)
                .filter(p -> column.equals(p.algorithm() + " (" + p.network() + ")"))
                .map(GridPage::cell)
                .findFirst()
                .orElse("-");
        page.append(' ').append(cell).append(" |");
      }
      page.append('\n');
    }
    page.append(
        String.format(
            "%n![bandwidth of %s against size](grid/%s.svg)%n%n",
            operation, GridPlots.id(operation)));
  }

  private static String cell(GridPoint p) {
    String text =
        String.format(
            Locale.ROOT, p.megabytesPerSecond() < 10 ? "%.2f" : "%.1f", p.megabytesPerSecond());
    return p.chosen() ? "**" + text + "**" : text;
  }

  private Optional<GridPoint> best(GridPoint like, boolean aware) {
    return points.stream()
        .filter(p -> p.operation().equals(like.operation()) && p.bytes() == like.bytes())
        .filter(p -> p.network().equals(like.network()) && p.aware() == aware)
        .max(Comparator.comparingDouble(GridPoint::megabytesPerSecond));
  }

  /** Where the best that knows of clusters is slower than the best that does not. */
  private void losses() {
    page.append("## Where knowing of clusters loses\n\n");
    page.append(
        "Of each operation, network and length the best of each kind, where that differs by 5 % or"
            + " more.\n\n");
    int cases = 0;
    int wins = 0;
    List<String> lines = new ArrayList<>();
    for (GridPoint p : points) {
      Optional<GridPoint> aware = best(p, true);
      if (aware.isEmpty() || aware.get() != p) {
        continue;
      }
      GridPoint blind = best(p, false).orElseThrow();
      cases++;
      wins += p.megabytesPerSecond() > NOTABLE * blind.megabytesPerSecond() ? 1 : 0;
      if (blind.megabytesPerSecond() > NOTABLE * p.megabytesPerSecond()) {
        lines.add(
            String.format(
                Locale.ROOT,
                "- %s (%s), %,d B: *%s* %.1f MB/s, *%s* %.1f MB/s%n",
                p.operation(),
                p.network(),
                p.bytes(),
                blind.algorithm(),
                blind.megabytesPerSecond(),
                p.algorithm(),
                p.megabytesPerSecond()));
      }
    }
    lines.forEach(page::append);
    page.append(
        String.format(
            "%s%d of %d cases are lost, %d won, the others equal.%n",
            lines.isEmpty() ? "" : "\n", lines.size(), cases, wins));
    page.append(oneNode());
  }

  /** The paper's finding of section 3.4, measured. */
  private String oneNode() {
    int lost = 0;
    int cases = 0;
    double worst = 1;
    for (GridPoint p : points) {
      if (p.operation().equals(Collective.ALLTOALL.toString())
          && p.algorithm().equals("cluster-one")) {
        GridPoint blind = best(p, false).orElseThrow();
        cases++;
        double ratio = blind.megabytesPerSecond() / p.megabytesPerSecond();
        lost += ratio > 1 ? 1 : 0;
        worst = Math.max(worst, ratio);
      }
    }
    return String.format(
        Locale.ROOT,
        """

        Collecting an alltoall's blocks at *one* node of each cluster, as IMPI does with short ones, loses against sending them directly in %d of %d cases,
        by up to %.1f times. *cluster* collects at each node what goes to its counterpart, so every node carries a share and one message crosses where eight would.

        """,
        lost,
        cases,
        worst);
  }

  private void choices() {
    int cases = 0;
    int good = 0;
    double worst = 1;
    for (GridPoint p : points) {
      if (p.chosen()) {
        double best =
            Math.max(
                best(p, true).map(GridPoint::megabytesPerSecond).orElse(0.0),
                best(p, false).map(GridPoint::megabytesPerSecond).orElse(0.0));
        cases++;
        good += p.megabytesPerSecond() * 1.1 >= best ? 1 : 0;
        worst = Math.max(worst, best / p.megabytesPerSecond());
      }
    }
    page.append("## What the model chooses\n\n");
    page.append(
        String.format(
            Locale.ROOT,
            "Of %d cases in which the choice is among the algorithms shown, it is within 10 %% of"
                + " the best shown in %d; at worst it is %.1f times slower.%n",
            cases,
            good,
            worst));
  }
}
