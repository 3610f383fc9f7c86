package org.pmhxb.collectives.barrier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.pmhxb.pm.DownReason;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;

/** Of two nodes one, and what it hears of the other, word by word: nothing travels by itself. */
class EpochsTest extends OneOfSeveral {
  private static final int OTHER = 1;

  EpochsTest() {
    super(2);
  }

  private void hear(int operation, int epoch, long word2) {
    hear(OTHER, operation, epoch, word2);
  }

  private void otherArrives(int epoch) {
    hear(BarrierFrame.ARRIVE, epoch, 0);
  }

  private boolean passes() {
    barrier.arrive();
    return barrier.test();
  }

  private void assertThatItIsBroken() {
    assertThatThrownBy(this::passes).isInstanceOf(BarrierBrokenException.class);
  }

  /** Two colours tell epochs apart: the next but two has that of the next. */
  @Test
  void whoArrivesFartherAheadThanOneEpochHasArrivedAtNone() {
    otherArrives(3);
    otherArrives(0);
    otherArrives(-1);
    assertThat(passes()).isFalse();
    otherArrives(1);
    assertThat(barrier.test()).isTrue();
  }

  @Test
  void whoArrivedBeforeItsSessionEndedLetsThatEpochPass() {
    otherArrives(1);
    barriers.onPeerDown(OTHER, DownReason.SILENCE);
    assertThat(passes()).isTrue();
    assertThatItIsBroken();
  }

  @Test
  void whoArrivedAtTheNextEpochTooLetsBothPass() {
    otherArrives(1);
    otherArrives(2);
    barriers.onPeerDown(OTHER, DownReason.SILENCE);
    assertThat(passes()).isTrue();
    assertThat(passes()).isTrue();
    assertThatItIsBroken();
  }

  @Test
  void whoIsMissingBreaksTheEpoch() {
    barriers.onPeerDown(OTHER, DownReason.SILENCE);
    assertThatItIsBroken();
  }

  /** An epoch of another life of this node's: the next one cannot end. */
  @Test
  void aBreakOfAnEpochFarAheadIsOneOfTheNext() {
    hear(BarrierFrame.BROKEN, 100, OTHER);
    assertThatItIsBroken();
  }

  /** Else the other one would leave while this one has not arrived. */
  @Test
  void whoIsAskedTellsOfWhatItHasDoneAlone() {
    hear(BarrierFrame.ASK, 1, 0);
    assertThat(barrier.counts().answers()).isZero();
    assertThat(passes()).isFalse();
    hear(BarrierFrame.ASK, 2, 0);
    assertThat(barrier.counts().answers()).isZero();
    hear(BarrierFrame.ASK, 1, 0);
    assertThat(barrier.counts().answers()).isEqualTo(1);
  }

  @Test
  void aBreakByNoMemberIsNone() {
    hear(BarrierFrame.BROKEN, 1, 77);
    hear(BarrierFrame.BROKEN, 1, -1);
    otherArrives(1);
    assertThat(passes()).isTrue();
  }

  @Test
  void aBreakFromNoMemberIsNone() {
    ring.close();
    ring = new RingBarriers(RingCluster.Options.of(Shape.of(3), 1), SPEC, 0, OTHER);
    barriers = Barriers.of(ring.cluster.node(0));
    barrier = ring.barriers.get(0);
    long word0 = BarrierFrame.word0(BarrierFrame.BROKEN, 0, NUMBER, ring.group.hash(SPEC));
    barriers.onCollective(2, false, word0, BarrierFrame.word1(1), OTHER);
    otherArrives(1);
    assertThat(passes()).isTrue();
    hear(BarrierFrame.BROKEN, 2, OTHER);
    assertThatItIsBroken();
  }
}
