package org.pmhxb.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RegionAndPoolTest {
  private static final int STRIDE_BYTES = 2_176;

  @BeforeAll
  static void start() {
    Eal.init(EalOptions.defaults().withHeapMegabytes(64));
  }

  @ParameterizedTest
  @EnumSource(
      value = Hugepages.class,
      names = {"AUTO", "NONE"})
  void aRegionIsWholePagesAndAllThere(Hugepages pages) {
    try (Region region = Region.map(100_000, pages)) {
      assertThat(region.lengthBytes()).isGreaterThanOrEqualTo(100_000);
      assertThat(region.lengthBytes() % region.pageBytes()).isZero();
      assertThat(region.address() % region.pageBytes()).isZero();
      assertThat(region.fd()).isPositive();
      MemorySegment memory = region.segment();
      memory.fill((byte) 7);
      assertThat(memory.get(ValueLayout.JAVA_BYTE, region.lengthBytes() - 1)).isEqualTo((byte) 7);
    }
  }

  @Test
  void tooLittleMemoryIsAnErrorThatSaysWhatToDo() {
    assertThatThrownBy(() -> Region.map(1L << 45, Hugepages.REQUIRED))
        .isInstanceOf(NativeException.class)
        .hasMessageContaining("ENOMEM")
        .hasMessageContaining("needs 16777216 pages of 2 MB, ")
        .hasMessageContaining(" are free: as root, sysctl -w vm.nr_hugepages=");
    assertThatThrownBy(() -> Region.map(0, Hugepages.NONE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("0 bytes");
  }

  @Test
  void aClosedRegionHasNoSegment() {
    Region region = Region.map(4096, Hugepages.NONE);
    region.close();
    region.close();
    assertThatThrownBy(region::segment).isInstanceOf(IllegalStateException.class);
  }

  @ParameterizedTest
  @EnumSource(
      value = Hugepages.class,
      names = {"AUTO", "NONE"})
  void buffersAreCountedByReference(Hugepages pages) {
    try (Region region = Region.map(100L * STRIDE_BYTES, pages);
        Arena arena = Arena.ofConfined()) {
      long pool = Pools.create(region, STRIDE_BYTES, 99, 0, Pools.ANY_SOCKET, "java-pool");
      MemorySegment ids = arena.allocate(ValueLayout.JAVA_INT, 100);
      assertThat(Hxb.poolAlloc(pool, ids.address(), 100)).isEqualTo(99);
      assertThat(Pools.available(pool)).isZero();
      int id = ids.get(ValueLayout.JAVA_INT, 0);
      assertThat(Hxb.poolRef(pool, id, 1)).isEqualTo(2);
      MemorySegment table = Pools.mbufTable(pool, 99);
      long mbuf = table.getAtIndex(ValueLayout.JAVA_LONG, id);
      short inPlace =
          Memory.view(mbuf, 128).get(ValueLayout.JAVA_SHORT, NativeLibrary.MBUF_REFCNT_OFFSET);
      assertThat(inPlace).isEqualTo((short) 2);
      assertThat(table.get(ValueLayout.JAVA_LONG, 0)).as("ID 0 is none").isZero();
      assertThat(Hxb.poolRelease(pool, ids.address(), 99)).isEqualTo(99);
      assertThatThrownBy(() -> Pools.destroy(pool))
          .isInstanceOf(NativeException.class)
          .hasMessageContaining("EBUSY");
      assertThat(Hxb.poolRelease(pool, ids.address(), 1)).isEqualTo(1);
      Pools.destroy(pool);
    }
  }

  @Test
  void wrongPoolsAreRefusedByName() {
    try (Region region = Region.map(10L * STRIDE_BYTES, Hugepages.NONE)) {
      assertThatThrownBy(() -> Pools.create(region, STRIDE_BYTES, 1000, 0, -1, "big"))
          .isInstanceOf(NativeException.class)
          .hasMessageContaining("big")
          .hasMessageContaining("region is too small");
      assertThatThrownBy(() -> Pools.create(region, 33_000, 1, 0, -1, "wide"))
          .hasMessageContaining("stride 256..32768 and a multiple of 128");
      assertThatThrownBy(() -> Pools.create(region, STRIDE_BYTES, 1, 0, -1, ""))
          .isInstanceOf(IllegalArgumentException.class);
      long first = Pools.create(region, STRIDE_BYTES, 4, 0, -1, "twin");
      assertThatThrownBy(() -> Pools.create(region, STRIDE_BYTES, 4, 0, -1, "twin"))
          .hasMessageContaining("EEXIST");
      Pools.destroy(first);
    }
  }

  @Test
  void aDoorbellWakesAWaiter() {
    int bell = Events.create();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment fds = arena.allocateFrom(ValueLayout.JAVA_INT, -1, bell);
      assertThat(Hxb.waitReadable(fds.address(), 2, -1, 1000)).isZero();
      assertThat(Hxb.eventSignal(bell)).isZero();
      assertThat(Hxb.waitReadable(fds.address(), 2, -1, -1)).isEqualTo(1);
      assertThat(Hxb.waitReadable(fds.address(), 1, bell, -1)).isEqualTo(1);
      assertThat(Hxb.waitReadable(fds.address(), 2, bell, 0)).isZero();
    } finally {
      Events.close(bell);
    }
  }

  @Test
  void portErrorsNameTheCallTheCodeAndDpdksWords() {
    assertThatThrownBy(() -> Ports.attach("net_af_packet7", "iface=no-such-if0"))
        .isInstanceOf(NativeException.class)
        .hasMessageContaining("net_af_packet7")
        .hasMessageContaining("EIO")
        .hasMessageContaining("DPDK says");
    assertThatThrownBy(() -> Ports.start(30)).hasMessageContaining("ENODEV");
    assertThatThrownBy(() -> AfPacket.socket("no-such-if0", 0)).hasMessageContaining("no-such-if0");
    assertThatThrownBy(() -> AfPacket.interfaceUp("no-such-if0")).hasMessageContaining("ENODEV");
    assertThat(AfPacket.interfaceMtu("lo")).isGreaterThanOrEqualTo(1500);
    assertThatThrownBy(() -> Rings.create("ring-of-none", 0, true, true))
        .hasMessageContaining("capacity is 1 to 1048576");
  }
}
