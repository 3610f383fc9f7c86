package org.pmhxb.pm.port;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.ffi.AfPacket;
import org.pmhxb.ffi.Eal;
import org.pmhxb.ffi.EalOptions;
import org.pmhxb.ffi.Hugepages;
import org.pmhxb.ffi.Ports;

/**
 * Ports with an MTU and rings of their own, by DPDK's net_tap, whose other end is an interface of
 * the kernel; needs root. It takes 1,504 bytes at most.
 */
class PhysicalPortTest {
  private static final int BUFFERS = 300;
  private static final int ETHER_TYPE = 0x88B5;
  private static final int WINDOW = Owner.of(Owner.WINDOW, 1);

  private DpdkPool pool;
  private String tap;
  private int number;

  @BeforeAll
  static void needsRoot() {
    Assumptions.assumeTrue(
        "root".equals(System.getProperty("user.name")), "tap interfaces can be made by root only");
    Eal.init(EalOptions.defaults());
  }

  @BeforeEach
  void attach() {
    pool = DpdkPool.create(PortContract.unique("tap"), 2_048, BUFFERS, Hugepages.AUTO);
    tap = "hxbt" + ProcessHandle.current().pid();
    number = attachTap();
  }

  private int attachTap() {
    return Ports.attach(PortContract.unique("net_tap"), "iface=" + tap);
  }

  @AfterEach
  void everyBufferIsHome() {
    assertThat(pool.available()).isEqualTo(BUFFERS);
    pool.close();
  }

  @Test
  @Timeout(value = 20, unit = TimeUnit.SECONDS)
  void theDeviceIsSetToTheMtu() {
    Burst burst = new Burst(32);
    try (Port port = DpdkPorts.physical(number, tap, pool, 64, 1_400)) {
      assertThat(AfPacket.interfaceMtu(tap)).isEqualTo(1_400);
      assertThat(port.maxFrameBytes()).isEqualTo(1_414);
      try (Port kernel = PacketPort.open(tap, ETHER_TYPE, pool)) {
        carry(port, kernel, burst);
        carry(kernel, port, burst);
      }
    }
    pool.flush();
  }

  private void carry(Port from, Port to, Burst burst) {
    int id = pool.allocate(WINDOW);
    long at = pool.frameAt(id);
    ValueLayout.OfShort bigEndian =
        ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    pool.memory().asSlice(at, 1_414).fill((byte) 0xFF);
    pool.memory().set(bigEndian, at + 12, (short) ETHER_TYPE);
    burst.set(0, Burst.descriptor(id, 1_414));
    while (from.txBurst(burst, 0, 1) == 0) {
      Thread.onSpinWait();
    }
    pool.transfer(id, WINDOW, Owner.PORT);
    // The kernel has frames of its own, of other lengths.
    boolean came = false;
    while (!came) {
      int n = to.rxBurst(burst, 32);
      for (int i = 0; i < n; i++) {
        came |= Burst.lengthBytes(burst.get(i)) == 1_414;
        pool.transfer(Burst.id(burst.get(i)), Owner.PORT, WINDOW);
        pool.release(Burst.id(burst.get(i)), WINDOW);
      }
    }
  }

  @Test
  void anMtuThatItDoesNotTakeIsRefusedAndNothingIsLeft() {
    assertThatThrownBy(() -> DpdkPorts.physical(number, tap, pool, 64, 9_000))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(tap, "9000", "lower mtu");
    assertThatThrownBy(() -> AfPacket.interfaceMtu(tap)).hasMessageContaining(tap);
    number = attachTap();
    Ports.close(number);
  }
}
