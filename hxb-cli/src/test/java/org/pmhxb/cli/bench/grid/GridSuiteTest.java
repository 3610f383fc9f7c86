package org.pmhxb.cli.bench.grid;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.bench.ResultFiles;
import org.pmhxb.collectives.Collective;

class GridSuiteTest {
  private static GridPoint measured(Collective what, String algorithm, GridNetwork n, int bytes) {
    return GridRun.measure(
        new GridCase(what, algorithm, algorithm.startsWith("cluster"), n, bytes));
  }

  @Test
  void theTreeThatKnowsNothingPaysForOneLinkAndTheOneThatCrossesOnceDoesNot() {
    GridPoint blind4 =
        measured(Collective.BROADCAST, GrowingBinomial.NAME, GridNetwork.FOUR_LINKS, 65_536);
    GridPoint blind1 =
        measured(Collective.BROADCAST, GrowingBinomial.NAME, GridNetwork.ONE_LINK, 65_536);
    GridPoint aware4 =
        measured(Collective.BROADCAST, "cluster-tree", GridNetwork.FOUR_LINKS, 65_536);
    GridPoint aware1 = measured(Collective.BROADCAST, "cluster-tree", GridNetwork.ONE_LINK, 65_536);

    assertThat(blind1.megabytesPerSecond()).isLessThan(0.8 * blind4.megabytesPerSecond());
    assertThat(aware1.megabytesPerSecond()).isGreaterThan(0.95 * aware4.megabytesPerSecond());
    assertThat(measured(Collective.BROADCAST, "cluster-tree", GridNetwork.ONE_LINK, 65_536))
        .as("virtual time: the same again")
        .usingRecursiveComparison()
        .isEqualTo(aware1);
  }

  /** Short messages take the most events of a simulation, which counts them to find a livelock. */
  @Test
  void everyCaseOfShortMessagesEnds() {
    List<GridCase> cases = GridCase.all(true).stream().filter(c -> c.bytes() < 4_096).toList();
    assertThat(cases).hasSizeGreaterThan(40);
    for (GridCase one : cases) {
      assertThat(GridRun.measure(one).megabytesPerSecond()).as(one.toString()).isPositive();
    }
  }

  @Test
  void aStreamFillsADelayedLink() {
    GridPoint near = measured(null, "stream", GridNetwork.ONE_LINK, 262_144);
    GridPoint far = measured(null, "stream", GridNetwork.DELAYED, 262_144);

    assertThat(near.megabytesPerSecond()).isBetween(115.0, 125.0);
    assertThat(far.megabytesPerSecond()).isGreaterThan(0.8 * near.megabytesPerSecond());
  }

  @Test
  void thePageSaysWhereKnowingOfClustersLoses() {
    List<GridPoint> points =
        List.of(
            point("alltoall", "pairwise", false, 100),
            point("alltoall", "cluster", true, 50),
            point("alltoall", "cluster-one", true, 20));

    String page = GridPage.of(report(points));

    assertThat(page)
        .contains("- alltoall (4), 64 B: *pairwise* 100.0 MB/s, *cluster* 50.0 MB/s")
        .contains("1 of 1 cases are lost, 0 won")
        .contains("by up to 5.0 times");
  }

  @Test
  void theLettersOfTheTableAreExplained() {
    StringWriter text = new StringWriter();
    report(List.of(point("alltoall", "pairwise", false, 100))).print(new PrintWriter(text, true));

    for (GridNetwork network : GridNetwork.values()) {
      assertThat(text.toString()).contains(network.letter() + " " + network.explanation());
    }
  }

  private static GridReport report(List<GridPoint> points) {
    return new GridReport(
        true,
        "hxb bench grid",
        1,
        MachineInfo.here("test"),
        true,
        new ResultFiles(Path.of("."), Path.of(".")),
        points,
        List.of());
  }

  private static GridPoint point(String what, String algorithm, boolean aware, double rate) {
    return new GridPoint(
        what, algorithm, aware, "4", 64, algorithm.equals("cluster"), new double[] {1, 1, 1}, rate);
  }
}
