package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.OffHeapPool;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.port.Port;
import org.pmhxb.pm.port.QueueBursts;

/** Purging a rail's queue while the port takes frames slowly (PROTOCOL.md section 5.6). */
class RailTest {
  private final BufferPool pool = OffHeapPool.create(2048, 64);
  private final SlowPort port = new SlowPort();
  private final ListenerFaults faults = new ListenerFaults();
  private final Rail rail = new Rail(0, port, pool, faults);

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
      while (rail.waiting) {
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

  /** Takes at most {@code room} frames. */
  private static final class SlowPort implements Port {
    private final List<Integer> taken = new ArrayList<>();
    private int room;
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
      return 32;
    }

    @Override
    public long txBacklogBytes() {
      return 0;
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
    public long rxDropped() {
      return 0;
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
  private static int flush(Rail rail) {
    int n = offer(rail);
    return n == 0 ? 0 : rail.taken(rail.port.txBurst(rail.offered, rail.offeredFrom, n));
  }
}
