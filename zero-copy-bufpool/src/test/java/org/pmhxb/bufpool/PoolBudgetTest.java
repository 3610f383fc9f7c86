package org.pmhxb.bufpool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class PoolBudgetTest {
  @Test
  void theSizeIsTheSumOfItsReasons() {
    PoolBudget budget = new PoolBudget(6, 512, 256, 1024, 1024, 256, 128, 16_384);
    assertThat(budget.buffers()).isEqualTo(6 * 512 + 6 * 256 + 1024 + 1024 + 256 + 128 + 128);
    assertThat(budget.regionBytes()).isEqualTo((budget.buffers() + 1L) * 16_384);
  }

  @Test
  void badSizesAreRefusedWithValueAndUnit() {
    assertThatThrownBy(() -> new PoolBudget(0, 512, 256, 1, 1, 0, 1, 16_384))
        .hasMessageContaining("rails = 0");
    assertThatThrownBy(() -> new PoolBudget(1, 4, 256, 1, 1, 0, 1, 16_384))
        .hasMessageContaining("receiveRing = 4 buffers");
    assertThatThrownBy(() -> new PoolBudget(1, 8, 8, 0, 1, 0, 1, 16_384))
        .hasMessageContaining("resendHolds = 0 buffers");
    assertThatThrownBy(() -> new PoolBudget(1, 8, 8, 1, 1, -1, 1, 16_384))
        .hasMessageContaining("loans = -1 buffers");
    assertThatThrownBy(() -> new PoolBudget(1, 8, 8, 1, 1, 0, 1, 10_000))
        .hasMessageContaining("10000 B");
  }

  @Test
  void aSumBeyondTheIdsIsRefused() {
    int most = BufferPool.CAPACITY_MAX;
    assertThatThrownBy(() -> new PoolBudget(512, 65_536, 65_536, most, most, most, most, 16_384))
        .hasMessageContaining("buffers is not in 1.." + most);
  }
}
