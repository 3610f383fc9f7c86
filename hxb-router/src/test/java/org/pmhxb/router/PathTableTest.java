package org.pmhxb.router;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PathTableTest {
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9})
  void candidatesUseEveryRailOfEveryHopEquallyOften(int rails) {
    for (int hops = 1; hops < 8; hops++) {
      int[] row = PathTable.rows(rails)[hops];
      assertThat(row.length).isBetween(rails, PathTable.MAX_CANDIDATES);
      assertThat(Arrays.stream(row).distinct().count()).isEqualTo(row.length);
      for (int d = 0; d < Dimension.COUNT; d++) {
        int[] uses = new int[16];
        for (int path : row) {
          uses[PathCode.railIndex(path, d)]++;
        }
        boolean hop = (hops >> d & 1) != 0;
        for (int i = 0; i < rails; i++) {
          assertThat(uses[i]).isEqualTo(hop ? row.length / rails : i == 0 ? row.length : 0);
        }
      }
    }
  }

  @Test
  void upToTwoRailsAllCombinationsAreThere() {
    assertThat(PathTable.rows(2)[7]).hasSize(8);
    assertThat(PathTable.rows(2)[5]).hasSize(4);
    assertThat(PathTable.rows(1)[7]).containsExactly(0);
  }

  @Test
  void withThreeRailsAnyTwoDimensionsMeetInEveryPair() {
    int[] row = PathTable.rows(3)[7];
    assertThat(row).hasSize(9);
    for (int a = 0; a < 3; a++) {
      for (int b = a + 1; b < 3; b++) {
        Set<Integer> pairs = new HashSet<>();
        for (int path : row) {
          pairs.add(PathCode.railIndex(path, a) * 3 + PathCode.railIndex(path, b));
        }
        assertThat(pairs).hasSize(9);
      }
    }
  }

  @Test
  void noHopsNoPaths() {
    for (int rails = 1; rails <= 9; rails++) {
      assertThat(PathTable.rows(rails)[0]).isEmpty();
    }
  }

  @Test
  void codeHoldsOrderAndRails() {
    int path = PathCode.of(5, 8, 0, 3);
    assertThat(path).isEqualTo(0xA000_0803);
    assertThat(PathCode.order(path)).isEqualTo(5);
    assertThat(PathCode.railIndex(path, 0)).isEqualTo(8);
    assertThat(PathCode.railIndex(path, 1)).isZero();
    assertThat(PathCode.railIndex(path, 2)).isEqualTo(3);
    assertThat(PathCode.format(path)).isEqualTo("zyx:8,0,3");
    assertThat(PathCode.format(0xE000_0000)).isEqualTo("order 7:0,0,0");
  }

  @Test
  void relayStepsFollowTheOrder() {
    // X and Z to go in order ZXY: the relay after Z goes on in X.
    assertThat(PathCode.step(4, 0b101, 0b001)).isEqualTo(2 << 2);
    // After X with Z still to go is no place of that path.
    assertThat(PathCode.step(4, 0b101, 0b100)).isEqualTo(-1);
    // Nothing travelled yet, nothing left, or a dimension that the path does not travel.
    assertThat(PathCode.step(0, 0b101, 0b101)).isEqualTo(-1);
    assertThat(PathCode.step(0, 0b101, 0)).isEqualTo(-1);
    assertThat(PathCode.step(0, 0b101, 0b010)).isEqualTo(-1);
  }

  @Test
  void detoursTakeEveryOtherOrderOverEveryRail() {
    for (int rails = 1; rails <= 9; rails++) {
      for (int hops = 1; hops < 8; hops++) {
        int[] first = PathTable.rows(rails)[hops];
        int[] all = PathTable.withDetours(rails)[hops];
        assertThat(all).startsWith(first).doesNotHaveDuplicates().hasSizeLessThanOrEqualTo(64);
        int orders = new int[] {0, 1, 2, 6}[Integer.bitCount(hops)];
        assertThat(all).hasSize(first.length + (orders - 1) * rails);
        Set<String> ways = new HashSet<>();
        for (int i = first.length; i < all.length; i++) {
          ways.add(way(PathCode.order(all[i]), hops));
        }
        ways.add(way(0, hops));
        assertThat(ways).hasSize(orders);
      }
    }
  }

  /** Dimensions in the order in which they are travelled. */
  private static String way(int order, int hops) {
    StringBuilder way = new StringBuilder();
    for (int place = 0; place < Dimension.COUNT; place++) {
      int d = PathCode.dimension(order, place);
      way.append((hops >> d & 1) != 0 ? Dimension.of(d) : "");
    }
    return way.toString();
  }
}
