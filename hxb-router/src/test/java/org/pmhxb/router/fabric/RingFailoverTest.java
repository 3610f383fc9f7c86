package org.pmhxb.router.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.pmhxb.pm.Counter;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.SendBuffer;
import org.pmhxb.router.Shape;

/**
 * One of six rails between two nodes over DPDK rings is cut under full load, silently, and mended.
 * Nodes and wire are given the time, so that the budget, 5 ms from the cut to full delivery, is not
 * one of this machine's.
 */
class RingFailoverTest {
  private static final int ENDPOINT = 3;
  private static final int RAILS = 6;
  private static final int SIZE = 1_024;
  private static final long STEP_NS = 10_000;
  private static final long MS = 1_000_000L;

  private long nowNs = 1_000_000_000L;
  private long sent;
  private long received;

  private void run(RingCluster cluster, PmEndpoint from, PmEndpoint to, long ns, boolean sending) {
    for (long untilNs = nowNs + ns; nowNs < untilNs; nowNs += STEP_NS) {
      SendBuffer b;
      while (sending && (b = from.claim(1, SIZE)) != null) {
        b.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, b.offset(), sent++);
        from.send(b);
      }
      cluster.node(0).doWork(nowNs);
      cluster.wire().carryAll();
      cluster.node(1).doWork(nowNs);
      to.poll(
          m -> {
            long number = m.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, m.offset());
            assertThat(number).isEqualTo(received++);
          },
          1_024);
    }
  }

  @Test
  void aRailThatIsCutCostsItsShareAndNoMore() {
    try (RingCluster cluster = RingCluster.create(RingCluster.Options.of(Shape.of(2), RAILS))) {
      PmEndpoint from = cluster.node(0).open(ENDPOINT);
      PmEndpoint to = cluster.node(1).open(ENDPOINT);
      run(cluster, from, to, 30 * MS, true);
      long start = received;
      run(cluster, from, to, 10 * MS, true);
      double before = (received - start) / 10.0;
      double share = before * (RAILS - 1) / RAILS;

      cluster.wire().lines().get(2).cut(true);
      long cutNs = nowNs;
      long fullFromNs = cutNs;
      while (nowNs - cutNs < 20 * MS) {
        long binStart = received;
        run(cluster, from, to, MS / 2, true);
        fullFromNs = received - binStart < 0.97 * share / 2 ? nowNs : fullFromNs;
      }

      assertThat(fullFromNs - cutNs)
          .as("ns from the cut to full delivery on the others")
          .isLessThanOrEqualTo(5 * MS);
      assertThat(cluster.node(0).counters().get(Counter.PATHS_EVICTED)).isEqualTo(1);
      cluster.wire().lines().get(2).cut(false);
      run(cluster, from, to, 300 * MS, true);
      assertThat(cluster.node(0).counters().get(Counter.PATHS_RESTORED)).isEqualTo(1);
      start = received;
      run(cluster, from, to, 10 * MS, true);
      assertThat((received - start) / 10.0).isGreaterThanOrEqualTo(0.97 * before);
      run(cluster, from, to, 20 * MS, false);
      assertThat(received).as("nothing is lost").isEqualTo(sent).isPositive();
      assertThat(before).as("messages a millisecond").isPositive();
    }
  }
}
