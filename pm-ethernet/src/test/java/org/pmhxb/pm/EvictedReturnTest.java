package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** When an evicted path comes back (PROTOCOL.md section 5.5). */
class EvictedReturnTest {
  private static final int ENDPOINT = 7;
  private static final long MS = 1_000_000L;

  private long got;
  private long sent;

  /** When the second node's inline program polls next; it computes in between. */
  private long nextPollNs;

  /** Two nodes with two rails; the first node evicts the second rail, which loses 0.4 of all. */
  private final class Grey implements AutoCloseable {
    final TestNet net;
    final PmEndpoint a;
    final PmEndpoint b;
    private final PmNode second;

    Grey(long seed) {
      NodeConfig config = NodeConfig.defaults(0x1234, 1, 1_024).withWindow(256);
      net = new TestNet(2, 2, seed, 4_000, config);
      Arrays.fill(net.bytesPerNs, 0.125);
      second = net.nodes.get(1);
      a = net.nodes.get(0).open(ENDPOINT);
      b = second.open(ENDPOINT);
      for (int i = 0; i < 20_000; i++) {
        step();
        send(1_024);
      }
      assertThat(evicted()).isZero();
      net.railLoss[1] = 0.4;
      for (int i = 0; i < 500_000 && evicted() == 0; i++) {
        step();
        send(1_024);
      }
      assertThat(evicted()).as("the grey rail is left out").isEqualTo(1);
      for (int i = 0; i < 1_000 && got < sent; i++) {
        step();
      }
    }

    int evicted() {
      return net.nodes.get(0).peerStatus().getFirst().pathsEvicted();
    }

    boolean send(int bytes) {
      SendBuffer buffer = a.claim(1, bytes);
      if (buffer != null) {
        a.send(buffer);
        sent++;
      }
      return buffer != null;
    }

    void step() {
      net.step();
      a.poll(m -> {}, 64);
      b.poll(m -> got++, 64);
    }

    /** The second node polls each 12 ms only. */
    void stepWhileItComputes() {
      net.nodes.set(1, null);
      net.step();
      net.nodes.set(1, second);
      a.poll(m -> {}, 64);
      if (net.nowNs - nextPollNs >= 0) {
        nextPollNs = net.nowNs + 12 * MS;
        second.doWork(net.nowNs);
        second.doWork(net.nowNs);
        b.poll(m -> got++, 64);
      }
    }

    @Override
    public void close() {
      net.close();
    }
  }

  /** Several answers come at a time, none of them before the next question. */
  @Test
  void whoseEveryProbeIsAnsweredReturnsThoughThePeerPollsSeldom() {
    try (Grey grey = new Grey(5)) {
      grey.net.railLoss[1] = 0;
      long until = grey.net.nowNs + 500 * MS;
      while (grey.net.nowNs < until && grey.evicted() > 0) {
        grey.stepWhileItComputes();
      }
      assertThat(grey.evicted()).as("evicted 0.5 s after the rail healed").isZero();
    }
  }

  @Test
  void whatIsSentGoesByTheOnlyRailThatAnswers() {
    try (Grey grey = new Grey(5)) {
      grey.net.railLoss[1] = 0;
      grey.net.deadRail[0] = true;
      long until = grey.net.nowNs + 1_000 * MS;
      boolean asked = false;
      while (grey.net.nowNs < until && !(asked && got == sent)) {
        asked = asked || grey.send(8);
        grey.stepWhileItComputes();
      }
      assertThat(got).as("messages within 1 s").isEqualTo(sent);
    }
  }

  /** A lossy path is more than none; else its few answers would keep a session up for nothing. */
  @Test
  void aGreyRailIsTakenBackWhenTheLastOtherOneDies() {
    for (int seed = 5; seed < 10; seed++) {
      got = 0;
      sent = 0;
      try (Grey grey = new Grey(seed)) {
        grey.net.deadRail[0] = true;
        long until = grey.net.nowNs + 1_000 * MS;
        int asked = 0;
        while (grey.net.nowNs < until && !(asked == 100 && got == sent)) {
          asked += asked < 100 && grey.send(8) ? 1 : 0;
          grey.step();
        }
        assertThat(asked).isEqualTo(100);
        assertThat(got).as("messages within 1 s, seed %d", seed).isEqualTo(sent);
      }
    }
  }

  /** 12 ms there and back, and up to 3 ms of jitter each way. */
  @Test
  void returnsOverALongWayWithJitter() {
    try (Grey grey = new Grey(6)) {
      grey.net.railLoss[1] = 0;
      grey.net.delayNs = 6 * MS;
      grey.net.jitterNs = 3 * MS;
      long until = grey.net.nowNs + 1_000 * MS;
      while (grey.net.nowNs < until && grey.evicted() > 0) {
        grey.step();
      }
      assertThat(grey.evicted()).as("evicted 1 s after the rail healed").isZero();
    }
  }
}
