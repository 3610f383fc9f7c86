package org.pmhxb.collectives.barrier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.pmhxb.pm.DownReason;

/** Of three nodes one, each of which is a neighbour of both others: whom it tells of a break. */
class BreakTellingTest extends OneOfSeveral {
  BreakTellingTest() {
    super(3);
  }

  private void assertBrokenBy(int node) {
    assertThatThrownBy(barrier::arrive)
        .isInstanceOfSatisfying(
            BarrierBrokenException.class, e -> assertThat(e.node()).isEqualTo(node));
  }

  @Test
  void whoSaysItAndWhoIsDownAreNotTold() {
    hear(1, BarrierFrame.BROKEN, 1, 2);
    assertThat(barrier.counts().brokenSent()).isZero();
    assertBrokenBy(2);
  }

  /** Else each would tell the others again of what they told it. */
  @Test
  void theOthersAreToldOnceAndTheFirstStands() {
    barriers.onPeerDown(2, DownReason.SILENCE);
    assertThat(barrier.counts().brokenSent()).isOne();
    hear(1, BarrierFrame.BROKEN, 1, 2);
    hear(2, BarrierFrame.BROKEN, 1, 1);
    barriers.onPeerDown(1, DownReason.SILENCE);
    assertThat(barrier.counts().brokenSent()).isOne();
    assertBrokenBy(2);
  }

  @Test
  void whereItIsClosedAndAtRestWhoAsksIsTold() {
    barrier.close();
    ring.work();
    barriers.onPeerDown(2, DownReason.SILENCE);
    assertThat(barrier.counts().brokenSent()).isZero();
    hear(1, BarrierFrame.ASK, 1, 0);
    assertThat(barrier.counts().brokenSent()).isOne();
  }
}
