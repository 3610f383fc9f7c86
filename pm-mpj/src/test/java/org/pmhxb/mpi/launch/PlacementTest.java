package org.pmhxb.mpi.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.pmhxb.router.Coordinates;
import org.pmhxb.router.Shape;

class PlacementTest {
  @Property(tries = 200)
  void everyPlacementUsesEveryNodeOnce(
      @ForAll @IntRange(min = 1, max = 6) int x,
      @ForAll @IntRange(min = 1, max = 5) int y,
      @ForAll @IntRange(min = 1, max = 4) int z) {
    Shape shape = Shape.parse(x + "x" + y + "x" + z);
    for (Placement placement : Placement.values()) {
      int[] nodes = placement.nodes(shape, shape.nodes());
      assertThat(Arrays.stream(nodes).sorted().toArray())
          .isEqualTo(java.util.stream.IntStream.range(0, shape.nodes()).toArray());
    }
    int[] snake = Placement.SNAKE.nodes(shape, shape.nodes());
    for (int rank = 1; rank < snake.length; rank++) {
      Coordinates a = shape.coordinates(snake[rank - 1]);
      Coordinates b = shape.coordinates(snake[rank]);
      int apart = 0;
      for (int d = 0; d < 3; d++) {
        apart += a.get(d) == b.get(d) ? 0 : 1;
      }
      assertThat(apart).as("ranks %d and %d of %s", rank - 1, rank, shape).isEqualTo(1);
    }
  }

  @Test
  void thereAreNotMoreRanksThanNodes() {
    assertThatThrownBy(() -> Placement.LINES.nodes(Shape.parse("2x2"), 5))
        .hasMessageContaining("5 ranks")
        .hasMessageContaining("1..4");
    assertThat(Placement.describe(Shape.parse("2x2"), new int[] {0, 3}))
        .contains("rank 1    node 3    (1,1,0)  hops from rank 0: 2");
  }

  @Test
  void cardsTellWhoIsWhere() {
    Shape shape = Shape.parse("2x2");
    String a = new BusinessCard("2x2", 1, 0, 0, -1).encode();
    String b = new BusinessCard("2x2", 0, 1, 0, 7).encode();
    assertThat(BusinessCard.nodeOfRank(new String[] {a, b}, shape)).containsExactly(1, 2);
    assertThat(BusinessCard.decode(a)).isEqualTo(new BusinessCard("2x2", 1, 0, 0, -1));
    assertThatThrownBy(() -> BusinessCard.nodeOfRank(new String[] {a, a}, shape))
        .hasMessageContaining("ranks 0 and 1 are both at node 1");
    assertThatThrownBy(() -> BusinessCard.nodeOfRank(new String[] {a, b}, Shape.parse("4")))
        .hasMessageContaining("2x2");
    assertThatThrownBy(() -> BusinessCard.decode("nonsense")).hasMessageContaining("nonsense");
  }
}
