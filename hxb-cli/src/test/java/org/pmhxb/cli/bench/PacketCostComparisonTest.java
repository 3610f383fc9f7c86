package org.pmhxb.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.pmhxb.cli.bench.PacketCostReport.Line;

class PacketCostComparisonTest {
  private static PacketCostReport report(String path, double least, double median, double most) {
    return of(line(path, least, median, most, null));
  }

  private static PacketCostReport of(Line line) {
    return PacketCostReport.of("machine", "command", "2026-01-02T03:04:05Z", 1, List.of(line));
  }

  private static Line line(String path, double least, double median, double most, String fault) {
    return PacketCostLines.line(
        path, 1, median, List.of(least, most), fault, 1.1, List.of(1.0, 1.0), false);
  }

  private static PacketCostComparison compare(PacketCostReport base, PacketCostReport with) {
    return PacketCostComparison.of(List.of(base), List.of(with), 0.05);
  }

  @Test
  void whatIsSlowerBeyondNoiseAndThresholdIsARegression() {
    PacketCostComparison c = compare(report("send", 39, 40, 41), report("send", 43, 44, 45));

    assertThat(c.ok()).isFalse();
    assertThat(c.results().getFirst().regression()).isTrue();
    assertThat(c.results().getFirst().ratio()).isEqualTo(1.1);
  }

  @Test
  void whatOverlapsIsNoise() {
    PacketCostComparison c = compare(report("send", 39, 40, 45), report("send", 43, 44, 45));

    assertThat(c.ok()).isTrue();
    assertThat(c.results().getFirst().moved()).isFalse();
  }

  @Test
  void whatMovedByLessThanTheThresholdIsNone() {
    PacketCostComparison c = compare(report("send", 39, 40, 40), report("send", 41, 41, 42));

    assertThat(c.ok()).isTrue();
    assertThat(c.results().getFirst().moved()).isTrue();
  }

  /** Of an even number of runs neither the better nor the worse decides. */
  @Test
  void theMedianOfTwoRunsLiesBetweenThem() {
    PacketCostComparison c =
        PacketCostComparison.of(
            List.of(report("send", 39, 40, 41), report("send", 43, 44, 45)),
            List.of(report("send", 45.5, 46, 46.5)),
            0.05);

    assertThat(c.results().getFirst().baseNs()).containsExactly(39.0, 42.0, 45.0);
    assertThat(c.results().getFirst().regression()).isTrue();
  }

  private static List<PacketCostReport> runs(double... medians) {
    return Arrays.stream(medians).mapToObj(m -> report("send", m - 5, m, m + 20)).toList();
  }

  /** A round that the machine slowed down hides no regression. */
  @Test
  void ofThreeRunsEachTheMediansAreToldApart() {
    PacketCostComparison slower =
        PacketCostComparison.of(runs(40, 40.5, 39.5), runs(44, 43, 43.5), 0.05);
    assertThat(slower.results().getFirst().byRuns()).isTrue();
    assertThat(slower.results().getFirst().regression()).isTrue();
    assertThat(slower.results().getFirst().newNs()).containsExactly(43.0, 43.5, 44.0);
    assertThat(slower.ok()).isFalse();

    PacketCostComparison oneAlike =
        PacketCostComparison.of(runs(40, 40.5, 43.2), runs(44, 43, 43.5), 0.05);
    assertThat(oneAlike.results().getFirst().moved()).as("43 and 43.2 touch").isFalse();

    PacketCostComparison few = PacketCostComparison.of(runs(40, 40.5), runs(44, 43, 43.5), 0.05);
    assertThat(few.results().getFirst().byRuns()).isFalse();
    assertThat(few.results().getFirst().moved()).as("rounds touch").isFalse();
  }

  /** Of these the machine's speed decides: three that met it slow are no slower than three fast. */
  @Test
  void runsThatMetTheMachineSlowDoNotCount() {
    List<PacketCostReport> slow =
        Stream.of(60.0, 61.0, 62.0)
            .map(
                m ->
                    of(
                        PacketCostLines.line(
                            "send", 1, m, List.of(39.0, 70.0), null, 1.9, List.of(0.1, 0.1), true)))
            .toList();
    PacketCostComparison c = PacketCostComparison.of(runs(40, 40.5, 39.5), slow, 0.05);
    assertThat(c.results().getFirst().byRuns()).isFalse();
    assertThat(c.results().getFirst().moved()).as("rounds touch").isFalse();

    List<PacketCostReport> mixed = new ArrayList<>(slow);
    mixed.addAll(runs(40.2, 40.6, 41));
    c = PacketCostComparison.of(runs(40, 40.5, 39.5), mixed, 0.05);
    assertThat(c.results().getFirst().byRuns()).isTrue();
    assertThat(c.results().getFirst().newNs()).containsExactly(40.2, 40.6, 41.0);
  }

  @Test
  void aScenarioOfOneSideAndAVoidLineFail() {
    assertThat(compare(report("send", 1, 2, 3), report("relay", 1, 2, 3)).faults()).hasSize(2);
    PacketCostReport broken = of(line("send", 1, 2, 3, "digests differ"));
    assertThat(compare(report("send", 1, 2, 3), broken).faults())
        .anyMatch(fault -> fault.contains("digests differ"));
    assertThat(broken.ok()).isFalse();
  }
}
