package org.pmhxb.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class QuartilesTest {
  @Test
  void betweenTwoValuesTheyAreInterpolated() {
    assertThat(Quartiles.of(List.of(5.0, 1.0, 4.0, 2.0, 3.0)))
        .isEqualTo(new Quartiles(1, 2, 3, 4, 5, 5));
    assertThat(Quartiles.of(List.of(4.0, 1.0, 3.0, 2.0)))
        .isEqualTo(new Quartiles(1, 1.75, 2.5, 3.25, 4, 4));
    assertThat(Quartiles.of(List.of(7.0))).isEqualTo(new Quartiles(7, 7, 7, 7, 7, 1));
  }

  @Test
  void ofNothingThereAreNone() {
    assertThatThrownBy(() -> Quartiles.of(List.of())).hasMessageContaining("at least one");
  }
}
