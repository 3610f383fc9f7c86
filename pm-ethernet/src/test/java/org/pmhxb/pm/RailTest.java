package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.OffHeapPool;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.port.Port;
import org.pmhxb.pm.port.PortCounters;
import org.pmhxb.pm.port.QueueBursts;

/** Purging a rail's queue while the port takes frames slowly (PROTOCOL.md section 5.6). */
class RailTest {
  private static final long LOOK_NS = 100_000;

  private final BufferPool pool = OffHeapPool.create(2048, 64);
  private final SlowPort port = new SlowPort();
  private final ListenerFaults faults = new ListenerFaults();
  private final Rail rail = new Rail(0, new WaitingRails(1), port, pool, faults);

  @AfterEach
  void close() {
    pool.close();
  }

  @Test
  void purgedFramesAreNotSentAndOthersKeepTheirPlaces() {
    int[] ids = new int[10];
    int[] tickets = new int[10];
    for (int i = 0; i < 10; i++) {
      ids[i] = pool.allocate(Owner.of(Owner.WINDOW, 1));
      tickets[i] = rail.local.putHeld(ids[i], 100, 0);
    }
    port.room = 2;
    assertThat(flush(rail)).isEqualTo(2);
    rail.purge(ids[2]);
    rail.purge(ids[5]);
    rail.purge(ids[9]);
    assertThat(rail.backlogBytes()).isEqualTo(500);
    for (int i = 0; i < 10; i++) {
      assertThat(rail.hasLeftQueue(tickets[i])).as("frame %d", i).isEqualTo(i < 2);
    }
    assertThat(flush(rail)).isEqualTo(2);
    assertThat(rail.hasLeftQueue(tickets[4])).isTrue();
    assertThat(rail.hasLeftQueue(tickets[6])).isFalse();
    port.room = 32;
    assertThat(flush(rail)).isEqualTo(3);
    assertThat(flush(rail)).isZero();
    assertThat(rail.isIdle()).isTrue();
    assertThat(rail.backlogBytes()).isZero();
    assertThat(port.taken).containsExactly(ids[0], ids[1], ids[3], ids[4], ids[6], ids[7], ids[8]);
  }

  @Test
  void purgingAllLeavesAnIdleRail() {
    for (int i = 0; i < 5; i++) {
      rail.local.putHeld(pool.allocate(Owner.of(Owner.WINDOW, 1)), 100, 0);
    }
    rail.purgeHeldBy(Owner.of(Owner.WINDOW, 1));
    assertThat(flush(rail)).isZero();
    assertThat(rail.isIdle()).isTrue();
    assertThat(port.taken).isEmpty();
  }

  /** Until it was offered frames and took them all. */
  @Test
  void aPortThatLeavesFramesHasAQueueThatItCannotTellOf() {
    for (int i = 0; i < 3; i++) {
      rail.local.putHeld(pool.allocate(Owner.of(Owner.WINDOW, 1)), 100, 0);
    }
    assertThat(rail.local.isPortEmpty()).isTrue();
    port.room = 2;
    assertThat(flush(rail)).isEqualTo(2);
    assertThat(rail.local.isPortEmpty()).isFalse();
    assertThat(flush(rail)).isEqualTo(1);
    assertThat(rail.local.isPortEmpty()).isTrue();
  }

  /** Round the queue's end many times: each frame leaves once, in order, and sealed before. */
  @Test
  void controlFramesLeaveInOrderAndSealed() {
    List<Integer> put = new ArrayList<>();
    port.room = 20;
    for (int round = 0; round < 150; round++) {
      for (int i = 0; i < 10; i++) {
        int id = pool.allocate(Owner.NODE);
        put.add(id);
        assertThat(rail.putControl(id, 80, i == 7 ? Burst.SEAL : 0)).isTrue();
      }
      while (rail.isWaiting()) {
        int before = port.taken.size();
        int n = offer(rail);
        if (rail.offeredUnsealed < n) {
          for (int i = 0; i < n; i++) {
            assertThat(rail.offered.get(rail.offeredFrom + i) & Burst.SEAL).isZero();
          }
        }
        rail.taken(port.txBurst(rail.offered, rail.offeredFrom, n));
        for (int id : port.taken.subList(before, port.taken.size())) {
          pool.releaseReceived(id);
        }
      }
    }
    assertThat(port.taken).isEqualTo(put);
    assertThat(rail.isIdle()).isTrue();
  }

  /** Alone, and with a frame in transit behind it. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatThePortRefusedIsNotSealedAnotherTime(boolean transit) {
    for (int i = 0; i < 3; i++) {
      rail.putControl(pool.allocate(Owner.NODE), 80, Burst.SEAL);
    }
    if (transit) {
      rail.putTransit(Burst.descriptor(pool.allocate(Owner.NODE), 80));
    }
    int all = transit ? 4 : 3;
    port.room = 1;
    int n = offer(rail);
    assertThat(n).isEqualTo(all);
    assertThat(rail.offeredUnsealed).isEqualTo(3);
    assertThat(rail.taken(port.txBurst(rail.offered, rail.offeredFrom, n))).isEqualTo(1);
    rail.putControl(pool.allocate(Owner.NODE), 80, Burst.SEAL);

    assertThat(offer(rail)).isEqualTo(all);
    assertThat(rail.offered.get(rail.offeredFrom) & Burst.SEAL).isZero();
    assertThat(rail.offered.get(rail.offeredFrom + 1) & Burst.SEAL).isZero();
    assertThat(rail.offered.get(rail.offeredFrom + 2) & Burst.SEAL).isNotZero();
    assertThat(rail.offeredUnsealed).isEqualTo(3);
  }

  /** However many of a burst the port takes at a time. */
  @ParameterizedTest
  @CsvSource({"1, 1000", "2, 300", "7, 4000", "32, 1000"})
  void localFramesHaveAFifthOfTheBytesThatRelayedOnesLeaveThem(int room, int localBytes) {
    int ours = 9;
    for (int i = 0; i < ours; i++) {
      rail.putLocal(pool.allocate(Owner.NODE), localBytes);
    }
    long relayedBytes = 0;
    int answers = 0;
    List<Integer> left = new ArrayList<>();
    port.room = room;
    while (rail.backlogBytes() > 0) {
      while (pool.available() > 1 && rail.transitWaiting() < FrameQueue.CAPACITY) {
        rail.putTransit(Burst.descriptor(pool.allocate(Owner.NODE), 1000));
        rail.othersWait();
      }
      if (answers++ % 5 == 0) {
        rail.putControl(pool.allocate(Owner.NODE), 80);
      }
      int n = offer(rail);
      int taken = rail.taken(port.txBurst(rail.offered, rail.offeredFrom, n));
      assertThat(taken).isEqualTo(Math.min(room, n));
      for (int i = 0; i < taken; i++) {
        long d = rail.offered.get(rail.offeredFrom + i);
        left.add(Burst.lengthBytes(d));
        relayedBytes += Burst.lengthBytes(d) == 1000 ? 1000 : 0;
        pool.releaseReceived(Burst.id(d));
      }
    }
    long localTotal = (long) ours * localBytes;
    if (localBytes == 1000) {
      relayedBytes -= localTotal;
    }
    assertThat(relayedBytes).isBetween(4 * localTotal, 4 * localTotal + 32 * 1000);
    assertThat(left.getFirst()).as("relayed frames go first").isBetween(80, 1000);
    port.room = 32;
    while (rail.isWaiting()) {
      flush(rail);
    }
  }

  /** Round the queue's end, where a rail makes a second burst of its own. */
  @Test
  void aPortThatThrowsAtTheQueuesEndHasTakenWhatItTookBefore() {
    List<Integer> put = new ArrayList<>();
    port.room = 32;
    int thrown = 0;
    for (int round = 0; round < 150; round++) {
      for (int i = 0; i < 10; i++) {
        int id = pool.allocate(Owner.NODE);
        put.add(id);
        rail.putTransit(Burst.descriptor(id, 80));
      }
      rail.othersWait();
      int before = port.taken.size();
      int n = offer(rail);
      int first = port.txBurst(rail.offered, rail.offeredFrom, n);
      port.throwing = true;
      int taken = rail.taken(first);
      port.throwing = false;
      assertThat(port.taken).hasSize(before + taken);
      if (taken < 10) {
        thrown++;
        assertThatThrownBy(faults::rethrow).isInstanceOf(IllegalStateException.class);
        n = offer(rail);
        rail.taken(port.txBurst(rail.offered, rail.offeredFrom, n));
      }
      faults.rethrow();
      for (int id : port.taken.subList(before, port.taken.size())) {
        pool.releaseReceived(id);
      }
    }
    assertThat(thrown).isPositive();
    assertThat(port.taken).isEqualTo(put);
    assertThat(rail.isIdle()).isTrue();
  }

  @Test
  void passedFramesAreOfferedWhereTheyLie() {
    Burst burst = received(8);
    port.room = 32;
    assertThat(rail.passOn(burst, 2, 3, 240)).isTrue();
    assertThat(rail.passOn(burst, 5, 1, 80)).isTrue();
    assertThat(rail.isIdle()).isFalse();
    assertThat(offer(rail)).isEqualTo(4);
    assertThat(rail.offered).isSameAs(burst);
    assertThat(rail.offeredFrom).isEqualTo(2);
    assertThat(rail.taken(port.txBurst(burst, 2, 4))).isEqualTo(4);
    assertThat(port.taken).isEqualTo(ids(burst, 2, 6));
    assertThat(rail.isIdle()).isTrue();
    assertThat(rail.isWaiting()).isFalse();
  }

  /** With fewer frames in one burst than were passed on, and with control frames beside them. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 7, 8})
  void whatThePortLeavesOfPassedFramesWaitsInOrder(int room) {
    Burst burst = received(8);
    assertThat(rail.passOn(burst, 0, 8, 640)).isTrue();
    port.room = room;
    assertThat(flush(rail)).isEqualTo(room);
    assertThat(rail.isWaiting()).isEqualTo(room < 8);
    for (int i = 0; i < 8; i++) {
      assertThat(pool.owner(Burst.id(burst.get(i)))).isEqualTo(i < room ? Owner.PORT : Owner.NODE);
    }
    Burst next = received(2);
    assertThat(rail.passOn(next, 0, 2, 160)).isEqualTo(room == 8);
    int answer = pool.allocate(Owner.NODE);
    rail.putControl(answer, 80);
    port.room = 32;
    List<Integer> expected = new ArrayList<>(ids(burst, 0, room));
    expected.add(answer);
    expected.addAll(ids(burst, room, 8));
    if (room == 8) {
      expected.addAll(ids(next, 0, 2));
    }
    flush(rail);
    assertThat(port.taken).isEqualTo(expected);
    assertThat(rail.isIdle()).isTrue();
  }

  @Test
  void framesOfAnotherPlaceAreNotPassedOnBesideThoseOfOne() {
    Burst burst = received(8);
    assertThat(rail.passOn(burst, 0, 2, 160)).isTrue();
    assertThat(rail.passOn(burst, 3, 1, 80)).isFalse();
    assertThat(rail.passOn(received(2), 2, 1, 80)).isFalse();
    rail.keepPassed();
    rail.putTransit(burst.get(3));
    assertThat(rail.passOn(burst, 4, 1, 80)).isFalse();
    port.room = 32;
    assertThat(offer(rail)).isEqualTo(3);
  }

  /** By places, then by bytes: three frames begin within 200. */
  @ParameterizedTest
  @CsvSource({"3, 0", "32, 196408"})
  void passedFramesAreBoundByThePort(int txRoom, long backlogBytes) {
    Burst burst = received(8);
    assertThat(rail.passOn(burst, 0, 8, 640)).isTrue();
    port.txRoom = txRoom;
    port.backlogBytes = backlogBytes;
    port.room = 32;
    assertThat(flush(rail)).isEqualTo(3);
    assertThat(port.taken).isEqualTo(ids(burst, 0, 3));
    port.txRoom = 32;
    port.backlogBytes = 0;
    assertThat(flush(rail)).isEqualTo(5);
    assertThat(port.taken).isEqualTo(ids(burst, 0, 8));
  }

  @Test
  void passedFramesGoHomeWithTheRail() {
    Burst burst = received(4);
    assertThat(rail.passOn(burst, 0, 4, 320)).isTrue();
    rail.close();
    pool.flush();
    assertThat(pool.available()).isEqualTo(pool.capacity());
  }

  /** All but what a window holds; each is offered once before that. */
  @Test
  void aPortThatTakesNothingKeepsNothing() {
    rail.local.putHeld(pool.allocate(Owner.of(Owner.WINDOW, 1)), 100, 0);
    int free = pool.available();
    waitForAll();
    long ns = 0;
    for (; ns < Rail.BLOCKED_NS; ns += LOOK_NS) {
      assertThat(rail.giveUpBlocked(ns)).isZero();
      flush(rail);
    }
    waitForAll();
    assertThat(rail.giveUpBlocked(ns)).as("those of the first look").isEqualTo(3);
    flush(rail);
    assertThat(rail.giveUpBlocked(ns + LOOK_NS)).as("those that came since").isEqualTo(3);
    flush(rail);
    pool.flush();
    assertThat(pool.available()).isEqualTo(free);
    assertThat(rail.backlogBytes()).as("what a window holds").isEqualTo(100);

    rail.purgeHeldBy(Owner.of(Owner.WINDOW, 1));
    flush(rail);
    assertThat(rail.isIdle()).isTrue();
    waitForAll();
    ns += 2 * LOOK_NS;
    assertThat(rail.giveUpBlocked(ns)).as("not before they are offered").isZero();
    flush(rail);
    assertThat(rail.giveUpBlocked(ns + LOOK_NS)).as("at once from now on").isEqualTo(3);
  }

  @Test
  void aPortThatTakesAFrameIsGivenAllItsTimeAgain() {
    waitForAll();
    long ns = 0;
    for (; ns < 2 * Rail.BLOCKED_NS; ns += LOOK_NS) {
      rail.giveUpBlocked(ns);
      flush(rail);
    }
    assertThat(rail.isIdle()).isTrue();
    waitForAll();
    waitForAll();
    port.room = 1;
    flush(rail);
    port.room = 0;
    for (long from = ns; ns < from + Rail.BLOCKED_NS; ns += LOOK_NS) {
      assertThat(rail.giveUpBlocked(ns)).isZero();
      flush(rail);
    }
    assertThat(rail.giveUpBlocked(ns)).isEqualTo(5);
  }

  /** One that is slow has something leave now and then, though it is offered nothing for long. */
  @Test
  void aPortWhoseBacklogDrainsIsNotBlocked() {
    port.room = 32;
    for (int i = 0; i < 8; i++) {
      rail.putTransit(Burst.descriptor(pool.allocate(Owner.NODE), 1500));
      rail.othersWait();
    }
    flush(rail);
    port.room = 0;
    port.backlogBytes = 8 * 1500;
    waitForAll();
    long ns = 0;
    for (; port.backlogBytes > 1500; ns += LOOK_NS) {
      if (ns % (Rail.BLOCKED_NS - 10 * LOOK_NS) == 0) {
        port.backlogBytes -= 1500;
      }
      assertThat(rail.giveUpBlocked(ns)).as("after %d ns", ns).isZero();
      flush(rail);
    }
    for (long from = ns; ns < from + Rail.BLOCKED_NS; ns += LOOK_NS) {
      rail.giveUpBlocked(ns);
      flush(rail);
    }
    assertThat(rail.giveUpBlocked(ns) + rail.giveUpBlocked(ns + LOOK_NS)).isLessThanOrEqualTo(3);
    assertThat(rail.transitWaiting()).isZero();
  }

  /** A rail that is idle for long, and then waits for a moment, is not blocked. */
  @Test
  void aPortIsNotBlockedForWhatItWasNeverGiven() {
    long ns = 0;
    for (; ns < 3 * Rail.BLOCKED_NS; ns += LOOK_NS) {
      rail.giveUpBlocked(ns);
    }
    waitForAll();
    for (int i = 0; i < 10; i++, ns += LOOK_NS) {
      flush(rail);
      assertThat(rail.giveUpBlocked(ns)).isZero();
    }
  }

  /** A control frame, a relayed one and a probe. */
  private void waitForAll() {
    rail.putControl(pool.allocate(Owner.NODE), 80);
    rail.putTransit(Burst.descriptor(pool.allocate(Owner.NODE), 1000));
    rail.othersWait();
    rail.putLocal(pool.allocate(Owner.NODE), 80);
  }

  /** Frames that a port brought. */
  private Burst received(int frames) {
    Burst burst = new Burst(frames);
    for (int i = 0; i < frames; i++) {
      burst.set(i, Burst.descriptor(pool.allocate(Owner.PORT), 80));
    }
    return burst;
  }

  private static List<Integer> ids(Burst burst, int from, int to) {
    List<Integer> ids = new ArrayList<>();
    for (int i = from; i < to; i++) {
      ids.add(Burst.id(burst.get(i)));
    }
    return ids;
  }

  /** Takes at most {@code room} frames. */
  static final class SlowPort implements Port {
    private final List<Integer> taken = new ArrayList<>();
    int room;
    private int txRoom = 32;
    long backlogBytes;
    private boolean throwing;

    @Override
    public String name() {
      return "slow";
    }

    @Override
    public int rxBurst(Burst burst, int max) {
      return 0;
    }

    @Override
    public int txBurst(Burst burst, int from, int count) {
      if (throwing) {
        throw new IllegalStateException("burst of " + count);
      }
      int n = Math.min(count, room);
      for (int i = from; i < from + n; i++) {
        taken.add(Burst.id(burst.get(i)));
      }
      return n;
    }

    @Override
    public int txRoom() {
      return txRoom;
    }

    @Override
    public long txBacklogBytes() {
      return backlogBytes;
    }

    @Override
    public long macAddress() {
      return 0x0200_0000_0001L;
    }

    @Override
    public int maxFrameBytes() {
      return 1_500;
    }

    @Override
    public boolean linkUp() {
      return true;
    }

    @Override
    public int wakeFd() {
      return -1;
    }

    @Override
    public PortCounters counters() {
      return PortCounters.ZERO;
    }

    @Override
    public void close() {}
  }

  private static int offer(Rail rail) {
    return rail.offer(new QueueBursts(List.of(rail.port), RailTest::unexpected), 0, 0);
  }

  private static void unexpected(RuntimeException thrown) {
    throw thrown;
  }

  /** A burst of the rail's port alone; frames that it took. */
  static int flush(Rail rail) {
    int n = offer(rail);
    return n == 0 ? 0 : rail.taken(rail.port.txBurst(rail.offered, rail.offeredFrom, n));
  }
}
