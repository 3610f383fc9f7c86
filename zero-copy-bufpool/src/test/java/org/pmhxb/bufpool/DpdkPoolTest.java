package org.pmhxb.bufpool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.pmhxb.ffi.Eal;
import org.pmhxb.ffi.EalOptions;
import org.pmhxb.ffi.Hugepages;
import org.pmhxb.ffi.Hxb;
import org.pmhxb.ffi.NativeException;
import org.pmhxb.ffi.Pools;

class DpdkPoolTest extends BufferPoolContract {
  private static final AtomicInteger NUMBER = new AtomicInteger();

  @BeforeAll
  static void startDpdk() {
    Eal.init(EalOptions.defaults());
  }

  @Override
  BufferPool create(int strideBytes, int capacity) {
    return DpdkPool.create("t" + NUMBER.incrementAndGet(), strideBytes, capacity, Hugepages.AUTO);
  }

  @AfterEach
  void nothingIsLeftMapped() {
    pool.reclaim(APP);
    pool.reclaim(WINDOW);
    pool.close();
    assertThat(((DpdkPool) pool).leftMapped()).isFalse();
  }

  @Test
  void javaAndTheShimCountTheSameReferences() {
    long handle = ((DpdkPool) pool).handle();
    int id = pool.allocate(WINDOW);
    assertThat(Hxb.poolRefcnt(handle, id)).isEqualTo(1);
    Hxb.poolRef(handle, id, 1);
    assertThat(pool.references(id)).as("a driver's hold").isEqualTo(2);
    pool.release(id, WINDOW);
    pool.flush();
    assertThat(pool.references(id)).as("no Java code has it").isZero();
    assertThat(pool.available()).isEqualTo(CAPACITY - 1);
    pool.transfer(id, Owner.PORT, Owner.NODE);
    assertThat(pool.references(id)).isEqualTo(1);
    pool.release(id, Owner.NODE);
    pool.flush();
    assertThat(pool.available()).isEqualTo(CAPACITY);
  }

  @Test
  void whatAPortTookIsTheDrivers() {
    int id = pool.allocate(APP);
    pool.transfer(id, APP, RAIL);
    assertThat(pool.references(id)).isZero();
    assertThat(pool.reclaim(RAIL)).isZero();
    assertThatThrownBy(() -> pool.release(id, RAIL)).isInstanceOf(PoolMisuseError.class);
    pool.transfer(id, RAIL, APP);
    pool.release(id, APP);
  }

  @Test
  void aSentBufferThatTheDriverHoldsComesHomeWhenItLetsGo() {
    long handle = ((DpdkPool) pool).handle();
    int[] ids = new int[8];
    assertThat(pool.allocate(WINDOW, ids, 0, 8)).isEqualTo(8);
    Hxb.poolRef(handle, ids[0], 1);
    Hxb.poolRef(handle, ids[5], 1);
    pool.releaseSent(ids[0], WINDOW);
    pool.release(Arrays.copyOfRange(ids, 1, 8), 7, WINDOW);
    pool.flush();
    assertThat(pool.available()).as("two are on the wire").isEqualTo(CAPACITY - 2);
    int[] all = new int[CAPACITY];
    assertThat(pool.allocate(APP, all, 0, CAPACITY)).isEqualTo(CAPACITY - 2);
    assertThat(all).doesNotContain(ids[0], ids[5]);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment gone = arena.allocateFrom(ValueLayout.JAVA_INT, ids[0], ids[5]);
      assertThat(Hxb.poolRelease(handle, gone.address(), 2)).isEqualTo(2);
    }
    assertThat(pool.allocate(APP)).isIn(ids[0], ids[5]);
  }

  /**
   * The free list and the reference counts between Java's poll thread and a driver's: a wire takes
   * buffers and drops references on a thread of its own.
   */
  @Test
  void noBufferIsHandedOutTwiceToPollThreadAndDriver() throws Exception {
    int rounds = 20_000;
    DpdkPool dpdk = (DpdkPool) pool;
    AtomicIntegerArray holders = new AtomicIntegerArray(CAPACITY + 1);
    ArrayBlockingQueue<Integer> sent = new ArrayBlockingQueue<>(CAPACITY);
    AtomicInteger faults = new AtomicInteger();
    AtomicBoolean done = new AtomicBoolean();
    Thread driver =
        Thread.ofPlatform()
            .start(
                () -> {
                  try (Arena arena = Arena.ofConfined()) {
                    MemorySegment ids = arena.allocate(ValueLayout.JAVA_INT, 4);
                    while (!done.get() || !sent.isEmpty()) {
                      int n = Hxb.poolAlloc(dpdk.handle(), ids.address(), 4);
                      for (int i = 0; i < n; i++) {
                        int id = ids.getAtIndex(ValueLayout.JAVA_INT, i);
                        faults.addAndGet(holders.getAndIncrement(id));
                        holders.decrementAndGet(id);
                      }
                      Hxb.poolRelease(dpdk.handle(), ids.address(), n);
                      Integer gone = sent.poll();
                      if (gone != null) {
                        ids.set(ValueLayout.JAVA_INT, 0, gone);
                        holders.decrementAndGet(gone);
                        Hxb.poolRelease(dpdk.handle(), ids.address(), 1);
                      }
                    }
                  }
                });
    int allocated = 0;
    while (allocated < rounds) {
      int id = pool.allocate(WINDOW);
      if (id == 0) {
        pool.flush();
        Thread.onSpinWait();
        continue;
      }
      // Held for resend while the driver has it: whichever lets go last frees it.
      faults.addAndGet(holders.getAndAdd(id, 2));
      Hxb.poolRef(dpdk.handle(), id, 1);
      sent.put(id);
      holders.decrementAndGet(id);
      pool.release(id, WINDOW);
      allocated++;
    }
    done.set(true);
    driver.join();
    pool.flush();
    assertThat(faults).hasValue(0);
    assertThat(pool.available()).isEqualTo(CAPACITY);
  }

  @Test
  void theRegionLiesWhereDpdkWasTold() {
    DpdkPool dpdk = (DpdkPool) pool;
    assertThat(dpdk.regionFd()).isNotNegative();
    assertThat(dpdk.memory().address() % 4096).isZero();
    assertThat(Pools.mbufTable(dpdk.handle(), CAPACITY).byteSize()).isEqualTo((CAPACITY + 1L) * 8);
  }

  @Test
  void dpdkPutsFramesWhereJavaLooksForThem() {
    for (int stride : new int[] {256, 384, 1_024, BufferPool.JUMBO_STRIDE_BYTES, 32_768}) {
      try (DpdkPool dpdk = (DpdkPool) create(stride, 70)) {
        MemorySegment mbufs = Pools.mbufTable(dpdk.handle(), 70);
        for (int id = 1; id <= 70; id++) {
          long mbuf = mbufs.getAtIndex(ValueLayout.JAVA_LONG, id);
          long begin = MemorySegment.ofAddress(mbuf).reinterpret(8).get(ValueLayout.JAVA_LONG, 0);
          assertThat(begin + BufferPool.FRAME_OFFSET)
              .isEqualTo(dpdk.memory().address() + dpdk.frameAt(id));
        }
      }
    }
  }

  @Test
  void smallPagesWorkToo() {
    try (DpdkPool small = DpdkPool.create("small", 1024, 8, Hugepages.NONE)) {
      assertThat(small.hugepages()).isFalse();
      int id = small.allocate(APP);
      small.memory().set(ValueLayout.JAVA_LONG, small.frameAt(id), 7);
      small.release(id, APP);
    }
  }

  @Test
  void aTakenNameIsRefusedWithTheMend() {
    try (DpdkPool first = DpdkPool.create("same", 1024, 8, Hugepages.NONE)) {
      assertThatThrownBy(() -> DpdkPool.create("same", 1024, 8, Hugepages.NONE))
          .isInstanceOf(NativeException.class)
          .hasMessageContaining("same");
      assertThat(first.capacity()).isEqualTo(8);
    }
  }

  /** They go home a batch at a time, which is what the way there has room for. */
  @Test
  void manyBuffersAtHandGoHomeAtClose() {
    DpdkPool keeping = DpdkPool.create("keeping", 1024, 400, 300, Hugepages.NONE);
    int[] ids = new int[300];
    assertThat(keeping.allocate(WINDOW, ids, 0, 300)).isEqualTo(300);
    keeping.release(ids, 300, WINDOW);
    assertThat(keeping.available()).isEqualTo(400);
    keeping.close();
    assertThat(keeping.leftMapped()).isFalse();
  }

  @Test
  void aPoolThatIsClosedWithBuffersOutStaysMapped() {
    DpdkPool lending = DpdkPool.create("lending", 1024, 8, Hugepages.NONE);
    int id = lending.allocate(APP);
    lending.close();
    assertThat(lending.leftMapped()).isTrue();
    lending.memory().set(ValueLayout.JAVA_LONG, lending.frameAt(id), 7);
  }
}
