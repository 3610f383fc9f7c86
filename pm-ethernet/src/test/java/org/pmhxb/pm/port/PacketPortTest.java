package org.pmhxb.pm.port;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.ffi.Hugepages;
import org.pmhxb.ffi.NativeException;
import org.pmhxb.pm.wire.FrameHeader;

/** A packet socket of the shim's own. */
class PacketPortTest extends VethPortContract {
  @Override
  Port open(String interfaceName, DpdkPool pool) {
    return PacketPort.open(interfaceName, FrameHeader.ETHER_TYPE, pool);
  }

  @Test
  void whatCannotBeOpenedIsNamed() {
    assertThatThrownBy(() -> open("nosuchif0", poolA))
        .isInstanceOf(NativeException.class)
        .hasMessageContaining("nosuchif0");
    assertThatThrownBy(() -> PacketPort.open(ifA, 0, poolA))
        .isInstanceOf(NativeException.class)
        .hasMessageContaining("0x0000");
  }

  @Test
  void thePoolsBuffersBoundTheFrame() {
    try (DpdkPool small = DpdkPool.create(unique("s"), 2048, 8, Hugepages.NONE);
        Port port = open(ifA, small)) {
      assertThat(port.maxFrameBytes()).isEqualTo(small.frameCapacityBytes());
    }
  }

  @Test
  void whatTheInterfaceRefusesIsCounted() throws Exception {
    run("ip link set " + ifA + " down");
    burst.set(0, frame(0, 64));
    sendAll(burst, 1);
    assertThat(a.counters().txErrors()).isEqualTo(1);
    assertThat(receiveOrZero()).isZero();
  }

  /** Its name may be another's by then, of which the kernel counts from 0 on. */
  @Test
  void countsDoNotGoBackWhenTheInterfaceIsMadeAnew() throws Exception {
    burst.set(0, frame(0, 64));
    sendAll(burst, 1);
    release(receive());
    PortCounters before = a.counters();
    assertThat(before.txFrames()).isEqualTo(1);
    run("ip link del " + ifA);
    assertThat(a.counters()).isEqualTo(before);
    run("ip link add " + ifA + " type veth peer name " + ifB);
    assertThat(a.counters()).isEqualTo(before);
  }

  /** The kernel's columns, and only of this interface. */
  @Test
  void theKernelsCountsAreRead() {
    assertThat(InterfaceCounters.parse(" 10 1 2 3 4 5 6 7 80 8 9 10 11 12 13 14"))
        .isEqualTo(new PortCounters(1, 10, 8, 80, 4, 2, 19));
  }
}
