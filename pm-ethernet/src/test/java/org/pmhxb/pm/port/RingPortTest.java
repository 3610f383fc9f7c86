package org.pmhxb.pm.port;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.ffi.Hxb;
import org.pmhxb.ffi.Rings;
import org.pmhxb.pm.wire.FrameCrc;
import org.pmhxb.pm.wire.FrameHeader;

class RingPortTest extends PortContract {
  private final List<RuntimeException> faults = new ArrayList<>();
  private static final int RING_FRAMES = 256;
  private long aToB;
  private long bToA;

  @Override
  boolean countsBytes() {
    return false;
  }

  @Override
  boolean onePool() {
    return true;
  }

  @Override
  void connect() {
    aToB = Rings.create(unique("ra"), RING_FRAMES, true, true);
    bToA = Rings.create(unique("rb"), RING_FRAMES, true, true);
    a = DpdkPorts.ring(unique("a"), bToA, aToB, poolA, MAC_A);
    b = DpdkPorts.ring(unique("b"), aToB, bToA, poolB, MAC_B);
  }

  @Override
  @AfterEach
  void close() {
    a.close();
    b.close();
    Rings.free(aToB);
    Rings.free(bToA);
    super.close();
  }

  /** A bare ring passes the held buffer itself: two ends, one buffer, two references. */
  @Override
  @Test
  void aHeldFrameStaysTheCallers() {
    burst.set(0, frame(7, 500) | Burst.HOLD);
    int id = Burst.id(burst.get(0));
    sendAll(burst, 1);
    assertThat(poolA.references(id)).isEqualTo(2);
    assertThat(b.rxBurst(received, 1)).isEqualTo(1);
    assertThat(received.get(0)).isEqualTo(Burst.descriptor(id, 500));
    assertThat(Hxb.poolRef(poolA.handle(), id, -1)).isEqualTo(1);
    assertThat(poolA.owner(id)).isEqualTo(WINDOW);
    poolA.release(id, WINDOW);
  }

  /** The reference that HOLD added is taken back for what the ring did not take. */
  @Test
  void aHeldFrameThatWasNotTakenHasItsOneReference() {
    int filled = 0;
    while (a.txRoom() > 0) {
      burst.set(0, frame(filled++, 64));
      sendAll(burst, 1);
    }
    burst.set(0, frame(0, 64) | Burst.HOLD);
    assertThat(send(burst, 0, 1)).isZero();
    assertThat(poolA.references(Burst.id(burst.get(0)))).isEqualTo(1);
    assertThat(filled).isEqualTo(RING_FRAMES);
  }

  @Test
  void roomIsWhatTheRingHasLeft() {
    assertThat(a.txRoom()).isEqualTo(RING_FRAMES);
    for (int i = 0; i < 10; i++) {
      burst.set(i, frame(i, 64));
    }
    assertThat(send(burst, 0, 10)).isEqualTo(10);
    assertThat(a.txRoom()).isEqualTo(RING_FRAMES - 10);
    assertThat(a.wakeFd()).isEqualTo(-1);
  }

  @Test
  void railsShareADeviceUntilTheLastIsClosed() {
    long[] rings = new long[4];
    for (int i = 0; i < 4; i++) {
      rings[i] = Rings.create(unique("m"), 64, true, true);
    }
    DpdkPort[] rails =
        DpdkPorts.rings(
            unique("m"),
            new long[] {rings[0], rings[1]},
            new long[] {rings[1], rings[0]},
            new DpdkPool[] {poolA, poolA},
            new long[] {MAC_A, MAC_B});
    rails[0].close();
    assertThat(rails[1].linkUp()).isTrue();
    rails[1].close();
    rails[1].close();
    assertThat(rails[1].linkUp()).isFalse();
    for (long ring : rings) {
      Rings.free(ring);
    }
  }

  /** Of both ends at once, by one native call: each burst moves what it would alone. */
  @Test
  void burstsOfSeveralPortsMoveWhatEachWouldAlone() {
    checkBoth(new QueueBursts(List.of(a, b), faults::add));
  }

  /** The same port by port, where one of them is no driver of the kind. */
  @Test
  void portsOfUnlikeKindsAreAskedOneByOne() {
    Class<?>[] type = {Port.class};
    Port other =
        (Port)
            Proxy.newProxyInstance(
                Port.class.getClassLoader(), type, (proxy, call, with) -> call.invoke(b, with));
    checkBoth(new QueueBursts(List.of(a, other), faults::add));
  }

  /** What one has taken must not be offered again because another failed. */
  @Test
  void aPortThatThrowsMovesNothingAndTheOthersTheirs() {
    Class<?>[] type = {Port.class};
    Port broken =
        (Port)
            Proxy.newProxyInstance(
                Port.class.getClassLoader(),
                type,
                (proxy, call, with) -> {
                  throw new IllegalStateException(call.getName());
                });
    QueueBursts bursts = new QueueBursts(List.of(a, broken, b), faults::add);
    for (int i = 0; i < 3; i++) {
      burst.set(i, frame(i, 60 + i));
    }
    bursts.clear();
    bursts.add(0, burst, 0, 1);
    bursts.add(1, burst, 1, 1);
    bursts.add(2, burst, 2, 1);
    assertThat(bursts.send()).isEqualTo(2);
    assertThat(List.of(bursts.moved(0), bursts.moved(1), bursts.moved(2))).containsExactly(1, 0, 1);
    assertThat(faults).singleElement().extracting(Throwable::getMessage).isEqualTo("txBurst");

    Burst atA = new Burst(4);
    Burst atB = new Burst(4);
    faults.clear();
    bursts.clear();
    bursts.addReceive(0, atA);
    bursts.addReceive(1, new Burst(4));
    bursts.addReceive(2, atB);
    assertThat(bursts.receive(poolA)).isEqualTo(2);
    assertThat(List.of(bursts.moved(0), bursts.moved(1), bursts.moved(2))).containsExactly(1, 0, 1);
    assertThat(faults).singleElement().extracting(Throwable::getMessage).isEqualTo("rxBurst");
    assertThat(atA.get(0)).isEqualTo(burst.get(2));
    assertThat(atB.get(0)).isEqualTo(burst.get(0));
    faults.clear();
    for (int i : new int[] {0, 2}) {
      poolA.transfer(Burst.id(burst.get(i)), WINDOW, Owner.PORT);
      poolA.releaseReceived(Burst.id(burst.get(i)));
    }
    poolA.release(Burst.id(burst.get(1)), WINDOW);
  }

  /** Of a frame that is all that came, for the node, short and whole, the CRC is known at once. */
  @Test
  void theCallThatBringsAnOnlyFrameLooksAtItsCrc() {
    QueueBursts bursts = new QueueBursts(List.of(b), faults::add);
    bursts.addReceive(0, received);
    assertThat(isMarked(bursts, 1, sealed(5, 80))).as("nobody asked").isFalse();
    bursts.checkOnly(FrameHeader.wireInt(5), 80);
    assertThat(isMarked(bursts, 1, sealed(5, 80))).isTrue();
    assertThat(isMarked(bursts, 1, sealed(6, 80))).as("another node's").isFalse();
    assertThat(isMarked(bursts, 1, sealed(5, 81))).as("longer").isFalse();
    assertThat(isMarked(bursts, 1, frame(5, 80))).as("another CRC").isFalse();
    assertThat(isMarked(bursts, 2, sealed(5, 80), sealed(5, 80))).as("one of two").isFalse();
  }

  private boolean isMarked(QueueBursts bursts, int frames, long... descriptors) {
    for (int i = 0; i < frames; i++) {
      burst.set(i, descriptors[i]);
    }
    sendAll(burst, frames);
    assertThat(bursts.receive(poolA)).isEqualTo(frames);
    assertThat(bursts.descriptors(0)).isEqualTo(received.address());
    boolean marked = (received.get(0) & Burst.INTACT) != 0;
    for (int i = 0; i < frames; i++) {
      assertThat(received.get(i) & ~Burst.INTACT).isEqualTo(descriptors[i]);
      poolA.releaseReceived(Burst.id(descriptors[i]));
    }
    return marked;
  }

  private long sealed(int dst, int lengthBytes) {
    long d = frame(0, lengthBytes);
    MemorySegment memory = poolA.memory();
    long at = poolA.frameAt(Burst.id(d));
    FrameHeader.flagsDst(memory, at, 0, dst);
    FrameHeader.crc(memory, at, new FrameCrc(memory).of(at, lengthBytes - FrameHeader.BYTES));
    return d;
  }

  @Test
  void moreThan32PortsAreRefused() {
    assertThatThrownBy(() -> new QueueBursts(Collections.nCopies(33, a), faults::add))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("33 ports; a node polls at most 32");
  }

  private void checkBoth(QueueBursts both) {
    for (int i = 0; i < 4; i++) {
      burst.set(i, frame(i, 60 + i));
    }
    both.clear();
    assertThat(both.add(1, burst, 0, 1)).isZero();
    assertThat(both.add(0, burst, 1, 3)).isEqualTo(1);
    assertThat(both.count()).isEqualTo(2);
    assertThat(both.send()).isEqualTo(4);
    assertThat(both.moved(0)).isEqualTo(1);
    assertThat(both.moved(1)).isEqualTo(3);
    Burst atA = new Burst(16);
    Burst atB = new Burst(4);
    both.clear();
    both.addReceive(0, atA);
    both.addReceive(1, atB);
    assertThat(both.receive(poolA)).isEqualTo(3);
    assertThat(both.moved(0)).isEqualTo(1);
    assertThat(both.moved(1)).isEqualTo(2);
    assertThat(atA.get(0)).isEqualTo(burst.get(0));
    assertThat(atA.get(8)).isEqualTo(poolA.addressOf(Burst.id(burst.get(0))));
    assertThat(atB.get(2)).isEqualTo(poolA.addressOf(Burst.id(burst.get(1))));
    assertThat(atB.get(3)).isEqualTo(poolA.addressOf(Burst.id(burst.get(2))));
    assertThat(atB.get(0)).isEqualTo(burst.get(1));
    assertThat(atB.get(1)).isEqualTo(burst.get(2));
    assertThat(faults).isEmpty();
    // What was added is received again by each call.
    assertThat(both.receive(poolA)).isEqualTo(1);
    assertThat(both.moved(0)).isZero();
    assertThat(atB.get(0)).isEqualTo(burst.get(3));
    for (int i = 0; i < 4; i++) {
      poolA.transfer(Burst.id(burst.get(i)), WINDOW, Owner.PORT);
      poolA.releaseReceived(Burst.id(burst.get(i)));
    }
  }
}
