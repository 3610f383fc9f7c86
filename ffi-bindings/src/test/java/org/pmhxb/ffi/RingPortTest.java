package org.pmhxb.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Frames through a net_ring port and back, from Java. */
class RingPortTest {
  private static final int STRIDE_BYTES = 10_368;
  private static final int COUNT = 63;
  private static final int FRAME_OFFSET = 128;
  private static final long HOLD = 1L << 24;

  private Region region;
  private long pool;
  private long toPort;
  private long fromPort;
  private int port;
  private Arena arena;
  private MemorySegment descs;
  private MemorySegment ids;

  private static long frameAt(int id) {
    return (long) id * STRIDE_BYTES + FRAME_OFFSET;
  }

  @BeforeEach
  void attach() {
    Eal.init(EalOptions.defaults().withHeapMegabytes(64));
    region = Region.map((COUNT + 1L) * STRIDE_BYTES, Hugepages.AUTO);
    pool = Pools.create(region, STRIDE_BYTES, COUNT, 0, Pools.ANY_SOCKET, "ring-test");
    toPort = Rings.create("ring-test-rx", 16, true, true);
    fromPort = Rings.create("ring-test-tx", 8, true, true);
    port = Rings.port("ring-test", new long[] {toPort}, new long[] {fromPort});
    Ports.configure(port, 0, 0, 0, pool);
    Ports.start(port);
    arena = Arena.ofConfined();
    descs = arena.allocate(ValueLayout.JAVA_LONG, 64);
    ids = arena.allocate(ValueLayout.JAVA_INT, 64);
  }

  @AfterEach
  void detach() {
    Ports.close(port);
    Rings.free(toPort);
    Rings.free(fromPort);
    assertThat(Pools.available(pool)).as("all buffers came home").isEqualTo(COUNT);
    Pools.destroy(pool);
    region.close();
    arena.close();
  }

  private long desc(int i) {
    return descs.getAtIndex(ValueLayout.JAVA_LONG, i);
  }

  private void allocate(int n, int lengthBytes, long flags) {
    assertThat(Hxb.poolAlloc(pool, ids.address(), n)).isEqualTo(n);
    for (int i = 0; i < n; i++) {
      long id = ids.getAtIndex(ValueLayout.JAVA_INT, i);
      descs.setAtIndex(ValueLayout.JAVA_LONG, i, id | flags | (long) lengthBytes << 32);
    }
  }

  private void release(int from, int to) {
    for (int i = from; i < to; i++) {
      ids.setAtIndex(ValueLayout.JAVA_INT, 0, (int) (desc(i) & 0xffffff));
      assertThat(Hxb.poolRelease(pool, ids.address(), 1)).isEqualTo(1);
    }
  }

  @Test
  void aFrameKeepsItsBufferAndBytesThroughThePort() {
    allocate(1, 100, 0);
    long sent = desc(0);
    int id = (int) sent & 0xffffff;
    MemorySegment memory = region.segment();
    memory.set(ValueLayout.JAVA_LONG, frameAt(id), 0x1122334455667788L);
    assertThat(Hxb.txBurst(port, 0, pool, descs.address(), 1)).isEqualTo(1);
    assertThat(Hxb.ringDequeue(fromPort, pool, descs.address(), 8)).isEqualTo(1);
    assertThat(desc(0)).isEqualTo(sent);
    assertThat(Hxb.ringEnqueue(toPort, pool, descs.address(), 1)).isEqualTo(1);
    assertThat(Hxb.rxBurst(port, 0, pool, descs.address(), 32)).isEqualTo(1);
    assertThat(desc(0)).isEqualTo(sent);
    assertThat(memory.get(ValueLayout.JAVA_LONG, frameAt(id))).isEqualTo(0x1122334455667788L);
    release(0, 1);
  }

  @Test
  void aBurstTakesAPrefixAndTheCallerKeepsTheRest() {
    allocate(10, 64, 0);
    assertThat(Hxb.ringFreeCount(fromPort)).isEqualTo(8);
    assertThat(Hxb.txBurstBlocking(port, 0, pool, descs.address(), 10)).isEqualTo(8);
    assertThat(Hxb.ringCount(fromPort)).isEqualTo(8);
    assertThat(Pools.available(pool)).isEqualTo(COUNT - 10);
    release(8, 10);
    assertThat(Hxb.ringDequeue(fromPort, pool, descs.address(), 64)).isEqualTo(8);
    release(0, 8);
  }

  @Test
  void aHeldFrameStaysWithTheCallerToo() {
    allocate(9, 64, HOLD);
    assertThat(Hxb.txBurst(port, 0, pool, descs.address(), 9)).isEqualTo(8);
    int first = (int) desc(0) & 0xffffff;
    int last = (int) desc(8) & 0xffffff;
    assertThat(Hxb.poolRefcnt(pool, first)).isEqualTo(2);
    assertThat(Hxb.poolRefcnt(pool, last)).as("not taken: reference taken back").isEqualTo(1);
    release(0, 9);
    assertThat(Hxb.poolRefcnt(pool, first)).isEqualTo(1);
    assertThat(Pools.available(pool)).isEqualTo(COUNT - 8);
    // @AfterEach frees the ring with the eight frames in it: they come home from there.
  }

  @Test
  void descriptorsOutOfRangeAreRefusedAndCounted() {
    descs.setAtIndex(ValueLayout.JAVA_LONG, 0, (COUNT + 1L) | 64L << 32);
    assertThat(Hxb.txBurst(port, 0, pool, descs.address(), 1)).isEqualTo(-Errno.EINVAL);
    descs.setAtIndex(ValueLayout.JAVA_LONG, 0, 1L | 20_000L << 32);
    assertThat(Hxb.txBurst(port, 0, pool, descs.address(), 1)).isEqualTo(-Errno.EINVAL);
    assertThat(Ports.stats(port).txRefused()).isEqualTo(2);
    assertThat(Hxb.rxBurst(port, 1, pool, descs.address(), 1)).isEqualTo(-Errno.EINVAL);
    assertThat(Hxb.rxBurst(31, 0, pool, descs.address(), 1)).isEqualTo(-Errno.ENETDOWN);
    assertThat(Hxb.rxBurst(-1, 0, pool, descs.address(), 1)).isEqualTo(-Errno.ENODEV);
  }

  @Test
  void thePortSaysWhatItIs() {
    assertThat(Ports.info(port).driver()).isEqualTo("net_ring");
    assertThat(Ports.info(port).device()).isEqualTo("net_ring_ring-test");
    assertThat(Ports.info(port).queues()).isEqualTo(1);
    assertThat(Ports.linkMbps(port)).isPositive();
    assertThat(Ports.macAddress(port)).isZero();
    assertThat(Ports.count()).isEqualTo(1);
  }
}
