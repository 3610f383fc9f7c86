package org.pmhxb.collectives.barrier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.pm.DownReason;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;

/** Of three nodes one, each of which is a neighbour of both others: whom it tells of a break. */
class BreakTellingTest {
  private static final int NUMBER = 1;
  private static final BarrierSpec SPEC = BarrierSpec.parse("dissemination");

  private RingBarriers ring;
  private Barriers barriers;
  private Barrier barrier;

  @BeforeEach
  void open() {
    ring = new RingBarriers(RingCluster.Options.of(Shape.of(3), 1), SPEC);
    barriers = Barriers.of(ring.cluster.node(0));
    barrier = ring.barriers.get(0);
  }

  @AfterEach
  void close() {
    ring.close();
  }

  private void hear(int from, int operation, long word2) {
    long word0 = BarrierFrame.word0(operation, 1, NUMBER, ring.group.hash(SPEC));
    barriers.onCollective(from, false, word0, BarrierFrame.word1(1), word2);
  }

  private void assertBrokenBy(int node) {
    assertThatThrownBy(barrier::arrive)
        .isInstanceOfSatisfying(
            BarrierBrokenException.class, e -> assertThat(e.node()).isEqualTo(node));
  }

  @Test
  void whoSaysItAndWhoIsDownAreNotTold() {
    hear(1, BarrierFrame.BROKEN, 2);
    assertThat(barrier.counts().brokenSent()).isZero();
    assertBrokenBy(2);
  }

  /** Else each would tell the others again of what they told it. */
  @Test
  void theOthersAreToldOnceAndTheFirstStands() {
    barriers.onPeerDown(2, DownReason.SILENCE);
    assertThat(barrier.counts().brokenSent()).isOne();
    hear(1, BarrierFrame.BROKEN, 2);
    hear(2, BarrierFrame.BROKEN, 1);
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
    hear(1, BarrierFrame.ASK, 0);
    assertThat(barrier.counts().brokenSent()).isOne();
  }
}
