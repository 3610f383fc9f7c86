package org.pmhxb.bufpool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class OffHeapPoolTest extends BufferPoolContract {
  @Override
  BufferPool create(int strideBytes, int capacity) {
    return OffHeapPool.create(strideBytes, capacity);
  }

  @Test
  void aPortInJavaReleasesWhatItWasGiven() {
    int id = pool.allocate(APP);
    pool.transfer(id, APP, RAIL);
    pool.release(id, RAIL);
    pool.flush();
    assertThat(pool.available()).isEqualTo(CAPACITY);
  }

  @Test
  void aPortInJavaDeliversWhatItAllocated() {
    int id = pool.allocate(RAIL);
    pool.transfer(id, Owner.PORT, Owner.NODE);
    assertThat(pool.owner(id)).isEqualTo(Owner.NODE);
    assertThat(pool.references(id)).isEqualTo(1);
    pool.release(id, Owner.NODE);
  }

  @Test
  void memoryIsGoneAfterCloseUnlessSomethingIsOnLoan() {
    OffHeapPool closed = OffHeapPool.create(256, 8);
    closed.close();
    assertThatThrownBy(() -> closed.memory().get(ValueLayout.JAVA_BYTE, 0))
        .isInstanceOf(IllegalStateException.class);
    OffHeapPool lending = OffHeapPool.create(256, 8);
    int id = lending.allocate(Owner.of(Owner.LOAN, 1));
    lending.close();
    lending.memory().set(ValueLayout.JAVA_BYTE, lending.frameAt(id), (byte) 5);
    assertThat(lending.memory().get(ValueLayout.JAVA_BYTE, lending.frameAt(id)))
        .isEqualTo((byte) 5);
  }
}
