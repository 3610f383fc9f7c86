package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.bufpool.Owner;

/** What credit and claims promise finds its place in the rings between program and node. */
class EndpointRingsTest {
  private static final int ENDPOINT = 7;

  /** The inbox of 2 nodes has 1,024 places for it: less than twice as many. */
  private static final int CREDIT = 950;

  private static final int EACH = 4_000;

  /** Two programs on one thread, one of which receives from both. */
  private static final class Flood implements MessageHandler {
    final TestNet net;
    final PmEndpoint[] from;
    final int[] sent = new int[2];
    final int[] got = new int[2];

    Flood(TestNet net) {
      this.net = net;
      this.from =
          new PmEndpoint[] {net.nodes.get(0).open(ENDPOINT), net.nodes.get(1).open(ENDPOINT)};
      for (PmEndpoint endpoint : from) {
        endpoint.coalesceUpTo(-1);
      }
    }

    /** All that there is credit for. */
    void send() {
      for (int node = 0; node < 2; node++) {
        SendBuffer b;
        while (sent[node] < EACH && (b = from[node].claim(1, 4)) != null) {
          b.memory().set(ValueLayout.JAVA_INT_UNALIGNED, b.offset(), sent[node]++);
          from[node].send(b);
        }
      }
      net.step();
    }

    @Override
    public void onMessage(Message m) {
      assertThat(m.memory().get(ValueLayout.JAVA_INT_UNALIGNED, m.offset()))
          .isEqualTo(got[m.source()]++);
      send();
    }
  }

  /** Asking for credit may fail, for it can be repeated; what is sent has no second chance. */
  @Test
  void whoAsksForCreditLeavesRoomForWhatIsSent() {
    NodeConfig config =
        new NodeConfig(0x1234, 1, 1, 64, 16, 1, 16, 4, 16, 5_000_000_000L, 1_024, -1);
    try (TestNet net = new TestNet(2, 1, 3, 600, config, false)) {
      PmEndpoint from = net.nodes.get(0).open(ENDPOINT);
      net.nodes.get(1).open(ENDPOINT);
      SendBuffer b;
      while ((b = from.claim(1, 4)) == null) {
        net.step();
      }
      int last = 2_000;
      for (int other = 1_000; other <= last; other++) {
        assertThat(from.claim(1, other, 4)).isNull();
      }
      from.send(b);
      net.run(10_000_000);
      assertThat(from.acknowledged(1)).isOne();
      int room = from.toNode.room();
      assertThat(from.claim(1, last, 4)).isNull();
      assertThat(from.toNode.room()).as("what found no room is asked again").isEqualTo(room - 1);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void noMessageIsLostForWantOfAPlace(boolean inline) {
    NodeConfig config =
        new NodeConfig(0x1234, 1, 1, 1_024, CREDIT, 1, 1_024, 1_024, 16, 5_000_000_000L, 1_024, -1);
    try (TestNet net = new TestNet(2, 1, 3, 8_192, config, inline)) {
      net.delayNs = 2 * TestNet.STEP_NS;
      Flood flood = new Flood(net);
      for (int i = 0; i < 2_000; i++) {
        flood.send();
      }
      int waiting = flood.from[1].inbox.size();
      assertThat(waiting).as("the test fills the inbox").isGreaterThan(CREDIT * 3 / 4);
      for (int i = 0; i < 20_000 && flood.got[0] + flood.got[1] < 2 * EACH; i++) {
        flood.from[1].poll(flood, Integer.MAX_VALUE);
        flood.send();
      }
      net.run(10_000_000);
      assertThat(flood.got).containsExactly(EACH, EACH);
      assertThat(flood.from[0].acknowledged(1)).isEqualTo(EACH);
      assertThat(flood.from[1].acknowledged(1)).isEqualTo(EACH);
      assertThat(net.pools.get(1).ownedBy(Owner.INBOX)).isZero();
      assertThat(net.nodes.get(1).brokenBound()).isNull();
    }
  }
}
