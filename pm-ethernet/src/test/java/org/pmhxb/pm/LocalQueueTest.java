package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.OffHeapPool;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.port.QueueBursts;

/** How long a choice of a rail stands, by what waits there (PROTOCOL.md section 5.3). */
class LocalQueueTest {
  private static final int FRAMES = 4 * Rail.BURST;
  private static final long TURN_NS = 1L << Paths.TURN_NS_BITS;
  private static final long UNEQUAL_NS = 1L << Paths.EQUAL_NS_BITS;

  private final BufferPool pool = OffHeapPool.create(2048, 512);
  private final RailTest.SlowPort port = new RailTest.SlowPort();
  private final Rail rail = new Rail(0, new WaitingRails(2), port, pool, new ListenerFaults());
  private final LocalQueue queue = rail.local;
  private final QueueBursts bursts = new QueueBursts(List.of(port), fault -> {});

  @AfterEach
  void close() {
    pool.close();
  }

  private void put(int frames) {
    for (int i = 0; i < frames; i++) {
      queue.putHeld(pool.allocate(Owner.of(Owner.WINDOW, 1)), 100, 0);
    }
  }

  /** Else a rail of probes alone would take new frames for sealed after weeks. */
  @Test
  void theMarkOfWhatIsSealedGoesAlongWithFramesThatNeedNoSeal() {
    int id = pool.allocate(Owner.of(Owner.WINDOW, 1));
    for (int i = 0; i < 5; i++) {
      queue.putUnheld(id, 100);
      assertThat(queue.isSealed()).isTrue();
      queue.drop();
    }
    // A frame that was sent again, which has its CRC as well, leaves the mark behind.
    queue.putHeld(id, 100, 0);
    queue.drop();
    queue.putUnheld(id, 100);
    assertThat(queue.isSealed()).isTrue();

    int ticket = queue.putHeld(id, 100, Burst.SEAL);
    assertThat(queue.isSealed()).isFalse();
    assertThat(queue.firstUnsealed()).isEqualTo(ticket);
    queue.putUnheld(id, 100);
    assertThat(queue.isSealed()).as("one before it waits").isFalse();
    assertThat(queue.firstUnsealed()).isEqualTo(ticket);
  }

  private void assertStands(boolean stands) {
    assertThat(queue.choiceStands(0, TURN_NS - 1))
        .satisfies(x -> assertThat(x >= 0).isEqualTo(stands));
    assertThat(queue.unequalNs()).isEqualTo(stands ? 0 : UNEQUAL_NS);
    assertThat(queue.choiceStands(TURN_NS - 1, TURN_NS - 1)).as("in its round").isNotNegative();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 7 * TURN_NS, -5 * TURN_NS, Long.MAX_VALUE - TURN_NS + 1, Long.MIN_VALUE})
  void aChoiceStandsUntilItsTurnEnds(long turn) {
    assertThat(queue.choiceStands(turn, turn + TURN_NS - 1)).isNotNegative();
    assertThat(queue.choiceStands(turn + TURN_NS - 1, turn + TURN_NS - 1)).isNotNegative();
    assertThat(queue.choiceStands(turn + TURN_NS - 1, turn + TURN_NS)).isNegative();
  }

  @Test
  void whereOtherRailsMightTakeThemSomeBurstsEndIt() {
    put(FRAMES - 1);
    assertStands(true);
    put(1);
    assertStands(false);

    LocalQueue only = new Rail(0, new WaitingRails(1), port, pool, new ListenerFaults()).local;
    for (int i = 0; i < FRAMES; i++) {
      only.putHeld(1, 100, 0);
    }
    assertThat(only.choiceStands(0, TURN_NS - 1)).as("on the only rail").isNotNegative();
  }

  @Test
  void aPortThatTookAWholeBurstTakesMoreAndOneThatTookLessHasAQueue() {
    put(2 * Rail.BURST);
    port.room = Rail.BURST;
    RailTest.flush(rail);
    assertThat(queue.size()).isEqualTo(Rail.BURST);
    assertStands(true);
    port.room = Rail.BURST - 1;
    RailTest.flush(rail);
    assertThat(queue.size()).isEqualTo(1);
    assertStands(false);
  }

  /** Nothing is sent there, perhaps because of what it said. */
  @Test
  void aPortThatHadAQueueIsAskedAgain() {
    put(1);
    port.room = 1;
    port.backlogBytes = 900;
    RailTest.flush(rail);
    assertThat(queue.size()).isZero();
    assertStands(false);
    rail.lookAtPort(bursts, 0, 0);
    assertStands(false);
    port.backlogBytes = 0;
    rail.lookAtPort(bursts, 0, 0);
    assertStands(true);
  }
}
