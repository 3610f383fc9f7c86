package org.pmhxb.bufpool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What every pool does, whatever lies beneath. */
@Tag("without-assertions")
abstract class BufferPoolContract {
  /** Of the tests that run once more without assertions (pom.xml), those that cannot. */
  static final String NEEDS_ASSERTIONS = "needs-assertions";

  static final int CAPACITY = 500;
  static final int STRIDE = 2048;
  static final int APP = Owner.of(Owner.APPLICATION, 3);
  static final int WINDOW = Owner.of(Owner.WINDOW, 7);
  static final int RAIL = Owner.of(Owner.PORT, 1);

  BufferPool pool;

  abstract BufferPool create(int strideBytes, int capacity);

  @BeforeEach
  void open() {
    pool = create(STRIDE, CAPACITY);
  }

  @AfterEach
  void close() {
    pool.close();
  }

  @Test
  void buffersAreEquallySpacedAndKnownByTheirPlace() {
    assertThat(pool.capacity()).isEqualTo(CAPACITY);
    assertThat(pool.strideBytes()).isEqualTo(STRIDE);
    assertThat(pool.frameCapacityBytes()).isEqualTo(STRIDE - 128);
    assertThat(pool.memory().byteSize()).isGreaterThanOrEqualTo((CAPACITY + 1L) * STRIDE);
    for (int id = 1; id <= CAPACITY; id++) {
      assertThat(pool.frameAt(id)).isEqualTo((long) id * STRIDE + BufferPool.FRAME_OFFSET);
      assertThat(pool.idOf(pool.frameAt(id))).isEqualTo(id);
      assertThat(pool.idOf(pool.frameAt(id) + pool.frameCapacityBytes() - 1)).isEqualTo(id);
    }
  }

  @Test
  void everyBufferIsGivenOutOnceAndNoneWhenAllAreOut() {
    Set<Integer> seen = new HashSet<>();
    for (int i = 0; i < CAPACITY; i++) {
      int id = pool.allocate(APP);
      assertThat(id).isBetween(1, CAPACITY);
      assertThat(seen.add(id)).isTrue();
      assertThat(pool.owner(id)).isEqualTo(APP);
      assertThat(pool.references(id)).isEqualTo(1);
    }
    assertThat(pool.allocate(APP)).isZero();
    assertThat(pool.available()).isZero();
    seen.forEach(id -> pool.release(id, APP));
    pool.flush();
    assertThat(pool.available()).isEqualTo(CAPACITY);
  }

  @Test
  void bulkAllocationGivesWhatThereIs() {
    int[] ids = new int[CAPACITY + 10];
    assertThat(pool.allocate(APP, ids, 5, 100)).isEqualTo(100);
    assertThat(ids[4]).isZero();
    assertThat(ids[5]).isPositive();
    assertThat(ids[105]).isZero();
    int rest = pool.allocate(WINDOW, ids, 0, CAPACITY + 10);
    assertThat(rest).isEqualTo(CAPACITY - 100);
    assertThat(pool.reclaim(APP)).isEqualTo(100);
    assertThat(pool.reclaim(WINDOW)).isEqualTo(rest);
    assertThat(pool.available()).isEqualTo(CAPACITY);
  }

  @Test
  void keptBackReleasesAreUsedBeforeTheyAreMissed() {
    int[] ids = new int[CAPACITY];
    assertThat(pool.allocate(APP, ids, 0, CAPACITY)).isEqualTo(CAPACITY);
    pool.release(ids[10], APP);
    assertThat(pool.allocate(APP)).isEqualTo(ids[10]);
    assertThat(pool.reclaim(APP)).isEqualTo(CAPACITY);
  }

  @Test
  void aRetainedBufferStaysUntilItsLastRelease() {
    int id = pool.allocate(WINDOW);
    pool.retain(id);
    assertThat(pool.references(id)).isEqualTo(2);
    pool.release(id, WINDOW);
    pool.flush();
    assertThat(pool.references(id)).isEqualTo(1);
    assertThat(pool.owner(id)).isEqualTo(Owner.FREE);
    assertThat(pool.available()).isEqualTo(CAPACITY - 1);
    pool.release(id, RAIL);
    assertThat(pool.references(id)).isZero();
    pool.flush();
    assertThat(pool.available()).isEqualTo(CAPACITY);
  }

  @Test
  void anAnonymousReferenceMayGoFirst() {
    int id = pool.allocate(WINDOW);
    pool.retain(id);
    pool.release(id, RAIL);
    assertThat(pool.owner(id)).isEqualTo(WINDOW);
    assertThat(pool.references(id)).isEqualTo(1);
    pool.release(id, WINDOW);
    pool.flush();
    assertThat(pool.available()).isEqualTo(CAPACITY);
  }

  /** One more than the mbuf's 16 bits hold would be a buffer that comes home early. */
  @Test
  void aBufferHasSoManyReferencesAtMost() {
    int id = pool.allocate(APP);
    for (int i = 1; i < BufferPool.REFERENCES_MAX; i++) {
      pool.retain(id);
    }
    assertThatThrownBy(() -> pool.retain(id))
        .isInstanceOf(PoolMisuseError.class)
        .hasMessageContaining("32767 references");
    assertThat(pool.references(id)).isEqualTo(BufferPool.REFERENCES_MAX);
    for (int i = 1; i < BufferPool.REFERENCES_MAX; i++) {
      pool.release(id, WINDOW);
    }
    pool.flush();
    assertThat(pool.available()).isEqualTo(CAPACITY - 1);
    pool.release(id, APP);
    pool.flush();
    assertThat(pool.available()).isEqualTo(CAPACITY);
  }

  @Test
  void everyHandOverPassesTransfer() {
    int id = pool.allocate(APP);
    pool.transfer(id, APP, WINDOW);
    assertThat(pool.owner(id)).isEqualTo(WINDOW);
    assertThatThrownBy(() -> pool.release(id, APP))
        .isInstanceOf(PoolMisuseError.class)
        .hasMessageContaining("buffer " + id)
        .hasMessageContaining("APPLICATION 3")
        .hasMessageContaining("WINDOW 7");
    assertThatThrownBy(() -> pool.transfer(id, APP, Owner.REORDER))
        .isInstanceOf(PoolMisuseError.class)
        .hasMessageContaining("WINDOW 7");
    pool.release(id, WINDOW);
  }

  @Test
  void reclaimBringsHomeWhatOneOwnerLeftAndNothingElse() {
    int kept = pool.allocate(WINDOW);
    for (int i = 0; i < 33; i++) {
      pool.allocate(APP);
    }
    assertThat(pool.ownedBy(APP)).isEqualTo(33);
    assertThat(pool.ownedBy(Owner.APPLICATION)).isEqualTo(33);
    assertThat(pool.reclaim(APP)).isEqualTo(33);
    assertThat(pool.reclaim(APP)).isZero();
    assertThat(pool.available()).isEqualTo(CAPACITY - 1);
    assertThat(pool.owner(kept)).isEqualTo(WINDOW);
    pool.release(kept, WINDOW);
    assertThatThrownBy(() -> pool.reclaim(Owner.FREE)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aDoubleReleaseIsFound() {
    int id = pool.allocate(APP);
    pool.release(id, APP);
    assertThatThrownBy(() -> pool.release(id, APP))
        .isInstanceOf(PoolMisuseError.class)
        .hasMessageContaining("double release of buffer " + id);
    pool.flush();
    assertThatThrownBy(() -> pool.release(id, APP)).isInstanceOf(PoolMisuseError.class);
    assertThat(pool.available()).isEqualTo(CAPACITY);
  }

  @Test
  void aReleasedBufferCannotBeRetainedOrHandedOver() {
    int id = pool.allocate(APP);
    pool.release(id, APP);
    assertThatThrownBy(() -> pool.retain(id)).isInstanceOf(PoolMisuseError.class);
    assertThatThrownBy(() -> pool.transfer(id, APP, WINDOW)).isInstanceOf(PoolMisuseError.class);
  }

  @Test
  void aForeignIdIsFound() {
    for (int id : new int[] {0, -1, CAPACITY + 1, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
      assertThatThrownBy(() -> pool.release(id, APP))
          .isInstanceOf(PoolMisuseError.class)
          .hasMessageContaining("buffer ID " + id)
          .hasMessageContaining("1.." + CAPACITY);
      assertThatThrownBy(() -> pool.retain(id)).isInstanceOf(PoolMisuseError.class);
      assertThatThrownBy(() -> pool.owner(id)).isInstanceOf(PoolMisuseError.class);
      assertThatThrownBy(() -> pool.references(id)).isInstanceOf(PoolMisuseError.class);
      assertThatThrownBy(() -> pool.transfer(id, APP, WINDOW)).isInstanceOf(PoolMisuseError.class);
    }
  }

  /** Sent and let go of by every driver: what is released last is what is taken first. */
  @Test
  void releasesOfSentBuffersComeToTheNextClaims() {
    int[] ids = new int[40];
    assertThat(pool.allocate(WINDOW, ids, 0, 40)).isEqualTo(40);
    pool.releaseSent(ids[0], WINDOW);
    pool.release(Arrays.copyOfRange(ids, 1, 40), 39, WINDOW);
    assertThat(pool.ownedBy(WINDOW)).isZero();
    if (!PoolGuard.isOn()) {
      // Without assertions there is no look at each release before it goes home.
      assertThat(pool.allocate(APP)).isEqualTo(ids[39]);
      assertThat(pool.allocate(APP)).isEqualTo(ids[38]);
      assertThat(pool.reclaim(APP)).isEqualTo(2);
    }
    pool.flush();
    assertThat(pool.available()).isEqualTo(CAPACITY);
  }

  /** Else a node that receives after it sent would keep from its drivers what it does not use. */
  @Test
  void othersThanSentBuffersGoHomeButForABatch() {
    int[] ids = new int[CAPACITY];
    assertThat(pool.allocate(APP, ids, 0, CAPACITY)).isEqualTo(CAPACITY);
    for (int id : ids) {
      pool.release(id, APP);
    }
    pool.flush();
    assertThat(pool.freeInBacking()).isGreaterThanOrEqualTo(CAPACITY - CAPACITY / 8);
    assertThat(pool.available()).isEqualTo(CAPACITY);
  }

  @Test
  void aSentBufferThatADriverStillHasIsNotTakenAgain() {
    int[] ids = new int[3];
    assertThat(pool.allocate(WINDOW, ids, 0, 3)).isEqualTo(3);
    pool.retain(ids[1]);
    pool.release(ids, 3, WINDOW);
    int single = pool.allocate(WINDOW);
    assertThat(single).isNotEqualTo(ids[1]);
    pool.retain(single);
    pool.releaseSent(single, WINDOW);
    pool.flush();
    assertThat(pool.available()).isEqualTo(CAPACITY - 2);
    Set<Integer> taken = new HashSet<>();
    for (int id = pool.allocate(APP); id != 0; id = pool.allocate(APP)) {
      assertThat(taken.add(id)).isTrue();
    }
    assertThat(taken).hasSize(CAPACITY - 2).doesNotContain(ids[1], single);
    pool.release(ids[1], RAIL);
    pool.release(single, RAIL);
    assertThat(pool.reclaim(APP)).isEqualTo(CAPACITY - 2);
    assertThat(pool.available()).isEqualTo(CAPACITY);
  }

  /** Frames are held and let go again and again: drivers have all the others, as at first. */
  @Test
  void whatIsKeptAtHandIsWhatWasHeldBefore() {
    int held = CAPACITY / 4;
    int[] ids = new int[held];
    for (int round = 0; round < 10; round++) {
      int count = held - 7 * round;
      assertThat(pool.allocate(WINDOW, ids, 0, count)).isEqualTo(count);
      assertThat(pool.freeInBacking()).isGreaterThanOrEqualTo(CAPACITY - held - CAPACITY / 8);
      for (int i = 0; i < 40; i++) {
        pool.releaseSent(ids[--count], WINDOW);
      }
      pool.release(ids, count, WINDOW);
      pool.flush();
      assertThat(pool.available()).isEqualTo(CAPACITY);
    }
  }

  @Test
  void sentBuffersOneByOneAreKeptUpToTheLimit() {
    int[] ids = new int[CAPACITY];
    assertThat(pool.allocate(WINDOW, ids, 0, CAPACITY)).isEqualTo(CAPACITY);
    for (int id : ids) {
      pool.releaseSent(id, WINDOW);
    }
    pool.flush();
    assertThat(pool.available()).isEqualTo(CAPACITY);
    assertThat(pool.freeInBacking()).isGreaterThanOrEqualTo(CAPACITY / 2);
  }

  @Test
  void moreSentBuffersThanAreKeptAtHandGoHome() {
    int[] ids = new int[CAPACITY];
    assertThat(pool.allocate(WINDOW, ids, 0, CAPACITY)).isEqualTo(CAPACITY);
    pool.release(ids, CAPACITY, WINDOW);
    pool.flush();
    assertThat(pool.available()).isEqualTo(CAPACITY);
    assertThat(pool.freeInBacking()).as("for drivers").isGreaterThanOrEqualTo(CAPACITY / 2);
    if (!PoolGuard.isOn()) {
      assertThat(pool.freeInBacking()).isEqualTo(CAPACITY - CAPACITY / 2);
    }
    assertThat(pool.allocate(APP, ids, 0, CAPACITY)).isEqualTo(CAPACITY);
    assertThat(Arrays.stream(ids).distinct().count()).isEqualTo(CAPACITY);
    assertThat(pool.reclaim(APP)).isEqualTo(CAPACITY);
  }

  @Test
  void whatWasSentIsReleasedOnceAndByItsOwner() {
    int id = pool.allocate(WINDOW);
    int other = pool.allocate(APP);
    assertThatThrownBy(() -> pool.releaseSent(other, WINDOW)).isInstanceOf(PoolMisuseError.class);
    pool.releaseSent(id, WINDOW);
    assertThatThrownBy(() -> pool.releaseSent(id, WINDOW)).isInstanceOf(PoolMisuseError.class);
    int[] ids = {pool.allocate(WINDOW), other};
    assertThatThrownBy(() -> pool.release(ids, 2, WINDOW)).isInstanceOf(PoolMisuseError.class);
    assertThat(pool.owner(ids[0])).as("it stood before the fault").isEqualTo(Owner.FREE);
    assertThatThrownBy(() -> pool.release(new int[] {CAPACITY + 1}, 1, WINDOW))
        .isInstanceOf(PoolMisuseError.class);
    assertThat(pool.owner(other)).isEqualTo(APP);
    pool.release(other, APP);
    pool.flush();
    assertThat(pool.available()).isEqualTo(CAPACITY);
  }

  @Test
  @Tag(NEEDS_ASSERTIONS)
  void aWriteAfterReleaseIsFoundUnderAssertions() {
    int id = pool.allocate(APP);
    pool.release(id, APP);
    pool.memory().set(ValueLayout.JAVA_BYTE, pool.frameAt(id) + 14, (byte) 1);
    assertThatThrownBy(pool::flush)
        .isInstanceOf(PoolMisuseError.class)
        .hasMessageContaining("buffer %d was written after release".formatted(id));
    assertThat(pool.available()).as("the batch went home all the same").isEqualTo(CAPACITY);
  }

  @Test
  void neighboursOfAnOddStrideBeginInDifferentCacheSets() {
    Set<Long> linePairs = new HashSet<>();
    try (BufferPool jumbo = create(BufferPool.JUMBO_STRIDE_BYTES, 130)) {
      for (int id = 1; id <= 130; id++) {
        assertThat(jumbo.frameAt(id)).isEqualTo(id * 10_368L + 128);
        assertThat(jumbo.idOf(jumbo.frameAt(id) + jumbo.frameCapacityBytes() - 1)).isEqualTo(id);
        linePairs.add(jumbo.frameAt(id) % 4096 / 128);
      }
      assertThat(jumbo.frameCapacityBytes()).isEqualTo(10_240);
    }
    assertThat(linePairs).as("of a page").hasSize(32);
  }

  @Test
  void theLeastStrideOfAFrameIsOdd() {
    for (int frame = 0; frame <= BufferPool.STRIDE_BYTES_MAX - 256; frame++) {
      int stride = BufferPool.strideBytesFor(frame);
      assertThat(stride / BufferPool.STRIDE_UNIT_BYTES % 2).isOne();
      assertThat(stride % BufferPool.STRIDE_UNIT_BYTES).isZero();
      assertThat(stride).isBetween(BufferPool.STRIDE_BYTES_MIN, BufferPool.STRIDE_BYTES_MAX - 128);
      assertThat(BufferPool.frameCapacityBytes(stride)).isGreaterThanOrEqualTo(frame);
      assertThat(frame == 0 || stride <= 384 || BufferPool.frameCapacityBytes(stride - 256) < frame)
          .isTrue();
    }
  }

  @Test
  void framesThatNoBufferHoldsHaveNoStride() {
    for (int frame : new int[] {-1, BufferPool.STRIDE_BYTES_MAX - 255, Integer.MAX_VALUE}) {
      assertThatThrownBy(() -> BufferPool.strideBytesFor(frame))
          .hasMessage("frame of " + frame + " B is not in 0..32512");
    }
  }

  @Test
  void stridesThatNoBufferCouldHaveAreRefused() {
    for (int stride : new int[] {0, 128, 2_112, 32_896, -256}) {
      assertThatThrownBy(() -> create(stride, 8))
          .hasMessage("stride of " + stride + " B is not a multiple of 128 B in 256..32768 B");
    }
  }

  @Test
  void debugModeNamesTheReleasingStack() {
    System.setProperty(PoolGuard.DEBUG_PROPERTY, "true");
    try (BufferPool debugged = create(STRIDE, 40)) {
      int id = debugged.allocate(APP);
      releaseHere(debugged, id);
      assertThatThrownBy(() -> debugged.release(id, APP))
          .isInstanceOf(PoolMisuseError.class)
          .satisfies(e -> assertThat(e.getCause()).hasStackTraceContaining("releaseHere"));
      int second = debugged.allocate(APP);
      releaseHere(debugged, second);
      long last = debugged.frameAt(second) + debugged.frameCapacityBytes() - 1;
      debugged.memory().set(ValueLayout.JAVA_BYTE, last, (byte) 1);
      assertThatThrownBy(debugged::flush)
          .isInstanceOf(PoolMisuseError.class)
          .satisfies(e -> assertThat(e.getCause()).hasStackTraceContaining("releaseHere"));
    } finally {
      System.clearProperty(PoolGuard.DEBUG_PROPERTY);
    }
  }

  private static void releaseHere(BufferPool pool, int id) {
    pool.release(id, APP);
  }

  @Test
  @Tag(NEEDS_ASSERTIONS)
  void anotherThreadIsRefusedUntilThePoolIsHandedOver() throws InterruptedException {
    int id = pool.allocate(APP);
    List<Throwable> thrown = new ArrayList<>();
    Thread other =
        new Thread(
            () -> {
              try {
                pool.release(id, APP);
              } catch (AssertionError e) {
                thrown.add(e);
              }
            },
            "another");
    other.start();
    other.join();
    assertThat(thrown).hasSize(1);
    assertThat(thrown.getFirst()).hasMessageContaining("another");
    pool.handOver();
    Thread next = new Thread(() -> pool.release(id, APP));
    next.start();
    next.join();
    pool.handOver();
    pool.flush();
    assertThat(pool.available()).isEqualTo(CAPACITY);
  }

  @Test
  void aRandomHistoryLosesNothing() {
    Random random = new Random(20251120);
    List<Integer> held = new ArrayList<>();
    int extra = 0;
    for (int step = 0; step < 20_000; step++) {
      int choice = random.nextInt(10);
      if (choice < 5) {
        int id = pool.allocate(APP);
        assertThat(id == 0).isEqualTo(held.size() == CAPACITY);
        if (id != 0) {
          held.add(id);
        }
      } else if (!held.isEmpty()) {
        int at = random.nextInt(held.size());
        int id = held.get(at);
        if (choice == 5) {
          pool.retain(id);
          pool.release(id, RAIL);
          extra++;
        } else {
          held.set(at, held.getLast());
          held.removeLast();
          pool.release(id, APP);
        }
      }
    }
    assertThat(extra).isPositive();
    assertThat(pool.reclaim(APP)).isEqualTo(held.size());
    assertThat(pool.available()).isEqualTo(CAPACITY);
  }

  @Test
  void badGeometryIsRefusedWithValueAndUnit() {
    assertThatThrownBy(() -> create(3000, 10)).hasMessageContaining("3000 B");
    assertThatThrownBy(() -> create(128, 10)).hasMessageContaining("128 B");
    assertThatThrownBy(() -> create(65_536, 10)).hasMessageContaining("65536 B");
    assertThatThrownBy(() -> create(2048, 0)).hasMessageContaining("0 buffers");
    assertThatThrownBy(() -> create(2048, 1 << 24)).hasMessageContaining("16777216 buffers");
  }

  @Test
  void allocationAndReleaseLeaveNoGarbage() {
    Allocations.assertNone(
        () -> {
          int id = pool.allocate(APP);
          pool.retain(id);
          pool.transfer(id, APP, WINDOW);
          pool.release(id, WINDOW);
          pool.release(id, RAIL);
        });
  }

  @Test
  void theSmallestPoolWorks() {
    try (BufferPool tiny = create(256, 1)) {
      for (int i = 0; i < 3; i++) {
        int id = tiny.allocate(APP);
        assertThat(id).isEqualTo(1);
        assertThat(tiny.allocate(APP)).isZero();
        tiny.release(id, APP);
      }
    }
  }

  @Test
  void closingTwiceIsClosingOnce() {
    BufferPool closed = create(256, 4);
    closed.close();
    closed.close();
    assertThat(closed.capacity()).isEqualTo(4);
  }

  /** What is below it may be gone: to ask there would end the process. */
  @Test
  void aClosedPoolIsAskedForNothing() {
    BufferPool closed = create(256, 40);
    closed.release(closed.allocate(APP), APP);
    closed.close();
    assertThatThrownBy(() -> closed.allocate(APP)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(closed::available).isInstanceOf(IllegalStateException.class);
  }
}
