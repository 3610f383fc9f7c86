package org.pmhxb.bufpool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SpscDescriptorRingTest {
  @Test
  void theBitLayoutIsFixed() {
    assertThat(Descriptor.lo(0x12, 0x34, 0x5678, 0x9ABC, 0xDEF0)).isEqualTo(0x1234_5678_9ABC_DEF0L);
    assertThat(Descriptor.hi(0x123456, 0x789ABC, 0xDEF0)).isEqualTo(0x1234_5678_9ABC_DEF0L);
  }

  @Test
  void fullRefusesAndEmptyGivesNothing() {
    SpscDescriptorRing ring = SpscDescriptorRing.create(4);
    assertThat(ring.poll()).isFalse();
    for (int i = 0; i < 4; i++) {
      assertThat(ring.offer(i, -i)).isTrue();
    }
    assertThat(ring.offer(9, 9)).isFalse();
    assertThat(ring.room()).isZero();
    assertThat(ring.size()).isEqualTo(4);
    assertThat(ring.poll()).isTrue();
    assertThat(ring.lo()).isZero();
    assertThat(ring.offer(4, -4)).isTrue();
    for (int i = 1; i <= 4; i++) {
      assertThat(ring.poll()).isTrue();
      assertThat(ring.lo()).isEqualTo(i);
      assertThat(ring.hi()).isEqualTo(-i);
    }
    assertThat(ring.poll()).isFalse();
  }

  @Test
  void aBatchIsAPrefix() {
    SpscDescriptorRing ring = SpscDescriptorRing.create(8);
    long[] pairs = new long[24];
    for (int i = 0; i < 24; i++) {
      pairs[i] = i;
    }
    assertThat(ring.offer(pairs, 2, 5)).isEqualTo(5);
    assertThat(ring.offer(pairs, 7, 5)).isEqualTo(3);
    assertThat(ring.offer(pairs, 10, 2)).isZero();
    List<Long> got = new ArrayList<>();
    assertThat(ring.drain((lo, hi) -> got.add(lo * 100 + hi), 3)).isEqualTo(3);
    assertThat(got).containsExactly(405L, 607L, 809L);
    assertThat(ring.peekLo(0)).isEqualTo(10);
    assertThat(ring.peekHi(4)).isEqualTo(19);
    ring.advance(5);
    assertThat(ring.size()).isZero();
  }

  @Test
  void whatIsFreedEarlyMakesRoomAndMovesNothing() {
    SpscDescriptorRing ring = SpscDescriptorRing.create(4);
    for (int i = 0; i < 4; i++) {
      ring.offer(i, -i);
    }
    assertThat(ring.size()).isEqualTo(4);
    ring.free(2);
    assertThat(ring.room()).isEqualTo(2);
    assertThat(ring.offer(4, -4)).isTrue();
    assertThat(ring.offer(5, -5)).isTrue();
    assertThat(ring.offer(6, -6)).isFalse();
    assertThat(ring.peekLo(2)).isEqualTo(2);
    assertThat(ring.peekHi(3)).isEqualTo(-3);
    assertThat(ring.size()).isEqualTo(4);
    ring.advance(3);
    assertThat(ring.room()).isEqualTo(1);
    assertThat(ring.size()).isEqualTo(3);
    assertThat(ring.peekLo(0)).isEqualTo(3);
    assertThat(ring.peekLo(2)).isEqualTo(5);
  }

  @Test
  void slotsLieSideBySideUpToTheEnd() {
    SpscDescriptorRing ring = SpscDescriptorRing.create(4);
    for (int i = 0; i < 3; i++) {
      assertThat(ring.offer(i, -i)).isTrue();
    }
    assertThat(ring.size()).isEqualTo(3);
    ring.advance(2);
    assertThat(ring.untilEnd(0)).isEqualTo(2);
    assertThat(ring.untilEnd(1)).isEqualTo(1);
    assertThat(ring.untilEnd(2)).isEqualTo(4);
    assertThat(ring.offer(3, -3)).isTrue();
    assertThat(ring.offer(4, -4)).isTrue();
    long slot = ring.slot(0);
    for (int i = 2; i < 5; i++) {
      slot = i == 4 ? ring.slot(2) : slot;
      assertThat(SpscDescriptorRing.lo(slot)).isEqualTo(i);
      assertThat(SpscDescriptorRing.hi(slot)).isEqualTo(-i);
      slot = SpscDescriptorRing.behind(slot, 1);
    }
  }

  @Test
  void whatIsStagedIsSeenOncePublished() {
    SpscDescriptorRing ring = SpscDescriptorRing.create(4);
    assertThat(ring.offer(0, 0)).isTrue();
    assertThat(ring.room()).isEqualTo(3);
    assertThat(ring.stagingRoom()).isEqualTo(3);
    long slot = ring.staging();
    for (int i = 0; i < 3; i++) {
      long at = SpscDescriptorRing.behind(slot, i);
      SpscDescriptorRing.stage(at, i + 1, -i - 1);
      assertThat(SpscDescriptorRing.lo(at)).isEqualTo(i + 1);
      assertThat(SpscDescriptorRing.hi(at)).isEqualTo(-i - 1);
    }
    assertThat(ring.size()).isEqualTo(1);
    assertThat(ring.room()).isEqualTo(3);
    ring.publish(2);
    assertThat(ring.size()).isEqualTo(3);
    assertThat(ring.offer(3, -3)).isTrue();
    assertThat(ring.offer(4, -4)).isFalse();
    ring.publish(0);
    for (int i = 0; i < 4; i++) {
      assertThat(ring.poll()).isTrue();
      assertThat(ring.lo()).isEqualTo(i);
      assertThat(ring.hi()).isEqualTo(-i);
    }
    assertThat(ring.poll()).isFalse();
    assertThat(ring.stagingRoom()).isEqualTo(4);
    assertThat(ring.offer(4, 4)).isTrue();
    assertThat(ring.poll()).isTrue();
    assertThat(ring.room()).isEqualTo(4);
    assertThat(ring.stagingRoom()).as("up to the end of the ring").isEqualTo(3);
  }

  @Test
  void whatAHandlerThrewOnCountsAsTaken() {
    SpscDescriptorRing ring = SpscDescriptorRing.create(8);
    for (int i = 0; i < 5; i++) {
      ring.offer(i, i);
    }
    assertThatThrownBy(
            () ->
                ring.drain(
                    (lo, hi) -> {
                      if (lo == 2) {
                        throw new IllegalStateException("two");
                      }
                    }))
        .hasMessage("two");
    assertThat(ring.size()).isEqualTo(2);
    assertThat(ring.peekLo(0)).isEqualTo(3);
  }

  @Test
  void twoSidesShareMemoryOnly() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(SpscDescriptorRing.bytes(16), 128);
      SpscDescriptorRing producer = SpscDescriptorRing.over(memory, 16);
      SpscDescriptorRing consumer = SpscDescriptorRing.over(memory, 16);
      for (int i = 0; i < 100; i++) {
        assertThat(producer.offer(i, i)).isTrue();
        assertThat(consumer.poll()).isTrue();
        assertThat(consumer.lo()).isEqualTo(i);
      }
      producer.offer(100, 1);
      SpscDescriptorRing late = SpscDescriptorRing.over(memory, 16);
      assertThat(late.size()).isEqualTo(1);
      assertThat(late.peekLo(0)).isEqualTo(100);
    }
  }

  @Test
  void aDamagedIndexIsNotBelieved() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(SpscDescriptorRing.bytes(4), 128);
      SpscDescriptorRing producer = SpscDescriptorRing.over(memory, 4);
      SpscDescriptorRing consumer = SpscDescriptorRing.over(memory, 4);
      memory.set(ValueLayout.JAVA_LONG, 0, 1_000_000L);
      assertThat(consumer.size()).isZero();
      memory.set(ValueLayout.JAVA_LONG, 0, -5L);
      assertThat(consumer.poll()).isFalse();
      memory.set(ValueLayout.JAVA_LONG, 128, 77L);
      assertThat(producer.room()).isEqualTo(4);
    }
  }

  @Test
  void badSizesAreRefused() {
    assertThatThrownBy(() -> SpscDescriptorRing.create(3)).hasMessageContaining("3 descriptors");
    assertThatThrownBy(() -> SpscDescriptorRing.create(0)).hasMessageContaining("0 descriptors");
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment small = arena.allocate(300, 8);
      assertThatThrownBy(() -> SpscDescriptorRing.over(small, 4)).hasMessageContaining("320 B");
    }
  }

  @Test
  void twoThreadsKeepOrderAndPairs() throws InterruptedException {
    SpscDescriptorRing ring = SpscDescriptorRing.create(64);
    int total = 500_000;
    Thread producer =
        new Thread(
            () -> {
              for (long i = 0; i < total; i++) {
                while (!ring.offer(i, ~i)) {
                  Thread.yield();
                }
              }
            });
    producer.start();
    long expected = 0;
    while (expected < total) {
      if (!ring.poll()) {
        Thread.yield();
      } else {
        if (ring.lo() != expected || ring.hi() != ~expected) {
          throw new AssertionError("got " + ring.lo() + " for " + expected);
        }
        expected++;
      }
    }
    producer.join();
    assertThat(ring.poll()).isFalse();
  }

  @Test
  void passingLeavesNoGarbage() {
    SpscDescriptorRing ring = SpscDescriptorRing.create(64);
    long[] sum = new long[1];
    SpscDescriptorRing.Handler add = (lo, hi) -> sum[0] += lo;
    Allocations.assertNone(
        () -> {
          ring.offer(1, 2);
          ring.offer(3, 4);
          ring.poll();
          ring.drain(add);
        });
    assertThat(sum[0]).isPositive();
  }
}
