package org.pmhxb.pm.port;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.bufpool.Owner;
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

  /** What was sent meanwhile is lost; frames pass again and are counted under the new name. */
  @Test
  void anInterfaceThatIsRenamedIsTheSame() throws Exception {
    burst.set(0, frame(0, 64));
    sendAll(burst, 1);
    release(receive());
    String other = ifA.substring(0, ifA.length() - 1) + "c";
    run("ip link set " + ifA + " down");
    assertThat(a.linkUp()).isFalse();
    burst.set(0, frame(1, 64));
    sendAll(burst, 1);
    run("ip link set " + ifA + " name " + other);
    try {
      run("ip link set " + other + " up");
      long untilNs = System.nanoTime() + 10_000_000_000L; // the carrier may take a second
      while (!(a.linkUp() && b.linkUp())) {
        assertThat(System.nanoTime() - untilNs).isNegative();
        Thread.sleep(10);
      }
      // The kernel may still have to tell that it was down: the first is lost then.
      for (int i = 2; i < 4; i++) {
        burst.set(0, frame(i, 64));
        sendAll(burst, 1);
      }
      int serial;
      do {
        long descriptor = receive();
        serial = serial(descriptor);
        release(descriptor);
      } while (serial != 3);
      PortCounters counted = a.counters();
      assertThat(counted.txFrames()).isBetween(2L, 3L);
      assertThat(counted.txErrors()).isEqualTo(4 - counted.txFrames());
    } finally {
      run("ip link set " + other + " down");
      run("ip link set " + other + " name " + ifA);
    }
  }

  /** In a burst with others, of which none is held up. */
  @Test
  void framesLongerThanAnMtuThatWasLoweredAreLostAlone() throws Exception {
    run("ip link set " + ifA + " mtu 1500");
    int[] lengths = {64, 9_000, 64, 9_000, 9_000, 64};
    for (int i = 0; i < lengths.length; i++) {
      burst.set(i, frame(i, lengths[i]));
    }
    sendAll(burst, lengths.length);
    for (int i : new int[] {0, 2, 5}) {
      long descriptor = receive();
      assertThat(serial(descriptor)).isEqualTo(i);
      release(descriptor);
    }
    assertThat(a.counters().txErrors()).isEqualTo(3);
    assertThat(a.linkUp()).isTrue();
  }

  /** What a short burst costs otherwise is a system call as long as a quarter of sending it. */
  @Test
  void shortBurstsNeedNoLookAtTheQueueUntilItMayBeLong() throws Exception {
    PacketPort port = (PacketPort) a;
    assertThat(port.unaskedRoom(9_216)).isEqualTo(256);
    assertThat(port.unaskedRoom(9_217)).isZero();
    run("tc qdisc add dev %s root tbf rate 8kbit burst 1600 limit 20mb".formatted(ifA));
    // 9,216 B beside the question: with what goes then it may be more.
    for (int i = 0; i < 6; i++) {
      burst.set(i, frame(i, 1_500));
    }
    sendAll(burst, 6);
    assertThat(port.unaskedRoom(64)).isEqualTo(250);
    burst.set(0, frame(6, 1_500));
    sendAll(burst, 1);
    assertThat(port.unaskedRoom(64)).isZero();
    // Most of them are before the link, 1.5 s each.
    assertThat(port.txBacklogBytes()).isPositive();
    assertThat(port.unaskedRoom(64)).isZero();
    // The next frame has the link look at its new rate.
    run("tc qdisc change dev %s root tbf rate 1gbit burst 20480 limit 20mb".formatted(ifA));
    burst.set(0, frame(7, 64));
    sendAll(burst, 1);
    for (int i = 0; i < 8; i++) {
      release(receive());
    }
    // Room is asked for of its own accord; who was told of a queue has to be told that it is gone.
    run("tc qdisc del dev %s root".formatted(ifA));
    for (int i = 0; i < 192; i++) {
      burst.set(0, frame(i, 64));
      sendAll(burst, 1);
      release(receive());
    }
    assertThat(port.txRoom()).isGreaterThan(64);
    assertThat(port.unaskedRoom(64)).isZero();
    awaitNoBacklog();
    assertThat(port.unaskedRoom(64)).isPositive();
  }

  /** Frames that left by calls of several ports are in the port's account like its own. */
  @Test
  void whatNativeCallsSentIsOutstanding() {
    QueueBursts calls = new QueueBursts(List.of(a), e -> {});
    burst.set(0, frame(0, 1_500));
    assertThat(calls.sendSealed(0, burst, 0, 1, 0)).isEqualTo(1);
    poolA.transfer(Burst.id(burst.get(0)), WINDOW, Owner.PORT);
    assertThat(calls.usualRoom(0, 64)).isEqualTo(255);
    for (int i = 0; i < 3; i++) {
      burst.set(i, frame(1 + i, 1_500));
    }
    calls.clear();
    calls.add(0, burst, 1, 2);
    assertThat(calls.send()).isEqualTo(2);
    assertThat(calls.moved(0)).isEqualTo(2);
    poolA.transfer(Burst.id(burst.get(1)), WINDOW, Owner.PORT);
    poolA.transfer(Burst.id(burst.get(2)), WINDOW, Owner.PORT);
    poolA.release(Burst.id(burst.get(0)), WINDOW);
    assertThat(calls.usualRoom(0, 64)).isEqualTo(253);
    assertThat(calls.txRoom(0)).isEqualTo(253);
    calls.clear();
    calls.addReceive(0, received);
    assertThat(calls.receive(poolA)).isZero();
    for (int i : new int[] {0, 2, 3}) {
      long descriptor = receive();
      assertThat(serial(descriptor)).isEqualTo(i);
      release(descriptor);
    }
  }

  /** Its name may be another's by then, of which the kernel counts from 0 on. */
  @Test
  void countsDoNotGoBackWhenTheInterfaceIsMadeAnew() throws Exception {
    burst.set(0, frame(0, 64));
    sendAll(burst, 1);
    release(receive());
    PortCounters before = a.counters();
    assertThat(before.txFrames()).isEqualTo(1);
    link.delete();
    assertThat(a.counters()).isEqualTo(before);
    link.add();
    assertThat(a.counters()).isEqualTo(before);
  }

  /** The kernel's columns, and only of this interface. */
  @Test
  void theKernelsCountsAreRead() {
    assertThat(InterfaceCounters.parse(" 10 1 2 3 4 5 6 7 80 8 9 10 11 12 13 14"))
        .isEqualTo(new PortCounters(1, 10, 8, 80, 4, 2, 19));
  }
}
