package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class StampsTest {
  /** With all rails on one network a DISCOVER comes to each of them, and is for one. */
  @Test
  void aDiscoverCountsOnceOnEachRail() {
    Stamps stamps = new Stamps();
    for (int rail = 2; rail >= 0; rail--) {
      assertThat(stamps.isNewDiscover(rail, 100)).isTrue();
      assertThat(stamps.isNewDiscover(rail, 101)).isTrue();
    }
    for (int rail = 0; rail < 3; rail++) {
      assertThat(stamps.isNewDiscover(rail, 100)).isFalse();
      assertThat(stamps.isNewDiscover(rail, 101)).isFalse();
    }
    assertThat(stamps.isNewToLine(101)).isTrue();
    assertThat(stamps.isNewToLine(101)).isFalse();
    assertThat(stamps.isNewControl(101)).isTrue();
    assertThat(stamps.isNewControl(101)).isFalse();
  }
}
