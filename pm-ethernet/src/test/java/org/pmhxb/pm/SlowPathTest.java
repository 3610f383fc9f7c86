package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.pmhxb.pm.wire.FrameHeader;

/** What a slow path beside fast ones carries: data, and nothing that is in a hurry. */
class SlowPathTest {
  private static final int ENDPOINT = 7;
  private static final int RAILS = 3;
  private static final int SLOW = RAILS - 1;
  private static final int MESSAGE_BYTES = 1_000;
  private static final long MS = 1_000_000L;

  /** A frame takes 40 us. */
  private static final double FAST = 0.026;

  private final int[] dataOn = new int[RAILS];
  private final int[] acksOn = new int[RAILS];
  private int received;

  /**
   * @param slow how many rails, the last ones, are slower than the others, and how fast
   */
  private TestNet net(int slow, double slowest) {
    TestNet net = new TestNet(2, RAILS, 1, 1_500, NodeConfig.defaults(0x1234, 1, 1_024));
    Arrays.fill(net.bytesPerNs, FAST);
    Arrays.fill(net.bytesPerNs, RAILS - slow, RAILS, slowest);
    net.wireTap =
        bytes -> {
          int kind = FrameHeader.kind(MemorySegment.ofArray(bytes), 0);
          // The rail stands in the last byte of the sender's address.
          if (kind == FrameHeader.DATA) {
            dataOn[bytes[11]]++;
          } else if (kind == FrameHeader.ACK_KIND) {
            acksOn[bytes[11]]++;
          }
        };
    return net;
  }

  private void streamBothWays(TestNet net, PmEndpoint a, PmEndpoint b, long ns) {
    Arrays.fill(dataOn, 0);
    Arrays.fill(acksOn, 0);
    for (long until = net.nowNs + ns; net.nowNs < until; ) {
      offer(a, 1);
      offer(b, 0);
      net.step();
      a.poll(m -> received++, 64);
      b.poll(m -> received++, 64);
    }
  }

  private static void offer(PmEndpoint from, int to) {
    for (SendBuffer b; (b = from.claim(to, MESSAGE_BYTES)) != null; ) {
      from.send(b);
    }
  }

  private void assertAcknowledgedOnAllRails() {
    for (int rail = 0; rail < RAILS; rail++) {
      assertThat(acksOn[rail]).as("rail %s", rail).isGreaterThan(100);
    }
  }

  @Test
  void acknowledgementsTakeFastPathsWhileOneIsLeft() {
    try (TestNet net = net(1, FAST / 4)) {
      PmEndpoint a = net.nodes.get(0).open(ENDPOINT);
      PmEndpoint b = net.nodes.get(1).open(ENDPOINT);
      streamBothWays(net, a, b, 30 * MS);
      streamBothWays(net, a, b, 100 * MS);
      assertThat(dataOn[SLOW]).isGreaterThan(dataOn[0] / 8);
      assertThat(acksOn[0]).isGreaterThan(100);
      assertThat(acksOn[1]).isGreaterThan(100);
      assertThat(acksOn[SLOW]).isLessThan(acksOn[0] / 20);

      Arrays.fill(net.deadRail, 0, SLOW, true);
      streamBothWays(net, a, b, 20 * MS);
      int before = received;
      streamBothWays(net, a, b, 50 * MS);
      assertThat(received - before).isGreaterThan(300);
      assertThat(acksOn[SLOW]).isPositive();
    }
  }

  @Test
  void acknowledgementsTakePathsThatAreAlikeInTurn() {
    try (TestNet net = net(0, FAST)) {
      PmEndpoint a = net.nodes.get(0).open(ENDPOINT);
      PmEndpoint b = net.nodes.get(1).open(ENDPOINT);
      streamBothWays(net, a, b, 30 * MS);
      streamBothWays(net, a, b, 100 * MS);
      assertAcknowledgedOnAllRails();
    }
  }

  /** The only fast path owes three answers and is not evicted yet. */
  @Test
  void slowPathsAreTakenInTurnWhenNoFastOneIsLeft() {
    try (TestNet net = net(2, FAST / 4)) {
      PmEndpoint a = net.nodes.get(0).open(ENDPOINT);
      PmEndpoint b = net.nodes.get(1).open(ENDPOINT);
      streamBothWays(net, a, b, 100 * MS);
      assertThat(acksOn[1] + acksOn[SLOW]).isLessThan(acksOn[0] / 10);

      NodeCore core = net.nodes.get(0).core;
      Peer peer = core.peer(1);
      assertThat(peer.paths).extracting(path -> path.isSlow).containsExactly(false, true, true);
      assertThat(core.controlPath(peer)).isZero();
      peer.paths[0].probesUnanswered = Paths.PROBES_TO_EVICT;
      int one = core.controlPath(peer);
      int other = core.controlPath(peer);
      assertThat(List.of(one, other)).containsExactlyInAnyOrder(1, SLOW);
      assertThat(core.controlPath(peer)).isEqualTo(one);
    }
  }

  /** The mark is looked at while it stands, though none would be set. */
  @Test
  void aPathThatIsLikeTheOthersCountsAsSlowNoMore() {
    try (TestNet net = net(0, FAST)) {
      PmEndpoint a = net.nodes.get(0).open(ENDPOINT);
      PmEndpoint b = net.nodes.get(1).open(ENDPOINT);
      streamBothWays(net, a, b, 30 * MS);
      Peer peer = net.nodes.get(0).core.peer(1);
      peer.paths[SLOW].isSlow = true;
      peer.mayDiffer |= Peer.SLOW;
      streamBothWays(net, a, b, 10 * MS);
      assertThat(peer.paths).extracting(path -> path.isSlow).containsOnly(false);
      assertThat(peer.mayDiffer & Peer.SLOW).isZero();
    }
  }

  /** Who sends nothing measures nothing, and an answer that was late by chance says little. */
  @Test
  void whoOnlyReceivesAcknowledgesOnAllPaths() {
    try (TestNet net = net(0, FAST)) {
      net.longerNs[SLOW] = 4 * MS;
      PmEndpoint a = net.nodes.get(0).open(ENDPOINT);
      PmEndpoint b = net.nodes.get(1).open(ENDPOINT);
      offer(b, 0);
      net.run(20 * MS);
      a.poll(m -> received++, 256);
      net.longerNs[SLOW] = 0;
      net.run(20 * MS);
      Arrays.fill(acksOn, 0);
      for (long until = net.nowNs + 100 * MS; net.nowNs < until; ) {
        offer(a, 1);
        net.step();
        b.poll(m -> received++, 64);
      }
      assertAcknowledgedOnAllRails();
    }
  }
}
