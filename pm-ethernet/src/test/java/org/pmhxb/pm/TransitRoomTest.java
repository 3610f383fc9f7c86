package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.port.Burst;

/** What a relay keeps of others' frames while its ports take none. */
class TransitRoomTest {
  private static final int RAILS = 3;

  @Test
  void eachRailHasItsShareAndTheRestIsForWhoeverNeedsIt() {
    NodeConfig config = NodeConfig.defaults(0x1234, 1, 128);
    try (TestNet net = new TestNet(2, RAILS, 5, 2_000, config)) {
      NodeCore core = net.nodes.get(0).core;
      BufferPool pool = net.pools.get(0);
      assertThat(fill(core, pool, 0))
          .isEqualTo(NodeConfig.RELAYED_IN_COMMON + NodeConfig.RELAYED_OF_A_RAIL);
      assertThat(fill(core, pool, 1)).isEqualTo(NodeConfig.RELAYED_OF_A_RAIL);
      assertThat(fill(core, pool, 2)).isEqualTo(NodeConfig.RELAYED_OF_A_RAIL);

      for (Rail rail : core.rails) {
        for (long ns : new long[] {0, Rail.BLOCKED_NS}) {
          rail.giveUpBlocked(ns);
        }
        assertThat(rail.transitWaiting()).isZero();
      }
      assertThat(fill(core, pool, 2))
          .as("when the others have none")
          .isEqualTo(NodeConfig.RELAYED_IN_COMMON + NodeConfig.RELAYED_OF_A_RAIL);
      core.rails[2].giveUpBlocked(Rail.BLOCKED_NS);
      core.rails[2].giveUpBlocked(Rail.BLOCKED_NS);
    }
  }

  /** Puts what there is room for; how many. */
  private static int fill(NodeCore core, BufferPool pool, int rail) {
    int put = 0;
    for (Rail to = core.rails[rail]; core.transitRoom(to) > 0; put++) {
      to.putTransit(Burst.descriptor(pool.allocate(Owner.NODE), 80));
      to.othersWait();
    }
    return put;
  }
}
