package org.pmhxb.pm.port;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.ffi.Eal;
import org.pmhxb.ffi.EalOptions;
import org.pmhxb.ffi.Hugepages;
import org.pmhxb.ffi.Hxb;

/** What every port does: two of them, joined by a line, {@link #a} and {@link #b}. */
abstract class PortContract {
  static final int CAPACITY = 1000;
  static final int WINDOW = Owner.of(Owner.WINDOW, 1);
  static final long MAC_A = 0x02_00_00_00_00_0AL;
  static final long MAC_B = 0x02_00_00_00_00_0BL;

  private static final AtomicInteger NUMBER = new AtomicInteger();
  private static final ValueLayout.OfShort BE_SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt BE_INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int SERIAL_AT = 14;

  /** Frames of a kernel's own on a veth line are told apart by this. */
  private static final short ETHER_TYPE = (short) 0x88B5;

  DpdkPool poolA;
  DpdkPool poolB;
  Port a;
  Port b;
  final Burst burst = new Burst(64);
  final Burst received = new Burst(64);

  /** Joins {@link #a} and {@link #b} over the pools given. */
  abstract void connect() throws Exception;

  /** Whether both ends must share one pool (bare rings pass buffers, not frames). */
  boolean onePool() {
    return false;
  }

  /** Whether a frame can wake who sleeps. */
  boolean wakes() {
    return false;
  }

  /** Frames that may be sent while nobody receives, and none is lost: the line refuses more. */
  int framesWithoutReader() {
    return CAPACITY - 64;
  }

  @BeforeAll
  static void startDpdk() {
    Eal.init(EalOptions.defaults());
  }

  static String unique(String prefix) {
    return prefix + NUMBER.incrementAndGet();
  }

  @BeforeEach
  void open() throws Exception {
    poolA = DpdkPool.create(unique("pa"), BufferPool.JUMBO_STRIDE_BYTES, CAPACITY, Hugepages.AUTO);
    poolB =
        onePool()
            ? poolA
            : DpdkPool.create(
                unique("pb"), BufferPool.JUMBO_STRIDE_BYTES, CAPACITY, Hugepages.AUTO);
    connect();
    long deadline = System.nanoTime() + 5_000_000_000L;
    while (!(a.linkUp() && b.linkUp())) {
      assertThat(System.nanoTime()).as("link is up").isLessThan(deadline);
      Thread.onSpinWait();
    }
    // A memif client offers its peer buffers to send into when it polls.
    a.rxBurst(received, 1);
    b.rxBurst(received, 1);
  }

  @AfterEach
  void close() {
    for (Port port : new Port[] {a, b}) {
      if (port != null) {
        port.close();
      }
    }
    for (DpdkPool pool : new DpdkPool[] {poolA, poolB}) {
      pool.reclaim(WINDOW);
      pool.reclaim(Owner.NODE);
      pool.close();
      assertThat(pool.leftMapped()).as("every buffer came home").isFalse();
    }
  }

  /** Writes a frame that tells its number and length; the buffer belongs to WINDOW. */
  long frame(int serial, int lengthBytes) {
    int id = poolA.allocate(WINDOW);
    assertThat(id).isPositive();
    MemorySegment memory = poolA.memory();
    long at = poolA.frameAt(id);
    memory.asSlice(at, lengthBytes).fill((byte) serial);
    memory.asSlice(at, 6).fill((byte) 0xFF);
    memory.set(ValueLayout.JAVA_BYTE, at + 6, (byte) 2);
    memory.set(BE_SHORT, at + 12, ETHER_TYPE);
    memory.set(BE_INT, at + SERIAL_AT, serial);
    return Burst.descriptor(id, lengthBytes);
  }

  /** A transmit burst as an endpoint does it: what was taken is the port's. */
  int send(Burst frames, int from, int count) {
    int taken = a.txBurst(frames, from, count);
    for (int i = from; i < from + taken; i++) {
      if ((frames.get(i) & Burst.HOLD) == 0) {
        poolA.transfer(Burst.id(frames.get(i)), WINDOW, Owner.PORT);
      }
    }
    return taken;
  }

  void sendAll(Burst frames, int count) {
    long deadline = System.nanoTime() + 5_000_000_000L;
    for (int done = 0; done < count; ) {
      done += send(frames, done, count - done);
      assertThat(System.nanoTime()).as("frames taken").isLessThan(deadline);
    }
  }

  /** Receives until a frame of ours is there; its descriptor, the buffer belongs to NODE. */
  long receive() {
    long deadline = System.nanoTime() + 5_000_000_000L;
    while (true) {
      assertThat(System.nanoTime()).as("frame arrived").isLessThan(deadline);
      long descriptor = receiveOrZero();
      if (descriptor != 0) {
        return descriptor;
      }
    }
  }

  long receiveOrZero() {
    if (b.rxBurst(received, 1) == 0) {
      // A port does its housekeeping (frames left behind) when it is polled.
      a.rxBurst(received, 0);
      return 0;
    }
    int id = Burst.id(received.get(0));
    poolB.transfer(id, Owner.PORT, Owner.NODE);
    if (poolB.memory().get(BE_SHORT, poolB.frameAt(id) + 12) == ETHER_TYPE) {
      return received.get(0);
    }
    poolB.release(id, Owner.NODE);
    return 0;
  }

  int serial(long descriptor) {
    return poolB.memory().get(BE_INT, poolB.frameAt(Burst.id(descriptor)) + SERIAL_AT);
  }

  void release(long descriptor) {
    poolB.release(Burst.id(descriptor), Owner.NODE);
  }

  @Test
  void framesOfEverySizeArriveUnchanged() {
    assertThat(a.maxFrameBytes()).isGreaterThanOrEqualTo(9014);
    for (int length : new int[] {60, 61, 64, 127, 128, 1514, 1518, 4096, 8192, 9013, 9014}) {
      burst.set(0, frame(length, length));
      sendAll(burst, 1);
      long descriptor = receive();
      assertThat(Burst.lengthBytes(descriptor)).isEqualTo(length);
      assertThat(serial(descriptor)).isEqualTo(length);
      MemorySegment rest =
          poolB.memory().asSlice(poolB.frameAt(Burst.id(descriptor)) + 18, length - 18);
      for (byte value : rest.toArray(ValueLayout.JAVA_BYTE)) {
        assertThat(value).isEqualTo((byte) length);
      }
      release(descriptor);
    }
  }

  @Test
  void framesKeepTheirOrder() {
    int sent = 0;
    for (int expected = 0; expected < 2000; expected++) {
      if (sent == expected) {
        for (int i = 0; i < 32; i++) {
          burst.set(i, frame(sent + i, 100));
        }
        sendAll(burst, 32);
        sent += 32;
      }
      long descriptor = receive();
      assertThat(serial(descriptor)).isEqualTo(expected);
      release(descriptor);
    }
    while (sent % 2000 != 0 && sent > 2000) {
      release(receive());
      sent--;
    }
    assertThat(poolB.ownedBy(Owner.NODE)).isZero();
  }

  @Test
  void aBurstTakesAPrefixAndTheCallerKeepsTheRest() {
    // Nobody receives: sooner or later the line is full.
    int serial = 0;
    int taken = 32;
    while (taken == 32 && serial < framesWithoutReader()) {
      for (int i = 0; i < 32; i++) {
        burst.set(i, frame(serial + i, 64));
      }
      taken = send(burst, 0, 32);
      for (int i = taken; i < 32; i++) {
        int id = Burst.id(burst.get(i));
        assertThat(poolA.references(id)).as("the caller's").isEqualTo(1);
        poolA.release(id, WINDOW);
      }
      serial += taken;
    }
    assertThat(serial).as("frames that the line took").isGreaterThanOrEqualTo(128);
    for (int expected = 0; expected < serial; expected++) {
      long descriptor = receive();
      assertThat(serial(descriptor)).isEqualTo(expected);
      release(descriptor);
    }
    assertThat(receiveOrZero()).isZero();
  }

  @Test
  void aHeldFrameStaysTheCallers() {
    burst.set(0, frame(7, 500) | Burst.HOLD);
    int id = Burst.id(burst.get(0));
    sendAll(burst, 1);
    long first = receive();
    assertThat(serial(first)).isEqualTo(7);
    assertThat(poolA.references(id)).isBetween(1, 2);
    release(first);
    poolB.flush();
    assertThat(poolA.references(id)).as("the port has let go").isEqualTo(1);
    assertThat(poolA.owner(id)).isEqualTo(WINDOW);
    sendAll(burst, 1);
    long again = receive();
    assertThat(serial(again)).isEqualTo(7);
    assertThat(Burst.lengthBytes(again)).isEqualTo(500);
    release(again);
    poolA.release(id, WINDOW);
  }

  @Test
  void buffersComeHome() {
    for (int round = 0; round < 3 * CAPACITY / 32; round++) {
      for (int i = 0; i < 32; i++) {
        burst.set(i, frame(i, 64));
      }
      sendAll(burst, 32);
      for (int i = 0; i < 32; i++) {
        release(receive());
      }
    }
    poolA.flush();
    poolB.flush();
    assertThat(poolA.available()).isEqualTo(CAPACITY);
    assertThat(poolB.available()).isEqualTo(CAPACITY);
  }

  @Test
  void badDescriptorRangesAreRefused() {
    assertThatThrownBy(() -> a.txBurst(burst, 60, 5)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> a.txBurst(burst, -1, 2)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> a.txBurst(burst, 0, -1)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> a.rxBurst(burst, 65)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThat(a.txBurst(burst, 64, 0)).isZero();
  }

  @Test
  void addressesAreTheRails() {
    assertThat(a.macAddress()).isPositive().isLessThan(1L << 48).isNotEqualTo(b.macAddress());
    assertThat(a.name()).isNotBlank().isNotEqualTo(b.name());
    assertThat(a.txRoom()).isBetween(1, 256);
    assertThat(a.counters().rxDropped()).isZero();
  }

  /** Whether the driver counts bytes: net_ring passes pointers. */
  boolean countsBytes() {
    return true;
  }

  @Test
  void whatPassesIsCountedAtBothEnds() {
    PortCounters before = a.counters();
    PortCounters beforeB = b.counters();
    for (int i = 0; i < 5; i++) {
      burst.set(0, frame(i, 100));
      sendAll(burst, 1);
      release(receive());
    }
    PortCounters sent = a.counters().since(before);
    PortCounters got = b.counters().since(beforeB);
    assertThat(sent.txFrames()).isEqualTo(5);
    assertThat(got.rxFrames()).isEqualTo(5);
    assertThat(sent.txBytes()).isEqualTo(countsBytes() ? 500 : 0);
    assertThat(got.rxBytes()).isEqualTo(countsBytes() ? 500 : 0);
    assertThat(got.rxDropped() + got.rxErrors() + sent.txErrors()).isZero();
  }

  @Test
  void aClosedPortCountsNothing() {
    a.close();
    assertThat(a.linkUp()).isFalse();
    assertThat(a.counters()).isEqualTo(PortCounters.ZERO);
    a.close();
  }

  @Test
  void burstsLeaveNoGarbage() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    int rounds = 10_000;
    double leastBytes = Double.MAX_VALUE;
    // The compilers' own doings, and what waits for them, fall into some rounds, garbage of ours
    // into all.
    for (int round = 0; round < 100 && leastBytes >= 0.01; round++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < rounds; i++) {
        passOne();
      }
      double bytes = (double) (threads.getCurrentThreadAllocatedBytes() - before) / rounds;
      leastBytes = Math.min(leastBytes, bytes);
    }
    assertThat(leastBytes).as("bytes per packet").isLessThan(0.01);
  }

  private void passOne() {
    int id = poolA.allocate(WINDOW);
    long at = poolA.frameAt(id);
    poolA.memory().set(BE_INT, at, -1);
    poolA.memory().set(BE_SHORT, at + 4, (short) -1);
    poolA.memory().set(BE_SHORT, at + 12, ETHER_TYPE);
    burst.set(0, Burst.descriptor(id, 64));
    int polls = 0;
    while (send(burst, 0, 1) == 0) {
      checkPatience(++polls);
    }
    long descriptor;
    while ((descriptor = receiveOrZero()) == 0) {
      checkPatience(++polls);
    }
    release(descriptor);
    a.txRoom();
    a.txBacklogBytes();
  }

  private static void checkPatience(int polls) {
    if (polls > 50_000_000) {
      throw new AssertionError("no frame after " + polls + " polls");
    }
  }

  @Test
  void anArrivingFrameWakes() {
    assertThat(b.wakeFd() >= 0).isEqualTo(wakes());
    for (int serial = 0; wakes() && serial < 3; serial++) {
      sleepUntilRung(serial);
    }
    b.stayAwake();
  }

  private void sleepUntilRung(int serial) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment fd = arena.allocateFrom(ValueLayout.JAVA_INT, b.wakeFd());
      b.wakeUp(true);
      if (b.fallAsleep()) {
        assertThat(Hxb.barrier()).isZero();
      }
      assertThat(receiveOrZero()).isZero();
      assertThat(b.missedFrames()).isFalse();
      assertThat(Hxb.waitReadable(fd.address(), 1, -1, 0)).isZero();
      burst.set(0, frame(serial, 100));
      sendAll(burst, 1);
      assertThat(Hxb.waitReadable(fd.address(), 1, -1, 2_000_000)).isEqualTo(1);
      b.wakeUp(true);
      long frame = receive();
      assertThat(serial(frame)).isEqualTo(serial);
      release(frame);
      assertThat(Hxb.waitReadable(fd.address(), 1, -1, 0)).isZero();
    }
  }
}
