package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Links with a rate and a switch that drops what its queue does not hold (PROTOCOL.md 5.3). */
class CongestionTest {
  private static final int ENDPOINT = 7;
  private static final int MESSAGE_BYTES = 1_024;
  private static final int FRAME_BYTES = 64 + MESSAGE_BYTES;
  private static final double GIGABIT = 0.125;
  private static final long QUEUE_BYTES = 62L * FRAME_BYTES;
  private static final long MS = 1_000_000L;

  private final List<PmEndpoint> endpoints = new ArrayList<>();
  private final List<long[]> received = new ArrayList<>();

  private TestNet net(int nodes, int rails, long seed, int credit) {
    NodeConfig config = NodeConfig.defaults(0x1234, 1, credit).withWindow(256);
    TestNet net = new TestNet(nodes, rails, seed, 3 * credit + 1_000, config);
    net.jitterNs = 5_000;
    net.switchQueueBytes = QUEUE_BYTES;
    java.util.Arrays.fill(net.bytesPerNs, GIGABIT);
    for (PmNode node : net.nodes) {
      endpoints.add(node.open(ENDPOINT));
      received.add(new long[nodes]);
    }
    return net;
  }

  /** All of {@code senders} send to node 0 as much as they may, for a while. */
  private void flood(TestNet net, int firstSender, int lastSender, long ns) {
    for (long until = net.nowNs + ns; net.nowNs < until; ) {
      for (int s = firstSender; s <= lastSender; s++) {
        SendBuffer b = endpoints.get(s).claim(0, MESSAGE_BYTES);
        if (b != null) {
          endpoints.get(s).send(b);
        }
      }
      net.step();
      endpoints.get(0).poll(m -> received.get(0)[m.source()]++, 256);
    }
  }

  private long total() {
    long sum = 0;
    for (long n : received.get(0)) {
      sum += n;
    }
    return sum;
  }

  private static double resendRatio(TestNet net) {
    long sent = 0;
    long resent = 0;
    for (PmNode node : net.nodes) {
      sent += node.counters().get(Counter.DATA_SENT);
      resent += node.counters().get(Counter.RESENT);
    }
    return (double) resent / sent;
  }

  @ParameterizedTest
  @CsvSource({"7, 1", "7, 2", "7, 3", "20, 4", "63, 5", "63, 6"})
  void incastFillsTheBottleneckAndLosesLittle(int senders, long seed) {
    try (TestNet net = net(senders + 1, 1, seed, 1_024)) {
      flood(net, 1, senders, 20 * MS);
      long before = total();
      flood(net, 1, senders, 100 * MS);
      double used = (total() - before) * FRAME_BYTES / (100 * MS * GIGABIT);
      assertThat(used).as("use of the bottleneck").isGreaterThan(0.9).isLessThan(1.01);
      assertThat(resendRatio(net)).as("resends").isLessThan(0.05);
      long[] shares = received.get(0);
      for (int s = 1; s <= senders; s++) {
        assertThat(shares[s]).as("messages of sender %d", s).isPositive();
      }
    }
  }

  /** The last ones come when the queue stands: they must not take it for the length of the way. */
  @Test
  void lateComersLearnTheLengthOfTheWay() {
    try (TestNet net = net(41, 1, 21, 1_024)) {
      flood(net, 1, 20, 40 * MS);
      flood(net, 1, 40, 60 * MS);
      long[] before = received.get(0).clone();
      long drops = net.switchDrops;
      flood(net, 1, 40, 100 * MS);
      long old = 0;
      long late = 0;
      for (int s = 1; s <= 40; s++) {
        long got = received.get(0)[s] - before[s];
        old += s <= 20 ? got : 0;
        late += s <= 20 ? 0 : got;
      }
      assertThat((double) late / old).as("late against old senders").isBetween(0.33, 3.0);
      assertThat(net.switchDrops - drops).as("drops").isLessThan((old + late) / 20);
    }
  }

  @Test
  void aSlowRailAmongFastOnesGetsItsShare() {
    try (TestNet net = net(2, 4, 11, 1_024)) {
      net.bytesPerNs[2] = GIGABIT / 5;
      flood(net, 1, 1, 20 * MS);
      long before = total();
      flood(net, 1, 1, 50 * MS);
      double sum = 3.2 * GIGABIT;
      double used = (total() - before) * FRAME_BYTES / (50 * MS * sum);
      assertThat(used).as("use of all rails").isGreaterThan(0.95).isLessThan(1.01);
      assertThat(resendRatio(net)).isLessThan(0.01);
    }
  }

  /** The budget (docs/PERFORMANCE.md): at 1 % loss, 2 % of the goodput at most. */
  @Test
  void lossWithoutAQueueCostsLittle() {
    try (TestNet net = net(2, 2, 31, 1_024)) {
      net.loss = 0.01;
      flood(net, 1, 1, 20 * MS);
      long before = total();
      flood(net, 1, 1, 100 * MS);
      double used = (total() - before) * FRAME_BYTES / (100 * MS * 2 * GIGABIT);
      assertThat(used).as("use of two links").isGreaterThan(0.98);
      assertThat(resendRatio(net)).isLessThan(0.013);
      assertThat(net.nodes.get(1).counters().get(Counter.PATHS_EVICTED)).isZero();
    }
  }
}
