package org.pmhxb.pm.port;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ShmPortTest extends PortContract {
  @Override
  void connect() {
    String line = "hxb-test-" + ProcessHandle.current().pid() + unique("-");
    a = DpdkPorts.shm(unique("s"), line, true, poolA, MAC_A);
    b = DpdkPorts.shm(unique("c"), line, false, poolB, MAC_B);
  }

  @Override
  boolean wakes() {
    return true;
  }

  @Test
  void badNamesAndAddressesAreRefused() {
    assertThatThrownBy(() -> DpdkPorts.shm("x", "a,b", true, poolA, MAC_A))
        .hasMessageContaining("a,b");
    assertThatThrownBy(() -> DpdkPorts.shm("x", "ok", true, poolA, 0x01_00_00_00_00_00L))
        .hasMessageContaining("0x10000000000");
  }
}
