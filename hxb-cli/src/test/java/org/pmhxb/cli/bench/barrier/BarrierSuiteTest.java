package org.pmhxb.cli.bench.barrier;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.pmhxb.collectives.barrier.plan.BarrierAlgorithm;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.router.Shape;

/** What is not measured, because it is what was measured already. */
class BarrierSuiteTest {
  private static List<String> all(String shape, int rails) {
    return BarrierSuite.all(Shape.parse(shape), rails).stream().map(BarrierSpec::toString).toList();
  }

  /** Nobody has two to send to, or two that send to it. */
  @Test
  void betweenTwoNodesNothingButTheAlgorithmMakesADifference() {
    assertThat(all("2", 2))
        .hasSize(BarrierAlgorithm.values().length)
        .noneMatch(s -> s.contains("/r"));
  }

  @Test
  void severalRailsMakeOneWhereFramesMeet() {
    assertThat(all("8", 2))
        .contains("dissemination/r2", "concurrent/r2", "exchange/r2", "concurrent/unicast")
        .doesNotContain("dissemination/unicast");
    assertThat(all("8", 1)).noneMatch(s -> s.contains("/r"));
  }
}
