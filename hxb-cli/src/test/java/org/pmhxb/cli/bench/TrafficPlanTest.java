package org.pmhxb.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.pmhxb.cli.workload.WorkloadSpec;
import org.pmhxb.router.Shape;

class TrafficPlanTest {
  private static Map<Integer, WorkloadSpec> specs(TrafficPlan plan) {
    return plan.specs(1, 64, 0, 1_000, 0, 0);
  }

  @Test
  void aPairWithRelaysDiffersInAsManyCoordinates() {
    Shape shape = Shape.of(2, 1, 3);

    assertThat(TrafficPlan.pair(BenchKind.BANDWIDTH, shape, 2, 0, false).destinations())
        .isEqualTo(Map.of(0, Set.of(1), 1, Set.of()));
    assertThat(TrafficPlan.pair(BenchKind.BANDWIDTH, shape, 2, 1, false).destinations())
        .isEqualTo(Map.of(0, Set.of(3), 3, Set.of()));
    assertThatThrownBy(() -> TrafficPlan.pair(BenchKind.BANDWIDTH, shape, 2, 2, false))
        .hasMessageContaining("--relays 2")
        .hasMessageContaining("3 coordinates")
        .hasMessageContaining("2x1x3");
  }

  @Test
  void aStarHasOneNeighbourInEachDimension() {
    Shape shape = Shape.of(2, 2, 2);

    TrafficPlan both = TrafficPlan.star(shape, 2, 3, TrafficPlan.Star.BOTH);
    assertThat(both.destinations())
        .isEqualTo(Map.of(0, Set.of(1, 2, 4), 1, Set.of(0), 2, Set.of(0), 4, Set.of(0)));
    assertThat(both.links()).isEqualTo(12);
    assertThat(both.linksPerNode()).isEqualTo(6);
    TrafficPlan send = TrafficPlan.star(shape, 2, 2, TrafficPlan.Star.SEND);
    assertThat(send.destinations()).isEqualTo(Map.of(0, Set.of(1, 2), 1, Set.of(), 2, Set.of()));
    assertThat(send.links()).isEqualTo(4);
    TrafficPlan receive = TrafficPlan.star(shape, 2, 1, TrafficPlan.Star.RECEIVE);
    assertThat(receive.destinations()).isEqualTo(Map.of(0, Set.of(), 1, Set.of(0)));
    assertThatThrownBy(() -> TrafficPlan.star(Shape.of(2, 1, 2), 2, 2, TrafficPlan.Star.SEND))
        .hasMessageContaining("2 dimensions")
        .hasMessageContaining("2x1x2");
  }

  @Test
  void bothWaysUseTwiceTheLinks() {
    TrafficPlan one = TrafficPlan.pair(BenchKind.BANDWIDTH, Shape.of(2), 4, 0, false);
    TrafficPlan both = TrafficPlan.pair(BenchKind.BANDWIDTH, Shape.of(2), 4, 0, true);

    assertThat(one.links()).isEqualTo(4);
    assertThat(both.links()).isEqualTo(8);
    assertThat(both.linksPerNode()).isEqualTo(4);
    assertThat(specs(one).get(0).sources()).isEmpty();
    assertThat(specs(both).get(0).sources()).containsExactly(1);
  }

  @Test
  void latencyHasOneSideThatAsksAndOneThatAnswers() {
    Map<Integer, WorkloadSpec> specs =
        specs(TrafficPlan.pair(BenchKind.LATENCY, Shape.of(2, 2), 1, 1, false));

    assertThat(specs.get(0).kind()).isEqualTo(WorkloadSpec.Kind.PING);
    assertThat(specs.get(3).kind()).isEqualTo(WorkloadSpec.Kind.PONG);
    assertThat(specs.get(3).destinations()).containsExactly(0);
  }

  @Test
  void eightNodesExchangeWithThreeNeighboursEachOverAllFortyEightDirectedLinks() {
    TrafficPlan plan = TrafficPlan.exchange(Shape.of(2, 2, 2), 2, Set.of());

    assertThat(plan.links()).isEqualTo(48);
    assertThat(plan.linksPerNode()).isEqualTo(6);
    assertThat(plan.destinations().get(5)).containsExactly(1, 4, 7);
  }

  @Test
  void anExchangeGoesOnWithoutTheNodesThatAreAbsent() {
    TrafficPlan plan = TrafficPlan.exchange(Shape.of(2, 2, 2), 2, Set.of(5));

    assertThat(plan.destinations()).doesNotContainKey(5);
    assertThat(plan.destinations().get(7)).containsExactly(3, 6);
    assertThat(plan.links()).isEqualTo(48 - 2 * 3 * 2);
    assertThat(TrafficPlan.exchange(Shape.of(3), 4, Set.of(2)).links()).isEqualTo(8);
  }

  @Property(tries = 200)
  void everyExchangeIsMutualAndBetweenNeighbours(
      @ForAll @IntRange(min = 1, max = 5) int x,
      @ForAll @IntRange(min = 1, max = 4) int y,
      @ForAll @IntRange(min = 1, max = 4) int z) {
    Shape shape = Shape.of(x, y, z);

    Map<Integer, WorkloadSpec> specs = specs(TrafficPlan.exchange(shape, 1, Set.of()));

    specs.forEach(
        (node, spec) -> {
          assertThat(spec.destinations())
              .doesNotHaveDuplicates()
              .allMatch(other -> shape.hops(node, other) == 1);
          assertThat(spec.sources()).containsExactlyInAnyOrderElementsOf(spec.destinations());
        });
  }

  @Test
  void anIncastIsBoundByTheLinksOfTheOne() {
    TrafficPlan plan = TrafficPlan.incast(Shape.of(2, 2, 2), 2);

    assertThat(plan.links()).isEqualTo(6);
    assertThat(specs(plan).get(0).sources()).containsExactly(1, 2, 3, 4, 5, 6, 7);
    assertThat(specs(plan).get(5).destinations()).containsExactly(0);
    assertThat(TrafficPlan.incast(Shape.of(8), 1).links()).isEqualTo(1);
    assertThatThrownBy(() -> TrafficPlan.incast(Shape.of(1), 1))
        .hasMessageContaining("--shape is 1; an incast needs 2 nodes or more");
  }

  @Property(tries = 200)
  void allToAllIsBoundByTheLinksThatItsMessagesCross(
      @ForAll @IntRange(min = 2, max = 5) int x,
      @ForAll @IntRange(min = 1, max = 4) int y,
      @ForAll @IntRange(min = 1, max = 4) int z) {
    Shape shape = Shape.of(x, y, z);
    TrafficPlan plan = TrafficPlan.allToAll(shape, 2);

    int[] crossed = new int[3];
    int messages = 0;
    for (Map.Entry<Integer, WorkloadSpec> entry : specs(plan).entrySet()) {
      for (int dst : entry.getValue().destinations()) {
        messages++;
        for (int d = 0; d < 3; d++) {
          int src = entry.getKey();
          crossed[d] += shape.coordinates(src).get(d) == shape.coordinates(dst).get(d) ? 0 : 1;
        }
      }
    }
    assertThat(messages).isEqualTo(shape.nodes() * (shape.nodes() - 1));
    // The busiest dimension's links all full: so many links' worth of messages arrive.
    int busiest = Math.max(crossed[0], Math.max(crossed[1], crossed[2]));
    assertThat(plan.links()).isEqualTo(Math.ceilDiv(2 * shape.nodes() * messages, busiest));
  }
}
