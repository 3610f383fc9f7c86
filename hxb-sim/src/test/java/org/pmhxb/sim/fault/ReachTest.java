package org.pmhxb.sim.fault;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.pmhxb.router.Shape;

class ReachTest {
  private final Reach cube = new Reach(Shape.of(2, 2, 2), 2);

  @Test
  void oneOrderOfSixIsEnough() {
    // From 0 to 7 X-Y-Z turns at 1 and 3; the four others are the relays of the other orders.
    for (int dead : new int[] {2, 4, 5, 6}) {
      cube.without(dead);
      assertThat(cube.isJoined(0, 7)).isTrue();
      assertThat(cube.isJoined(7, 0)).as("over the same relays").isTrue();
    }
    cube.without(3);
    assertThat(cube.isJoined(0, 7)).isFalse();
    assertThat(cube.isJoined(0, 1)).as("neighbours need no relay").isTrue();
    assertThat(cube.isJoined(0, 3)).as("the end is dead").isFalse();
  }

  @Test
  void aLineIsDeadWhenAllItsRailsAre() {
    cube.withoutLinks(Fault.parse("cut@0.x0:1ms+9s"));
    assertThat(cube.isJoined(0, 1)).isTrue();
    cube.withoutLinks(Fault.parse("cut@1.x1:1ms+9s"));
    assertThat(cube.isJoined(0, 1)).isFalse();
    assertThat(cube.isJoined(0, 3)).as("the other order").isTrue();
  }

  @Test
  void oneDirectionIsNotEnough() {
    cube.withoutLinks(Fault.parse("cut-tx@0.x*:1ms+9s"));
    assertThat(cube.isJoined(0, 1)).isFalse();
    assertThat(cube.isJoined(1, 0)).isFalse();
    assertThat(cube.isJoined(0, 3)).as("out by Y, back by either").isTrue();
    cube.withoutLinks(Fault.parse("cut-rx@3.x*:1ms+9s"));
    assertThat(cube.isJoined(0, 3)).as("in by X is what was left").isFalse();
  }

  @Test
  void aPartitionPartsItsSidesOnly() {
    cube.withoutLinks(Fault.parse("partition@*.z*:1ms+9s:amount=1"));
    assertThat(cube.isJoined(0, 3)).isTrue();
    assertThat(cube.isJoined(3, 7)).isFalse();
  }
}
