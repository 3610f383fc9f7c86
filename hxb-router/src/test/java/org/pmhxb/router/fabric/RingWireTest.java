package org.pmhxb.router.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.ffi.Eal;
import org.pmhxb.ffi.EalOptions;
import org.pmhxb.ffi.Hugepages;
import org.pmhxb.ffi.NativeException;
import org.pmhxb.ffi.Rings;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.port.DpdkPort;
import org.pmhxb.pm.port.DpdkPorts;

/** The switch of one line: what it copies, to whom, and what it drops for which reason. */
class RingWireTest {
  private static final int STATIONS = 3;
  private static final int CAPACITY = 200;
  private static final int RING_FRAMES = 64;
  private static final int WINDOW = Owner.of(Owner.WINDOW, 1);
  private static final long BROADCAST = 0xFFFF_FFFF_FFFFL;
  private static final AtomicInteger NUMBER = new AtomicInteger();
  private static final ValueLayout.OfLong BE_LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt BE_INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private final List<DpdkPool> pools = new ArrayList<>();
  private final List<DpdkPort> ports = new ArrayList<>();
  private final List<Long> rings = new ArrayList<>();
  private final Burst burst = new Burst(64);
  private RingWire wire;
  private RingWire.Line line;

  @BeforeAll
  static void startDpdk() {
    Eal.init(EalOptions.defaults());
  }

  private void build() {
    wire = new RingWire();
    line = wire.addLine();
    for (int i = 0; i < STATIONS; i++) {
      String name = "w" + NUMBER.incrementAndGet();
      DpdkPool pool =
          DpdkPool.create(name, BufferPool.JUMBO_STRIDE_BYTES, CAPACITY, Hugepages.AUTO);
      long rx = Rings.create(name + "i", RING_FRAMES, true, true);
      long tx = Rings.create(name + "o", RING_FRAMES, true, true);
      pools.add(pool);
      rings.add(rx);
      rings.add(tx);
      ports.add(DpdkPorts.ring(name, rx, tx, pool, mac(i)));
      line.attach(i, tx, rx, mac(i), pool);
    }
  }

  private static long mac(int station) {
    return 0x0200_0000_0100L | station;
  }

  @AfterEach
  void everyBufferComesHome() {
    ports.forEach(DpdkPort::close);
    wire.close();
    rings.forEach(Rings::free);
    for (DpdkPool pool : pools) {
      pool.reclaim(WINDOW);
      pool.reclaim(Owner.NODE);
      assertThat(pool.available()).isEqualTo(CAPACITY);
      pool.close();
      assertThat(pool.leftMapped()).isFalse();
    }
  }

  private long frame(int from, long dstMac, int serial, int lengthBytes) {
    DpdkPool pool = pools.get(from);
    int id = pool.allocate(WINDOW);
    long at = pool.frameAt(id);
    pool.memory().set(BE_LONG, at, dstMac << 16 | 0x0200);
    pool.memory().set(BE_INT, at + lengthBytes - 4, serial);
    return Burst.descriptor(id, lengthBytes);
  }

  private void send(int from, long descriptor) {
    burst.set(0, descriptor);
    assertThat(ports.get(from).txBurst(burst, 0, 1)).isEqualTo(1);
    if ((descriptor & Burst.HOLD) == 0) {
      pools.get(from).transfer(Burst.id(descriptor), WINDOW, Owner.PORT);
    }
  }

  /** The serial number of the next frame, or -1; the buffer goes home at once. */
  private int receive(int at, int lengthBytes) {
    if (ports.get(at).rxBurst(burst, 1) == 0) {
      return -1;
    }
    DpdkPool pool = pools.get(at);
    int id = Burst.id(burst.get(0));
    pool.transfer(id, Owner.PORT, Owner.NODE);
    assertThat(Burst.lengthBytes(burst.get(0))).isEqualTo(lengthBytes);
    int serial = pool.memory().get(BE_INT, pool.frameAt(id) + lengthBytes - 4);
    pool.release(id, Owner.NODE);
    return serial;
  }

  @Test
  void anAddressIsOneStationsOfALine() {
    build();
    RingWire.Line other = wire.addLine();
    other.attach(0, rings.get(1), rings.get(0), mac(1), pools.get(0));
    assertThatThrownBy(() -> line.attach(0, rings.get(1), rings.get(0), mac(1), pools.get(0)))
        .isInstanceOf(NativeException.class)
        .hasMessageContaining("hxb_wire_attach(line 0, node 0, address 020000000101)")
        .hasMessageContaining("EEXIST")
        .hasMessageContaining("a station of that line has the address: give each its own");
  }

  @Test
  void aFrameGoesToItsAddressAndNowhereElse() {
    build();
    for (int length : new int[] {60, 64, 1514, 9014}) {
      send(0, frame(0, mac(2), length, length));
      assertThat(wire.carryAll()).isEqualTo(1);
      assertThat(receive(2, length)).isEqualTo(length);
      assertThat(receive(1, length)).isEqualTo(-1);
      assertThat(receive(0, length)).isEqualTo(-1);
    }
    assertThat(wire.copies()).isEqualTo(4);
    assertThat(wire.carryAll()).isZero();
  }

  @Test
  void aHeldFrameIsTheSendersAloneOnceItPassed() {
    build();
    long descriptor = frame(0, mac(1), 5, 100) | Burst.HOLD;
    int id = Burst.id(descriptor);
    send(0, descriptor);
    assertThat(pools.get(0).references(id)).isEqualTo(2);
    wire.carryAll();
    assertThat(pools.get(0).references(id)).isEqualTo(1);
    // What the sender writes now, the receiver no longer sees: the copy is its own.
    pools.get(0).memory().set(BE_INT, pools.get(0).frameAt(id) + 96, 6);
    assertThat(receive(1, 100)).isEqualTo(5);
  }

  @Test
  void aBroadcastReachesAllOthers() {
    build();
    send(1, frame(1, BROADCAST, 9, 64));
    wire.carryAll();
    assertThat(receive(0, 64)).isEqualTo(9);
    assertThat(receive(2, 64)).isEqualTo(9);
    assertThat(receive(1, 64)).isEqualTo(-1);
    assertThat(wire.copies()).isEqualTo(2);
  }

  @Test
  void whatNobodyAnswersToIsCounted() {
    build();
    send(0, frame(0, 0x0200_0000_0999L, 1, 64));
    wire.carryAll();
    assertThat(wire.unknownAddress()).isEqualTo(1);
    assertThat(wire.copies()).isZero();
  }

  @Test
  void aFullReceiveRingDropsAndCounts() {
    build();
    for (int i = 0; i < RING_FRAMES + 10; i++) {
      send(0, frame(0, mac(1), i, 64));
      wire.carryAll();
    }
    assertThat(wire.ringFull()).isEqualTo(10);
    for (int i = 0; i < RING_FRAMES; i++) {
      assertThat(receive(1, 64)).isEqualTo(i);
    }
    assertThat(receive(1, 64)).isEqualTo(-1);
  }

  @Test
  void aReceiverWithoutBuffersDropsAndCounts() {
    build();
    int[] ids = new int[CAPACITY];
    int hoarded = pools.get(1).allocate(WINDOW, ids, 0, CAPACITY);
    assertThat(hoarded).isEqualTo(CAPACITY);
    for (int i = 0; i < 5; i++) {
      send(0, frame(0, mac(1), i, 64));
    }
    wire.carryAll();
    assertThat(wire.noBuffer()).isEqualTo(5);
    pools.get(1).reclaim(WINDOW);
    send(0, frame(0, mac(1), 77, 64));
    wire.carryAll();
    assertThat(receive(1, 64)).isEqualTo(77);
  }

  @Test
  void aCutLineLosesAllUntilItIsMended() {
    build();
    line.cut(true);
    send(0, frame(0, mac(1), 1, 64));
    wire.carryAll();
    assertThat(receive(1, 64)).isEqualTo(-1);
    line.cut(false);
    send(0, frame(0, mac(1), 2, 64));
    wire.carryAll();
    assertThat(receive(1, 64)).isEqualTo(2);
    assertThat(wire.lost()).isEqualTo(1);
  }

  @Test
  void onlyTheNodeWhoseTurnItIsGetsItsFramesCarried() {
    build();
    send(0, frame(0, mac(2), 3, 64));
    send(1, frame(1, mac(2), 4, 64));
    assertThat(wire.carry(1)).isEqualTo(1);
    assertThat(receive(2, 64)).isEqualTo(4);
    assertThat(receive(2, 64)).isEqualTo(-1);
    assertThat(wire.carry(0)).isEqualTo(1);
    assertThat(receive(2, 64)).isEqualTo(3);
  }

  @Test
  void aClosedWireTellsWhatItCountedAndCarriesNothing() {
    build();
    line.cut(true);
    send(0, frame(0, mac(1), 1, 64));
    assertThat(wire.carryAll()).isEqualTo(1);
    line.cut(false);
    send(0, frame(0, mac(1), 2, 100));
    assertThat(wire.carryAll()).isEqualTo(1);
    assertThat(receive(1, 100)).isEqualTo(2);
    wire.close();
    line.cut(true);
    assertThat(List.of(wire.lost(), wire.copies(), wire.bytes())).containsExactly(1L, 1L, 100L);
    send(0, frame(0, mac(1), 3, 64));
    assertThat(wire.carry(0)).isZero();
    assertThat(receive(1, 64)).isEqualTo(-1);
  }

  @Test
  void carryingLeavesNoGarbage() {
    build();
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    double leastBytes = Double.MAX_VALUE;
    // One-off allocations (linkage, compilation) fall into any early round: the best one counts.
    for (int round = 0; round < 100 && leastBytes >= 0.01; round++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < 20_000; i++) {
        carryOne(i);
      }
      long bytes = threads.getCurrentThreadAllocatedBytes() - before;
      leastBytes = Math.min(leastBytes, bytes / 20_000.0);
    }
    assertThat(leastBytes).as("bytes per frame").isLessThan(0.01);
  }

  private void carryOne(int serial) {
    burst.set(0, frame(0, mac(1), serial, 64));
    if (ports.get(0).txBurst(burst, 0, 1) == 1) {
      pools.get(0).transfer(Burst.id(burst.get(0)), WINDOW, Owner.PORT);
    }
    wire.carryAll();
    while (ports.get(1).rxBurst(burst, 1) == 1) {
      int id = Burst.id(burst.get(0));
      pools.get(1).transfer(id, Owner.PORT, Owner.NODE);
      pools.get(1).release(id, Owner.NODE);
    }
  }
}
