package org.pmhxb.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.pmhxb.cli.bench.PacketCostReport.Line;

class PacketCostComparisonTest {
  private static PacketCostReport report(String path, double least, double median, double most) {
    return PacketCostReport.of(
        "machine", "command", List.of(line(path, least, median, most, null)), false);
  }

  private static Line line(String path, double least, double median, double most, String fault) {
    List<Double> range = List.of(least, most);
    return new Line(
        path,
        32,
        1,
        1,
        64,
        median,
        20.0,
        2.0,
        0.0,
        40.0,
        20.0,
        1.25,
        true,
        17.0,
        range,
        range,
        range,
        1_000,
        "0-0",
        fault,
        5,
        1.1,
        List.of(1.0, 1.0),
        false);
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

  @Test
  void aScenarioOfOneSideAndAVoidLineFail() {
    assertThat(compare(report("send", 1, 2, 3), report("relay", 1, 2, 3)).faults()).hasSize(2);
    PacketCostReport broken =
        PacketCostReport.of("m", "c", List.of(line("send", 1, 2, 3, "digests differ")), false);
    assertThat(compare(report("send", 1, 2, 3), broken).faults())
        .anyMatch(fault -> fault.contains("digests differ"));
    assertThat(broken.ok()).isFalse();
  }
}
