package org.pmhxb.pm.port;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.ffi.Hugepages;

/** DPDK's net_af_packet. */
class AfPacketPortTest extends VethPortContract {
  @Override
  Port open(String interfaceName, DpdkPool pool) {
    return DpdkPorts.afPacket(interfaceName, pool);
  }

  @Test
  void unfitSizesAreRefusedWithValueAndUnit() {
    try (DpdkPool small = DpdkPool.create(unique("s"), 2048, 8, Hugepages.NONE)) {
      assertThatThrownBy(() -> DpdkPorts.afPacket(ifA, small)).hasMessageContaining("1920 B");
    }
    assertThatThrownBy(() -> DpdkPorts.afPacket(ifA, poolA, 100))
        .hasMessageContaining("100 frames");
    assertThatThrownBy(() -> DpdkPorts.afPacket("nosuchif0", poolA))
        .hasMessageContaining("nosuchif0");
    assertThatThrownBy(() -> DpdkPorts.pci("0000:00:00.0", "", poolA, 512, 1500))
        .hasMessageContaining("0000:00:00.0");
  }
}
