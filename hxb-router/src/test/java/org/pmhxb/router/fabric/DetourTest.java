package org.pmhxb.router.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.pmhxb.pm.Counter;
import org.pmhxb.pm.PeerState;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.SendBuffer;
import org.pmhxb.router.Shape;

/**
 * Relays and lines that die under load, over rings whose nodes and wire are given the time: another
 * dimension order carries on, and XYZ returns when it lives again (PROTOCOL.md section 5.5).
 */
class DetourTest {
  private static final int ENDPOINT = 3;
  private static final int SIZE = 256;
  private static final long STEP_NS = 20_000;
  private static final long MS = 1_000_000L;

  /** All nodes to all others, while one of them may stand still. */
  private static final class Traffic {
    private final RingCluster cluster;
    private final List<PmEndpoint> endpoints = new ArrayList<>();
    private final long[][] sent;
    private final long[][] received;
    private final List<String> downs = new ArrayList<>();
    private long nowNs = 1_000_000_000L;
    private int dead = -1;

    Traffic(RingCluster cluster) {
      this.cluster = cluster;
      sent = new long[cluster.size()][cluster.size()];
      received = new long[cluster.size()][cluster.size()];
      for (int i = 0; i < cluster.size(); i++) {
        endpoints.add(cluster.node(i).open(ENDPOINT));
      }
    }

    void run(long ns, boolean sending) {
      for (long until = nowNs + ns; nowNs < until; nowNs += STEP_NS) {
        cluster.wire().carryAll();
        for (int n = 0; n < endpoints.size(); n++) {
          if (n != dead) {
            if (sending) {
              send(n);
            }
            cluster.node(n).doWork(nowNs);
            poll(n);
          }
        }
      }
    }

    private void send(int from) {
      for (int to = 0; to < endpoints.size(); to++) {
        boolean behind = sent[from][to] - received[from][to] < 8;
        SendBuffer b = to == from || !behind ? null : endpoints.get(from).claim(to, SIZE);
        if (b != null) {
          b.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, b.offset(), sent[from][to]++);
          endpoints.get(from).send(b);
        }
      }
    }

    private void poll(int at) {
      endpoints
          .get(at)
          .poll(
              new org.pmhxb.pm.MessageHandler() {
                @Override
                public void onMessage(org.pmhxb.pm.Message m) {
                  long v = m.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, m.offset());
                  assertThat(v)
                      .as("message of %d to %d", m.source(), at)
                      .isEqualTo(received[m.source()][at]++);
                }

                @Override
                public void onPeerDown(int node, int session) {
                  downs.add(at + " lost " + node);
                  // Their fate is unknown to a program; this one knows that they did not arrive.
                  sent[at][node] = received[at][node];
                }
              },
              64);
    }

    /** Messages between live nodes so far. */
    long[] delivered() {
      long[] all = new long[endpoints.size() * endpoints.size()];
      for (int s = 0; s < endpoints.size(); s++) {
        for (int d = 0; d < endpoints.size(); d++) {
          all[s * endpoints.size() + d] = s == dead || d == dead ? 0 : received[s][d];
        }
      }
      return all;
    }

    void assertAllGoesOnSince(long[] before) {
      long[] after = delivered();
      for (int i = 0; i < after.length; i++) {
        int s = i / endpoints.size();
        int d = i % endpoints.size();
        if (s != d && s != dead && d != dead) {
          assertThat(after[i] - before[i]).as("messages of %d to %d since", s, d).isPositive();
        }
      }
    }

    void assertNothingLost() {
      for (int s = 0; s < endpoints.size(); s++) {
        for (int d = 0; d < endpoints.size(); d++) {
          if (s != dead && d != dead) {
            assertThat(received[s][d]).as("%d to %d", s, d).isEqualTo(sent[s][d]);
          }
        }
      }
    }

    long count(Counter counter) {
      long sum = 0;
      for (int i = 0; i < cluster.size(); i++) {
        sum += cluster.node(i).counters().get(counter);
      }
      return sum;
    }
  }

  private static RingCluster cluster(String shape, int rails, long seed) {
    return RingCluster.create(
        RingCluster.Options.of(Shape.parse(shape), rails)
            .withSeed(seed)
            .withPeerTimeoutNs(150 * MS));
  }

  @ParameterizedTest
  @CsvSource({"2x2x2, 1, 1", "2x2x2, 2, 2", "2x2x2, 1, 3", "3x3, 1, 4", "3x3, 2, 5", "4x2, 1, 6"})
  void aRelayThatCrashesUnderLoadIsGoneRound(String shape, int rails, long seed) {
    try (RingCluster cluster = cluster(shape, rails, seed)) {
      SplittableRandom random = new SplittableRandom(seed);
      Traffic t = new Traffic(cluster);
      t.run(100 * MS, true);
      t.assertAllGoesOnSince(new long[cluster.size() * cluster.size()]);
      t.run(random.nextLong(5 * MS), true);
      t.dead = random.nextInt(cluster.size());
      t.run(30 * MS, true);
      long[] before = t.delivered();
      t.run(20 * MS, true);
      t.assertAllGoesOnSince(before);
      assertThat(t.count(Counter.DETOURS_BEGUN)).isPositive();
      assertThat(t.downs).as("before the peer timeout").isEmpty();
      t.run(250 * MS, true);
      assertThat(t.downs).allMatch(line -> line.endsWith(" lost " + t.dead)).isNotEmpty();
      t.run(50 * MS, false);
      t.assertNothingLost();
    }
  }

  @ParameterizedTest
  @CsvSource({"2x2x2, 1, 7", "3x3, 2, 8"})
  void xyzReturnsWhenTheRelayGoesOn(String shape, int rails, long seed) {
    try (RingCluster cluster = cluster(shape, rails, seed)) {
      Traffic t = new Traffic(cluster);
      t.run(100 * MS, true);
      t.dead = new SplittableRandom(seed).nextInt(cluster.size());
      int stalled = t.dead;
      t.run(60 * MS, true);
      assertThat(t.count(Counter.DETOURS_BEGUN)).isPositive();
      t.dead = -1;
      t.run(400 * MS, true);
      assertThat(t.count(Counter.DETOURS_ENDED)).isEqualTo(t.count(Counter.DETOURS_BEGUN));
      assertThat(t.downs).as("a stall of node %d within its peers' patience", stalled).isEmpty();
      t.run(50 * MS, false);
      t.assertNothingLost();
    }
  }

  /**
   * The line of the two-hop pairs' first hop, with all its rails; its own pairs have no other way.
   */
  @ParameterizedTest
  @CsvSource({"2x2, 1", "2x2x2, 2"})
  void aDeadLineIsGoneRoundByThoseWhoHaveAnotherOrder(String shape, int rails) {
    try (RingCluster cluster = cluster(shape, rails, 9)) {
      Traffic t = new Traffic(cluster);
      t.run(100 * MS, true);
      for (int rail = 0; rail < rails; rail++) {
        cluster.wire().lines().get(rail).cut(true);
      }
      t.run(50 * MS, true);
      long before = t.received[0][3];
      t.run(30 * MS, true);
      // Node 0 and 1 are the ends of that line, and 3 lies beyond 1.
      assertThat(t.received[0][3] - before).as("messages of 0 to 3").isPositive();
      t.run(250 * MS, true);
      assertThat(t.downs).containsOnly("0 lost 1", "1 lost 0");
      for (int rail = 0; rail < rails; rail++) {
        cluster.wire().lines().get(rail).cut(false);
      }
      t.run(700 * MS, true);
      assertThat(cluster.node(0).peerState(1)).isEqualTo(PeerState.UP);
      assertThat(t.count(Counter.DETOURS_ENDED)).isEqualTo(t.count(Counter.DETOURS_BEGUN));
    }
  }
}
