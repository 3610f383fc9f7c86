package org.pmhxb.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class SpreadTest {
  @Test
  void ofAnEvenNumberNeitherTheBetterNorTheWorseDecides() {
    assertThat(Spread.of(List.of(3.0, 1.0, 2.0))).isEqualTo(new Spread(1, 2, 3, 3));
    assertThat(Spread.of(List.of(4.0, 1.0, 3.0, 2.0))).isEqualTo(new Spread(1, 2.5, 4, 4));
    assertThat(Bounded.atMost(Spread.of(List.of(1.0, 9.0)), 4, 2).met()).isEqualTo("missed");
    assertThat(Bounded.atLeast(Spread.of(List.of(1.0, 9.0)), 6, 8).met()).isEqualTo("missed");
    assertThatThrownBy(() -> Spread.of(List.of())).hasMessageContaining("at least one");
  }

  @Test
  void aRateBecomesATimeWithItsEndsInOrder() {
    assertThat(new Spread(2, 4, 5, 3).map(rate -> 1 / rate))
        .isEqualTo(new Spread(0.2, 0.25, 0.5, 3));
  }
}
