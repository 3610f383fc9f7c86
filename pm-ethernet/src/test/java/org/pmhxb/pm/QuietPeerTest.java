package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.pmhxb.pm.wire.FrameHeader;

/** What only the timer brings on, of a peer that it looks at little. */
@Tag("without-assertions")
class QuietPeerTest {
  private static final int ENDPOINT = 7;
  private static final long MS = 1_000_000L;

  /** Ten of the timer. */
  private static final long TICKS_NS = MS;

  private final List<Long> got = new ArrayList<>();

  private static TestNet net() {
    return new TestNet(2, 1, 5, 600, NodeConfig.defaults(0x1234, 1, 128).withWindow(64));
  }

  /** Node 0 sends a number in a frame of its own. */
  private static void send(TestNet net, PmEndpoint from, long number) {
    SendBuffer b = from.claim(1, Long.BYTES);
    for (int i = 0; b == null && i < 10_000; i++) {
      net.step();
      b = from.claim(1, Long.BYTES);
    }
    assertThat(b).as("a claim within 20 ms").isNotNull();
    b.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, b.offset(), number);
    from.send(b);
  }

  private void poll(PmEndpoint to) {
    to.poll(m -> got.add(m.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, m.offset())), 16);
  }

  private static long count(TestNet net, Counter counter) {
    return net.nodes.get(0).counters().get(counter);
  }

  /** A path that is idle and owes nothing would be forgotten, and with it what was lost on it. */
  @Test
  void aLostFrameThatWaitsForItsIdlePathIsSentAgain() {
    try (TestNet net = net()) {
      PmEndpoint from = net.nodes.get(0).open(ENDPOINT);
      PmEndpoint to = net.nodes.get(1).open(ENDPOINT);
      from.coalesceUpTo(-1);
      send(net, from, 1);
      net.run(10 * MS);
      Peer peer = net.nodes.get(0).core.peers[1];
      PathState path = peer.paths[0];
      assertThat(peer.watchedPaths).isZero();

      net.loss = 1;
      send(net, from, 2);
      net.step();
      net.loss = 0;
      send(net, from, 3);
      net.step();
      long dueNs = net.nowNs + 3 * MS;
      path.pacedUntilNs = dueNs;
      net.run(MS / 2);
      net.muteNode[0] = 1;
      long acks = count(net, Counter.ACKS_RECEIVED);
      net.run(TICKS_NS);

      assertThat(peer.window.nothingLost()).isFalse();
      assertThat(peer.window.isEmpty(0)).isTrue();
      assertThat(path.late).isFalse();
      assertThat(path.probesUnanswered).isZero();
      assertThat(peer.watchedPaths).isNotZero();
      net.run(dueNs - TestNet.STEP_NS - net.nowNs);
      assertThat(count(net, Counter.RESENT)).isZero();

      while (count(net, Counter.RESENT) == 0 && net.nowNs < dueNs + TICKS_NS) {
        net.step();
      }
      assertThat(count(net, Counter.RESENT)).isOne();
      assertThat(count(net, Counter.ACKS_RECEIVED)).as("nothing else arrived").isEqualTo(acks);
      net.muteNode[0] = -1;
      net.run(TICKS_NS);
      poll(to);
      assertThat(got).containsExactly(1L, 2L, 3L);
      assertThat(count(net, Counter.RESENT)).isOne();
      assertThat(peer.window.nothingLost()).isTrue();
      assertThat(peer.watchedPaths).isZero();
    }
  }

  /** The question of a channel that comes later would be asked once, and its answer never come. */
  @Test
  void aLaterChannelAsksForItsCreditAgain() {
    int[] asked = {0};
    try (TestNet net = net()) {
      net.wireTap =
          bytes ->
              asked[0] +=
                  FrameHeader.kind(MemorySegment.ofArray(bytes), 0) == FrameHeader.CREDIT_REQUEST
                      ? 1
                      : 0;
      PmEndpoint first = net.nodes.get(0).open(ENDPOINT);
      net.nodes.get(1).open(ENDPOINT);
      send(net, first, 1);
      net.run(10 * MS);
      assertThat(net.nodes.get(0).core.peers[1].lanesWait).isFalse();
      PmEndpoint later = net.nodes.get(0).open(ENDPOINT + 1);
      PmEndpoint to = net.nodes.get(1).open(ENDPOINT + 1);

      asked[0] = 0;
      net.muteNode[0] = 0;
      assertThat(later.claim(1, Long.BYTES)).isNull();
      net.step();
      assertThat(asked[0]).isOne();
      net.muteNode[0] = -1;
      net.run(10 * MS);

      assertThat(asked[0]).isEqualTo(2);
      SendBuffer b = later.claim(1, Long.BYTES);
      assertThat(b).as("a claim").isNotNull();
      b.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, b.offset(), 2);
      later.send(b);
      net.run(MS);
      poll(to);
      assertThat(got).containsExactly(2L);
      assertThat(net.nodes.get(0).core.peers[1].lanesWait).isFalse();
    }
  }
}
