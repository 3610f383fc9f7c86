package org.pmhxb.pm.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** The sum rule (PROTOCOL.md section 6). */
class CreditLedgerTest {
  @Property(seed = "36")
  void theSumIsNeverExceeded(
      @ForAll @IntRange(min = 1, max = 5_000) int budget,
      @ForAll @IntRange(min = 1, max = 300) int lanes,
      @ForAll @IntRange(min = 1, max = 300) int largest,
      @ForAll @IntRange(min = 1, max = 900) int grants) {
    CreditLedger ledger = new CreditLedger(budget, lanes, largest);
    int sum = 0;
    for (int i = 0; i < grants; i++) {
      int got = ledger.grant();
      assertThat(got).isBetween(0, largest);
      assertThat(got == 0).as("refused only when used up").isEqualTo(sum == budget);
      sum += got;
      assertThat(ledger.outstanding()).isEqualTo(sum).isBetween(0, budget);
    }
  }

  @Example
  void lanesBeyondThoseExpectedShareTheReserve() {
    CreditLedger ledger = new CreditLedger(512, 16, 256);
    for (int i = 0; i < 16; i++) {
      assertThat(ledger.grant()).isEqualTo(28);
    }
    for (int i = 0; i < 40; i++) {
      assertThat(ledger.grant()).isPositive();
    }
  }

  /** Who is starved asks again and again: that makes no lane of it. */
  @Property(seed = "38")
  void refusedRequestsLeaveNothingBehind(
      @ForAll @IntRange(min = 1, max = 600) int budget,
      @ForAll @IntRange(min = 1, max = 30) int lanes) {
    CreditLedger ledger = new CreditLedger(budget, lanes, 256);
    List<Integer> grants = new ArrayList<>();
    for (int got = ledger.grant(); got > 0; got = ledger.grant()) {
      grants.add(got);
    }
    for (int i = 0; i < 200; i++) {
      assertThat(ledger.grant()).isZero();
    }
    grants.forEach(ledger::takeBack);
    assertThat(ledger.outstanding()).isZero();
    for (int before : grants) {
      assertThat(ledger.grant()).isEqualTo(before);
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
