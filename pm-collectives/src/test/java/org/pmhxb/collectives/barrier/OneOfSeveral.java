package org.pmhxb.collectives.barrier;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;

/** Of several nodes the first, and what it hears of the others, word by word. */
abstract class OneOfSeveral {
  static final int NUMBER = 1;

  /** The step of a dissemination at which the next node is awaited. */
  private static final int STEP = 1;

  static final BarrierSpec SPEC = BarrierSpec.parse("dissemination");

  private final int nodes;
  RingBarriers ring;
  Barriers barriers;
  Barrier barrier;

  OneOfSeveral(int nodes) {
    this.nodes = nodes;
  }

  @BeforeEach
  void open() {
    ring = new RingBarriers(RingCluster.Options.of(Shape.of(nodes), 1), SPEC);
    barriers = Barriers.of(ring.cluster.node(0));
    barrier = ring.barriers.get(0);
  }

  @AfterEach
  void close() {
    ring.close();
  }

  final void hear(int from, int operation, int epoch, long word2) {
    long word0 = BarrierFrame.word0(operation, STEP, NUMBER, ring.group.hash(SPEC));
    barriers.onCollective(from, false, word0, BarrierFrame.word1(epoch), word2);
  }
}
