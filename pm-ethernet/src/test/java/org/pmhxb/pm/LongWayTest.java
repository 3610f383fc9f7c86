package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ways that are said to be long, {@code far.longer-us} and {@link PmNode#longWay}: up to 10 s. */
class LongWayTest {
  private static final int ENDPOINT = 7;
  private static final long MS = 1_000_000L;

  /** Between two looks: little beside such ways, and far from each step of the net's. */
  private static final long POLL_NS = 100_000;

  @Test
  void anUnknownNodeIsRefused() {
    try (TestNet net = new TestNet(2, 1, 3, 600, NodeConfig.defaults(0x1234, 1, 128))) {
      PmNode node = net.nodes.get(0);
      assertThatThrownBy(() -> node.longWay(2, 0))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("node 2 is unknown: nodes are 0..1");
      assertThatThrownBy(() -> node.longWayNs(-1)).hasMessage("node -1 is unknown: nodes are 0..1");
    }
  }

  /** A round trip of more than a second is no stall there, so windows grow by it. */
  @ParameterizedTest
  @ValueSource(ints = {450, 550, 2_000})
  void theWindowGrows(int oneWayMs) {
    NodeConfig config = NodeConfig.defaults(0x1234, 1, 1_024).withWindow(256);
    try (TestNet net = new TestNet(2, 2, 3, 20_000, config)) {
      Arrays.fill(net.bytesPerNs, 0.125);
      net.delayNs = oneWayMs * MS;
      net.nodes.get(0).longWay(1, 2L * oneWayMs * MS);
      net.nodes.get(1).longWay(0, 2L * oneWayMs * MS);
      PmEndpoint a = net.nodes.get(0).open(ENDPOINT);
      PmEndpoint b = net.nodes.get(1).open(ENDPOINT);
      long[] got = {0};
      long until = net.nowNs + 15L * 2 * oneWayMs * MS;
      while (net.nowNs < until) {
        net.nowNs += POLL_NS;
        net.step();
        SendBuffer buffer = a.claim(1, 1_024);
        if (buffer != null) {
          a.send(buffer);
        }
        a.poll(m -> {}, 64);
        b.poll(m -> got[0]++, 64);
      }
      NodeCounters counters = net.nodes.get(0).counters();
      assertThat(got[0]).as("messages in 15 round trips").isGreaterThan(1_000);
      assertThat(counters.get(Counter.PATHS_EVICTED)).isZero();
      assertThat(counters.get(Counter.RESENT)).isZero();
    }
  }
}
