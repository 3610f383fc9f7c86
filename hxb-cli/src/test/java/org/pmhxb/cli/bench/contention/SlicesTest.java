package org.pmhxb.cli.bench.contention;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SlicesTest {
  private static final List<ContentionCase> RATES =
      ContentionCase.all().stream().filter(ContentionCase::isRate).toList();

  @Test
  void inSixRoundsThreeCasesHaveEachOrderOnce() {
    Map<List<ContentionCase>, Integer> orders = new HashMap<>();
    for (int round = -Slices.SETTLING_ROUNDS; round < 120; round++) {
      List<ContentionCase> order = Slices.order(RATES, round);
      assertThat(order).containsExactlyInAnyOrderElementsOf(RATES);
      orders.merge(order, 1, Integer::sum);
    }

    int each = (Slices.SETTLING_ROUNDS + 120) / 6;
    assertThat(orders).hasSize(6);
    assertThat(orders.values()).containsOnly(each);
  }

  @Test
  void twoCasesBeginInTurn() {
    List<ContentionCase> two = RATES.subList(0, 2);

    assertThat(Slices.order(two, 0)).isEqualTo(two);
    assertThat(Slices.order(two, 1)).isEqualTo(two.reversed());
    assertThat(Slices.order(two.subList(0, 1), 7)).isEqualTo(two.subList(0, 1));
  }
}
