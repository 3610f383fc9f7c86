package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.bufpool.Owner;

/** One node has more channels, or endpoints, than its pool was made for. */
class ManyChannelsTest {
  private static final int PEERS = 8;
  private static final int ENDPOINTS = 4;
  private static final int CHANNELS = PEERS * ENDPOINTS * ENDPOINTS;
  private static final int CREDIT = 512;
  private static final int HELD = CREDIT + 256;

  /** The sum of a node's uses. */
  private static final int POOL_BUFFERS = 2_432;

  private static final int BYTES = 1_024;
  private static final int EACH = 24;
  private static final double BYTES_PER_NS = 0.5;
  private static final long MS = 1_000_000L;

  private static final NodeConfig CONFIG =
      new NodeConfig(0x1234, 1, 1, 256, CREDIT, 2, 256, 128, 128, 5_000 * MS, 1_024, -1)
          .withHeldFrames(HELD);

  private final List<PmEndpoint> endpoints = new ArrayList<>();
  private final int[] toSend = new int[CHANNELS];
  private int received;

  /** All that each channel has credit for, as its program may at any moment. */
  private void send() {
    for (int c = 0; c < CHANNELS; c++) {
      PmEndpoint from = endpoints.get(c % ENDPOINTS);
      int to = 1 + c / ENDPOINTS % ENDPOINTS;
      int node = 1 + c / (ENDPOINTS * ENDPOINTS);
      SendBuffer b;
      while (toSend[c] > 0 && (b = from.claim(node, to, BYTES)) != null) {
        from.send(b);
        toSend[c]--;
      }
    }
  }

  /** Acknowledgements come in by buffers, too: with none left nothing would ever free one. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatIsHeldLeavesBuffersForTheRest(boolean inline) {
    try (TestNet net = new TestNet(PEERS + 1, 1, 1, POOL_BUFFERS, CONFIG, inline)) {
      net.bytesPerNs[0] = BYTES_PER_NS;
      for (PmNode node : net.nodes) {
        for (int e = 1; e <= ENDPOINTS; e++) {
          endpoints.add(node.open(e));
        }
      }
      Arrays.fill(toSend, EACH);
      int most = 0;
      PmNode sender = net.nodes.get(0);
      for (long until = net.nowNs + 100 * MS; received < CHANNELS * EACH && net.nowNs < until; ) {
        send();
        net.step();
        int held = net.pools.get(0).ownedBy(Owner.WINDOW);
        most = Math.max(most, held);
        assertThat(sender.sender.held()).isEqualTo(held);
        endpoints.forEach(e -> e.poll(m -> received++, 256));
      }
      assertThat(received).isEqualTo(CHANNELS * EACH);
      assertThat(most).isBetween(HELD, HELD + ENDPOINTS * CONFIG.claimBuffers());
      assertThat(sender.counters().dropped(DropReason.NO_BUFFER)).isZero();
      endpoints.forEach(PmEndpoint::close);
    }
  }

  /** A poll thread gives each endpoint buffers before it asks: the last one sends. */
  @Test
  void endpointsThatSendNothingLeaveBuffersForTheRest() {
    int many = POOL_BUFFERS / 4;
    try (TestNet net = new TestNet(2, 1, 1, POOL_BUFFERS, CONFIG, false)) {
      for (int e = 1; e <= many; e++) {
        endpoints.add(net.nodes.get(0).open(e));
        net.step();
      }
      PmEndpoint to = net.nodes.get(1).open(many);
      toSend[0] = EACH;
      for (long until = net.nowNs + 10 * MS; received < EACH && net.nowNs < until; ) {
        SendBuffer b = toSend[0] > 0 ? endpoints.getLast().claim(1, BYTES) : null;
        if (b != null) {
          endpoints.getLast().send(b);
          toSend[0]--;
        }
        net.step();
        to.poll(m -> received++, 256);
      }
      assertThat(received).isEqualTo(EACH);
      assertThat(net.pools.get(0).available()).isGreaterThan(POOL_BUFFERS / 2);
      endpoints.forEach(PmEndpoint::close);
    }
  }

  /** An acknowledgement has room for 64 credits: the next begins with those that it left out. */
  @Test
  void allChannelsOfAPeerAreToldOfTheirCreditInTurn() {
    int many = 16;
    NodeConfig config =
        new NodeConfig(1, 1, 1, 1_024, 8 * many * many, many, 4, 256, 0, 5_000 * MS, 1_024, -1);
    try (TestNet net = new TestNet(2, 1, 1, 16_384, config)) {
      List<PmEndpoint> senders = new ArrayList<>();
      for (int e = 1; e <= many; e++) {
        senders.add(net.nodes.get(0).open(e));
        endpoints.add(net.nodes.get(1).open(e));
      }
      Peer peer = net.nodes.get(1).core.peer(0);
      for (PmEndpoint from : senders) {
        for (int to = 1; to <= many; to++) {
          ask(net, from, to);
        }
      }
      assertThat(lanes(peer)).hasSize(many * many).noneMatch(InLane::hasNews);

      Set<InLane> told = new HashSet<>();
      for (int ack = 1; ack <= many * many / 64; ack++) {
        lanes(peer).forEach(InLane::forgetAdvertised);
        net.nodes.get(1).acknowledger.sendAck(peer);
        lanes(peer).stream().filter(lane -> !lane.hasNews()).forEach(told::add);
        assertThat(told).hasSize(64 * ack);
        net.step();
      }
      senders.forEach(PmEndpoint::close);
      endpoints.forEach(PmEndpoint::close);
    }
  }

  /** Until the channel has credit. */
  private static void ask(TestNet net, PmEndpoint from, int to) {
    SendBuffer b = null;
    for (int i = 0; i < 100_000 && b == null; i++) {
      b = from.claim(1, to, 8);
      net.step();
    }
    b.abort();
    net.run(MS / 10);
  }

  private static List<InLane> lanes(Peer peer) {
    List<InLane> lanes = new ArrayList<>();
    for (InLane lane = peer.lanes; lane != null; lane = lane.next) {
      lanes.add(lane);
    }
    return lanes;
  }
}
