package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** A port that takes nothing, as when the other end of its line is gone, beside one that works. */
class BlockedPortTest {
  private static final int ENDPOINT = 7;
  private static final int BLOCKED = 1;
  private static final long MS = 1_000_000L;

  private int got;

  private void pass(TestNet net, PmEndpoint from, PmEndpoint to, int count) {
    int sent = 0;
    int before = got;
    for (int i = 0; i < 1_000_000 && got - before < count; i++) {
      SendBuffer b = sent < count ? from.claim(1, 16) : null;
      if (b != null) {
        from.send(b);
        sent++;
      }
      net.step();
      to.poll(m -> got++, 16);
    }
    assertThat(got - before).isEqualTo(count);
  }

  /** For as long as a node may be away. */
  @Test
  void keepsNoBuffersAndNobodyAwake() {
    NodeConfig config = NodeConfig.defaults(0x1234, 1, 128).withWindow(64);
    try (TestNet net = new TestNet(2, 2, 5, 600, config)) {
      PmEndpoint from = net.nodes.get(0).open(ENDPOINT);
      PmEndpoint to = net.nodes.get(1).open(ENDPOINT);
      from.coalesceUpTo(-1);
      pass(net, from, to, 100);
      net.run(100 * MS);
      int free = net.pools.get(0).available();

      net.deadRail[BLOCKED] = true;
      net.blockedNode[BLOCKED] = 0;
      pass(net, from, to, 1_000);
      net.run(500 * MS);
      Rail rail = net.nodes.get(0).core.rails[BLOCKED];
      int idle = 0;
      for (int second = 0; second < 60; second++) {
        for (int i = 0; i < 10; i++) {
          net.run(100 * MS);
          idle += rail.isIdle() ? 1 : 0;
        }
        net.pools.get(0).flush();
        assertThat(net.pools.get(0).available()).as("after %d s", second).isGreaterThan(free - 150);
      }
      assertThat(idle).as("of 600 looks at the rail").isGreaterThan(550);
      long given = net.nodes.get(0).counters().dropped(DropReason.PORT_BLOCKED);
      assertThat(given).as("probes of a minute").isBetween(100L, 1_000L);

      net.deadRail[BLOCKED] = false;
      net.blockedNode[BLOCKED] = -1;
      net.run(2_000 * MS);
      PathState path = net.nodes.get(0).core.peers[1].paths[BLOCKED];
      int before = path.nextIndex;
      pass(net, from, to, 1_000);
      assertThat(path.evicted).isFalse();
      assertThat(path.nextIndex - before).as("new frames on it again").isGreaterThan(100);
      assertThat(net.nodes.get(0).counters().get(Counter.PEERS_DOWN)).isZero();
    }
  }
}
