package org.pmhxb.pm.port;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MemifPortTest extends PortContract {
  @Override
  void connect() {
    String line = "hxb-test-" + ProcessHandle.current().pid() + unique("-");
    a = DpdkPorts.memif(unique("s"), line, true, poolA, MAC_A);
    b = DpdkPorts.memif(unique("c"), line, false, poolB, MAC_B);
  }

  /**
   * DPDK's interrupt thread takes the line down at the other end; closing that end meanwhile would
   * free the same memory twice (22.11).
   */
  @Override
  @AfterEach
  void close() {
    a.close();
    long deadline = System.nanoTime() + 5_000_000_000L;
    while (b.linkUp()) {
      assertThat(System.nanoTime()).as("the other end noticed").isLessThan(deadline);
      Thread.onSpinWait();
    }
    LockSupport.parkNanos(20_000_000);
    super.close();
  }

  @Test
  void badNamesAndAddressesAreRefused() {
    assertThatThrownBy(() -> DpdkPorts.memif("x", "a,b", true, poolA, MAC_A))
        .hasMessageContaining("a,b");
    assertThatThrownBy(() -> DpdkPorts.memif("x", "ok", true, poolA, 0x01_00_00_00_00_00L))
        .hasMessageContaining("0x10000000000");
  }
}
