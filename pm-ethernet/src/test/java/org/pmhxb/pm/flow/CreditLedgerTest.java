package org.pmhxb.pm.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** The sum rule (PROTOCOL.md section 6). */
class CreditLedgerTest {
  @Property(seed = "36")
  void theSumIsNeverExceeded(
      @ForAll @IntRange(min = 1, max = 5_000) int budget,
      @ForAll @IntRange(min = 1, max = 300) int lanes,
      @ForAll @IntRange(min = 1, max = 300) int largest,
      @ForAll @Size(max = 400) List<Boolean> grants) {
    CreditLedger ledger = new CreditLedger(budget, lanes, largest);
    Deque<Integer> given = new ArrayDeque<>();
    int sum = 0;
    for (boolean grant : grants) {
      if (grant) {
        int got = ledger.grant();
        assertThat(got).isBetween(0, largest);
        assertThat(got == 0).as("refused only when used up").isEqualTo(sum == budget);
        sum += got;
        given.add(got);
      } else if (!given.isEmpty()) {
        int back = given.poll();
        ledger.giveBack(back);
        sum -= back;
      }
      assertThat(ledger.outstanding()).isEqualTo(sum).isBetween(0, budget);
    }
  }

  @Property(seed = "37")
  void everyExpectedLaneGetsTheSameShare(
      @ForAll @IntRange(min = 1, max = 300) int lanes,
      @ForAll @IntRange(min = 1, max = 20) int each) {
    CreditLedger ledger = new CreditLedger(lanes * each, lanes, 256);
    int first = ledger.grant();
    for (int i = 1; i < lanes; i++) {
      assertThat(ledger.grant()).isEqualTo(first);
    }
    assertThat(first).isPositive();
  }

  @Example
  void refusesEmptyBudgetsByValue() {
    assertThatThrownBy(() -> new CreditLedger(0, 1, 1)).hasMessageContaining("budget 0");
    assertThatThrownBy(() -> new CreditLedger(1, 0, 1)).hasMessageContaining("lanes 0");
    assertThatThrownBy(() -> new CreditLedger(1, 1, -3)).hasMessageContaining("grant -3");
  }
}
