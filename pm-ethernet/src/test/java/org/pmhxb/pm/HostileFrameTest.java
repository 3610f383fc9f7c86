package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.pm.wire.FrameHeader;

/** Single frames that a fault, a newer version or an attacker could send (PROTOCOL.md 2.4, 10). */
class HostileFrameTest {
  private static final int ENDPOINT = 7;

  private final List<byte[]> fromZero = new ArrayList<>();
  private final List<byte[]> fromOne = new ArrayList<>();

  private static NodeConfig config() {
    return NodeConfig.defaults(0x1234, 1, 128).withWindow(64).withFirstSeq(0xFFFF_FFF0L);
  }

  private static int send(TestNet net, PmEndpoint from, PmEndpoint to, int count) {
    return send(net, from, 1, to, count);
  }

  private static int send(TestNet net, PmEndpoint from, int node, PmEndpoint to, int count) {
    int[] got = {0};
    int sent = 0;
    for (int i = 0; i < 100_000 && got[0] < count; i++) {
      SendBuffer b = sent < count ? from.claim(node, 16) : null;
      if (b != null) {
        from.send(b);
        sent++;
      }
      net.step();
      to.poll(m -> got[0]++, 16);
    }
    return got[0];
  }

  private static byte[] latest(List<byte[]> frames, int kind) {
    for (int i = frames.size() - 1; i >= 0; i--) {
      if (frames.get(i)[FrameHeader.KIND_SRC] == kind) {
        return frames.get(i).clone();
      }
    }
    throw new AssertionError("no frame of kind " + kind);
  }

  /** The latest of a kind, with room for so many bytes of payload. */
  private static byte[] like(List<byte[]> frames, int kind, int payloadBytes) {
    return Arrays.copyOf(latest(frames, kind), FrameHeader.BYTES + payloadBytes);
  }

  /** Of node 1, about what node 0 asked a path. */
  private byte[] probeReply(int path, int indexBeyondNext, long sentNs) {
    byte[] reply = like(fromOne, FrameHeader.ACK_KIND, 32);
    MemorySegment m = MemorySegment.ofArray(reply);
    FrameHeader.kindSrc(m, 0, FrameHeader.PROBE_REPLY, 1);
    FrameHeader.endpointsLengthBeyond(m, 0, 0, 0, 32, 0);
    FrameHeader.payloadInt(m, 0, 0, path);
    FrameHeader.payloadInt(m, 0, 4, indexBeyondNext);
    FrameHeader.payloadLong(m, 0, 8, sentNs);
    FrameHeader.payloadInt(m, 0, 16, FrameHeader.ack(m, 0));
    FrameHeader.payloadInt(m, 0, 28, 0);
    ReceiverFuzzTest.repair(reply);
    return reply;
  }

  /** At the node's first rail, with checks that hold; the node has read it then. */
  private static void arrives(TestNet net, int node, byte[] frame) {
    ReceiverFuzzTest.repair(frame);
    net.ports[node][0].arrive(frame.clone());
    net.run(100_000);
  }

  private record Pair(TestNet net, PmEndpoint from, PmEndpoint to) {}

  private Pair pair() {
    TestNet net = new TestNet(2, 2, 3, 600, config());
    net.wireTap =
        bytes -> {
          int src = FrameHeader.src(MemorySegment.ofArray(bytes), 0);
          (src == 0 ? fromZero : fromOne).add(bytes.clone());
        };
    Pair pair = new Pair(net, net.nodes.get(0).open(ENDPOINT), net.nodes.get(1).open(ENDPOINT));
    assertThat(send(net, pair.from, pair.to, 20)).isEqualTo(20);
    return pair;
  }

  private static long dropped(TestNet net, int node, DropReason reason) {
    return net.nodes.get(node).counters().dropped(reason);
  }

  @Test
  void boundsTheChannelsOfOnePeer() {
    Pair pair = pair();
    try (TestNet net = pair.net) {
      byte[] request = latest(fromZero, FrameHeader.CREDIT_REQUEST);
      MemorySegment m = MemorySegment.ofArray(request);
      for (int endpoint = 1; endpoint <= 3_000; endpoint++) {
        FrameHeader.endpointsLengthBeyond(m, 0, 10_000 + endpoint, ENDPOINT, 0, 0);
        ReceiverFuzzTest.repair(request);
        net.ports[1][0].arrive(request.clone());
      }
      net.run(2_000_000);
      assertThat(dropped(net, 1, DropReason.LANE_LIMIT)).isEqualTo(3_000 - (Grants.LANES_MAX - 1));
      assertThat(send(net, pair.from, pair.to, 500)).isEqualTo(500);
    }
  }

  /** Frames behind one that never comes would keep more buffers than were promised. */
  @Test
  void keepsNoFrameOutOfOrderBeyondThePeersCredit() {
    Pair pair = pair();
    try (TestNet net = pair.net) {
      int granted = net.nodes.get(1).core.peers[0].grantedFrames;
      assertThat(granted).isBetween(8, 40);
      byte[] data = latest(fromZero, FrameHeader.DATA);
      MemorySegment m = MemorySegment.ofArray(data);
      int next = FrameHeader.seq(m, 0) + 1;
      int free = net.pools.get(1).available();
      for (int ahead = 1; ahead < 64; ahead++) {
        FrameHeader.seqAck(m, 0, next + ahead, FrameHeader.ack(m, 0));
        arrives(net, 1, data);
      }
      assertThat(dropped(net, 1, DropReason.NO_CREDIT)).isEqualTo(63 - granted);
      assertThat(free - net.pools.get(1).available()).isLessThanOrEqualTo(granted + 2);
      FrameHeader.seqAck(m, 0, next, FrameHeader.ack(m, 0));
      byte[] inTurn = data.clone();
      FrameHeader.endpointsLengthBeyond(m, 0, 99, ENDPOINT, 16, 0);
      FrameHeader.seqAck(m, 0, next + 63, FrameHeader.ack(m, 0));
      long before = dropped(net, 1, DropReason.NO_CREDIT);
      arrives(net, 1, data);
      assertThat(dropped(net, 1, DropReason.NO_CREDIT)).as("no channel").isEqualTo(before + 1);
      assertThat(net.nodes.get(1).peerState(0)).isEqualTo(PeerState.UP);
      arrives(net, 1, inTurn);
      assertThat(dropped(net, 1, DropReason.NO_CREDIT))
          .as("none is left for the one that was missing")
          .isEqualTo(before + 2);
      assertThat(net.nodes.get(1).peerState(0)).isNotEqualTo(PeerState.UP);
      assertThat(net.pools.get(1).available()).isGreaterThanOrEqualTo(free - 2);
    }
  }

  /** What a restarted or forged node 1 asks for ends nothing while node 1 is as it was. */
  @Test
  void anOpenOfAnotherIncarnationEndsNoLiveSession() {
    Pair pair = pair();
    try (TestNet net = pair.net) {
      byte[] open = like(fromOne, FrameHeader.ACK_KIND, Sessions.OPEN_BYTES);
      MemorySegment m = MemorySegment.ofArray(open);
      FrameHeader.kindSrc(m, 0, FrameHeader.OPEN, 1);
      FrameHeader.endpointsLengthBeyond(m, 0, 0, 0, Sessions.OPEN_BYTES, 0);
      for (int incarnation = 100; incarnation < 105; incarnation++) {
        FrameHeader.payloadLong(m, 0, 0, incarnation);
        FrameHeader.payloadInt(m, 0, 20, 64);
        arrives(net, 0, open);
      }
      for (int node = 0; node < 2; node++) {
        assertThat(net.nodes.get(node).counters().get(Counter.SESSIONS_OPENED)).isEqualTo(1);
        assertThat(net.nodes.get(node).counters().get(Counter.PEERS_DOWN)).isZero();
      }
      assertThat(send(net, pair.from, pair.to, 100)).isEqualTo(100);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "ack beyond what was sent, 1, 1, 0, 0",
    "highest beyond what was sent, 0, 100, 8, 0",
    "highest before ack, 0, -1, 0, 0",
    "highest half the numbers before ack, 0, -2147483648, 0, 0",
    "bitmap too short, -64, 0, 0, 0",
    "bitmap longer than the payload, 0, 0, 16, 0",
    "bitmap not in words, 0, 0, 4, 0",
    "credits longer than the payload, 0, 0, 0, 2"
  })
  void refusesAcknowledgementsThatContradictThemselves(
      String what, int ackOff, int highestOff, int bitmapBytes, int credits) {
    Pair pair = pair();
    try (TestNet net = pair.net) {
      net.run(1_000_000);
      byte[] ack = like(fromOne, FrameHeader.ACK_KIND, 24);
      MemorySegment m = MemorySegment.ofArray(ack);
      int next = 0xFFFF_FFF0 + 20;
      FrameHeader.seqAck(m, 0, 0, next + ackOff);
      FrameHeader.endpointsLengthBeyond(m, 0, 0, 0, 24, 0);
      FrameHeader.payloadInt(m, 0, 0, next + highestOff);
      FrameHeader.payloadInt(m, 0, 12, bitmapBytes << 16 | credits);
      arrives(net, 0, ack);
      assertThat(dropped(net, 0, DropReason.MALFORMED)).as(what).isEqualTo(1);
      assertThat(send(net, pair.from, pair.to, 100)).isEqualTo(100);
    }
  }

  @ParameterizedTest
  @CsvSource({"2, 0, 0", "-1, 0, 0", "0, 1000, 0", "1, 1000, 0"})
  void refusesForeignProbeReplies(int path, int indexBeyondNext, long sentNs) {
    Pair pair = pair();
    try (TestNet net = pair.net) {
      long replies = net.nodes.get(0).counters().get(Counter.PROBE_REPLIES);
      arrives(net, 0, probeReply(path, indexBeyondNext, sentNs));
      assertThat(dropped(net, 0, DropReason.MALFORMED)).isEqualTo(1);
      assertThat(net.nodes.get(0).counters().get(Counter.PROBE_REPLIES)).isEqualTo(replies);
    }
  }

  /** Times echoed by a hostile peer must not switch off the watch over lost frames. */
  @ParameterizedTest
  @ValueSource(longs = {0, Long.MIN_VALUE, Long.MAX_VALUE, -1, 1, 200_000_000})
  void forgedRoundTripsDoNotDelayResends(long sentNs) {
    Pair pair = pair();
    try (TestNet net = pair.net) {
      long replies = net.nodes.get(0).counters().get(Counter.PROBE_REPLIES);
      for (int path = 0; path < 2; path++) {
        byte[] reply = probeReply(path, 0, sentNs);
        for (int i = 0; i < 50; i++) {
          net.ports[0][path].arrive(reply.clone());
        }
      }
      net.run(1_000_000);
      assertThat(net.nodes.get(0).counters().get(Counter.PROBE_REPLIES)).isEqualTo(replies + 100);
      net.loss = 0.3;
      long before = net.nowNs;
      assertThat(send(net, pair.from, pair.to, 50)).isEqualTo(50);
      assertThat(net.nowNs - before).as("ns to deliver through loss").isLessThan(100_000_000L);
    }
  }

  @ParameterizedTest
  @CsvSource({"0, 0, 0", "7, 0, 0", "8, 0, 1", "12, 3, 0", "12, 100, 97", "12, -1, -1"})
  void refusesFragmentsThatLeaveTheirMessage(int length, int messageLength, int offset) {
    Pair pair = pair();
    try (TestNet net = pair.net) {
      byte[] data = like(fromZero, FrameHeader.DATA, 16);
      MemorySegment m = MemorySegment.ofArray(data);
      FrameHeader.flagsDst(m, 0, FrameHeader.FLAG_FRAGMENT, 1);
      FrameHeader.seqAck(m, 0, 0xFFFF_FFF0 + 20, FrameHeader.ack(m, 0));
      FrameHeader.endpointsLengthBeyond(m, 0, ENDPOINT, ENDPOINT, length, 0);
      FrameHeader.payloadInt(m, 0, 0, messageLength);
      FrameHeader.payloadInt(m, 0, 4, offset);
      arrives(net, 1, data);
      assertThat(dropped(net, 1, DropReason.MALFORMED)).isEqualTo(1);
      assertThat(send(net, pair.from, pair.to, 100)).isEqualTo(100);
    }
  }

  /**
   * Node 0 has sent all before {@code ack}; the last bit of each bitmap names one that it has not.
   */
  @ParameterizedTest
  @CsvSource({"0, 1, 1", "0, 32768, 1", "-3, 2, 0", "-3, 3, 0", "-3, 4, 1", "-19, 65535, 0"})
  void refusesNumbersBehindAGapThatWereNeverSent(int behind, int beyond, int refused) {
    Pair pair = pair();
    try (TestNet net = pair.net) {
      assertThat(send(net, pair.to, 0, pair.from, 1)).as("that it has credit").isEqualTo(1);
      net.run(1_000_000);
      byte[] data = like(fromOne, FrameHeader.ACK_KIND, 8);
      MemorySegment m = MemorySegment.ofArray(data);
      FrameHeader.kindSrc(m, 0, FrameHeader.DATA, 1);
      FrameHeader.flagsDst(m, 0, FrameHeader.FLAG_BEYOND, 0);
      FrameHeader.seqAck(m, 0, 0xFFFF_FFF0 + 2, 0xFFFF_FFF0 + 20 + behind);
      FrameHeader.endpointsLengthBeyond(m, 0, ENDPOINT, ENDPOINT, 8, beyond);
      arrives(net, 0, data);
      assertThat(dropped(net, 0, DropReason.MALFORMED)).isEqualTo(refused);
      assertThat(net.nodes.get(0).counters().get(Counter.OUT_OF_ORDER)).isEqualTo(1 - refused);
      assertThat(net.nodes.get(0).peerState(1)).isEqualTo(PeerState.UP);
    }
  }

  /** A table that says something else than what is there; the last is a fragment besides. */
  @ParameterizedTest
  @CsvSource({
    "0, 0, 0, 0",
    "1, 1, 0, 0",
    "16, 0, 8, 0",
    "16, 7, 8, 0",
    "16, 8, 0, 0",
    "16, 65535, 0, 0",
    "16, 1, 16, 0",
    "16, 1, 4, 0",
    "16, 1, 12, 1"
  })
  void refusesTablesThatDoNotMatchTheirMessages(int length, int messages, int first, int fragment) {
    Pair pair = pair();
    try (TestNet net = pair.net) {
      byte[] data = like(fromZero, FrameHeader.DATA, 20);
      MemorySegment m = MemorySegment.ofArray(data);
      FrameHeader.flagsDst(m, 0, FrameHeader.FLAG_COALESCED | fragment, 1);
      FrameHeader.seqAck(m, 0, 0xFFFF_FFF0 + 20, FrameHeader.ack(m, 0));
      FrameHeader.endpointsLengthBeyond(m, 0, ENDPOINT, ENDPOINT, length, 0);
      if (length >= 16) {
        FrameHeader.payloadInt(m, 0, length - 4, first << 16 | messages);
      }
      arrives(net, 1, data);
      assertThat(dropped(net, 1, DropReason.MALFORMED)).isEqualTo(1);
      assertThat(send(net, pair.from, pair.to, 100)).isEqualTo(100);
    }
  }

  @Test
  void aNewerMinorInteroperatesAndAnotherMajorIsCounted() {
    Pair pair = pair();
    try (TestNet net = pair.net) {
      byte[] data = like(fromZero, FrameHeader.DATA, 40);
      MemorySegment m = MemorySegment.ofArray(data);
      // A later minor version: flag bits that are unknown here, and padding behind the frame.
      FrameHeader.flagsDst(m, 0, 0xA0, 1);
      FrameHeader.seqAck(m, 0, 0xFFFF_FFF0 + 20, FrameHeader.ack(m, 0));
      data[FrameHeader.VERSION_AT] = (byte) (FrameHeader.VERSION + 5);
      arrives(net, 1, data);
      int[] got = {0};
      pair.to.poll(message -> got[0]++, 10);
      assertThat(got[0]).isEqualTo(1);
      assertThat(dropped(net, 1, DropReason.MAJOR_VERSION)).isZero();

      byte[] unknown = data.clone();
      FrameHeader.kindSrc(MemorySegment.ofArray(unknown), 0, 200, 0);
      arrives(net, 1, unknown);
      assertThat(dropped(net, 1, DropReason.UNKNOWN_KIND)).isEqualTo(1);

      for (int major = 0; major < 16; major++) {
        byte[] other = data.clone();
        other[FrameHeader.VERSION_AT] = (byte) (major << 4);
        ReceiverFuzzTest.repair(other);
        net.ports[1][0].arrive(other);
      }
      net.run(100_000);
      assertThat(dropped(net, 1, DropReason.MAJOR_VERSION)).isEqualTo(15);
      assertThat(net.nodes.get(1).peerState(0)).isEqualTo(PeerState.UP);
    }
  }

  @Test
  void refusesAWindowWhoseAcknowledgementFitsNoFrame() {
    NodeConfig wide = NodeConfig.defaults(1, 1, 128).withWindow(32_768);
    assertThatThrownBy(() -> new TestNet(2, 1, 1, 600, wide))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("windowFrames 32768")
        .hasMessageContaining("smaller window");
  }

  /** PROTOCOL.md 2.4: what else the acknowledgement says counts. */
  @Test
  void aLimitTooFarAheadIsNotTakenAndTheRestOfItsFrameIs() {
    Pair pair = pair();
    try (TestNet net = pair.net) {
      net.run(1_000_000);
      net.loss = 1;
      SendBuffer b = pair.from.claim(1, 16);
      long ticket = pair.from.send(b);
      net.run(200_000);
      assertThat(pair.from.acknowledged(1)).isEqualTo(ticket - 1);
      byte[] ack = like(fromOne, FrameHeader.ACK_KIND, 24);
      MemorySegment m = MemorySegment.ofArray(ack);
      int next = net.nodes.get(0).core.peers[1].window.next();
      int limit = net.nodes.get(0).core.peers[1].outLanes[0].limit;
      FrameHeader.seqAck(m, 0, 0, next);
      FrameHeader.endpointsLengthBeyond(m, 0, 0, 0, 24, 0);
      FrameHeader.payloadInt(m, 0, 0, next);
      FrameHeader.payloadInt(m, 0, 12, 1);
      FrameHeader.payloadInt(m, 0, 16, ENDPOINT << 16 | ENDPOINT);
      FrameHeader.payloadInt(m, 0, 20, limit + 40_000);
      long before = dropped(net, 0, DropReason.MALFORMED);
      arrives(net, 0, ack);
      assertThat(dropped(net, 0, DropReason.MALFORMED)).isEqualTo(before + 1);
      assertThat(net.nodes.get(0).core.peers[1].outLanes[0].limit).isEqualTo(limit);
      assertThat(pair.from.acknowledged(1)).isEqualTo(ticket);
    }
  }

  /** Who opens many channels must not make this node write more than a frame holds. */
  @Test
  void anAcknowledgementTellsOfABoundedNumberOfChannels() {
    int rails = 4;
    NodeConfig config = NodeConfig.defaults(0x1234, 1, 1_500).withWindow(64);
    try (TestNet net = new TestNet(2, rails, 3, 2_000, config)) {
      net.wireTap =
          bytes -> {
            int src = FrameHeader.src(MemorySegment.ofArray(bytes), 0);
            (src == 0 ? fromZero : fromOne).add(bytes.clone());
          };
      PmEndpoint from = net.nodes.get(0).open(ENDPOINT);
      assertThat(send(net, from, net.nodes.get(1).open(ENDPOINT), 20)).isEqualTo(20);
      byte[] request = latest(fromZero, FrameHeader.CREDIT_REQUEST);
      fromOne.clear();
      for (int endpoint = 1; endpoint <= 128; endpoint++) {
        FrameHeader.endpointsLengthBeyond(
            MemorySegment.ofArray(request), 0, 10_000 + endpoint, ENDPOINT, 0, 0);
        ReceiverFuzzTest.repair(request);
        net.ports[1][endpoint % rails].arrive(request.clone());
      }
      net.run(2_000_000);
      Set<Integer> told = new HashSet<>();
      for (byte[] frame : fromOne) {
        MemorySegment m = MemorySegment.ofArray(frame);
        int credits = FrameHeader.payloadInt(m, 0, 12) & 0xFFFF;
        assertThat(frame[FrameHeader.KIND_SRC]).isEqualTo((byte) FrameHeader.ACK_KIND);
        assertThat(FrameHeader.length(m, 0)).isLessThanOrEqualTo(Acknowledger.bytesMax(64));
        for (int i = 0; i < credits; i++) {
          told.add(FrameHeader.payloadInt(m, 0, 16 + 8 * i) >>> 16);
        }
      }
      Set<Integer> granted = new HashSet<>();
      for (InLane l = net.nodes.get(1).core.peers[0].lanes; l != null; l = l.next) {
        if (l.granted() > 0 && l.endpoints() >>> 16 != ENDPOINT) {
          granted.add(l.endpoints() >>> 16);
        }
      }
      assertThat(granted).hasSizeGreaterThan(64);
      assertThat(told).as("the next ones tell of the others").containsAll(granted);
    }
  }

  @Test
  void nobodySpeaksInTheNameOfTheNodeItself() {
    Pair pair = pair();
    try (TestNet net = pair.net) {
      byte[] data = latest(fromZero, FrameHeader.DATA);
      FrameHeader.kindSrc(MemorySegment.ofArray(data), 0, FrameHeader.DATA, 1);
      long before = dropped(net, 1, DropReason.UNKNOWN_NODE);
      arrives(net, 1, data);
      assertThat(dropped(net, 1, DropReason.UNKNOWN_NODE)).isEqualTo(before + 1);
    }
  }

  /** A frame to a line has no session: the incarnation says of which life its sender is. */
  @Test
  void aFrameToALineCountsOfThePresentLifeAlone() {
    Pair pair = pair();
    try (TestNet net = pair.net) {
      List<Long> heard = new ArrayList<>();
      CollectiveFrames collectives = net.nodes.get(1).collectives();
      collectives.handler(
          new CollectiveHandler() {
            @Override
            public void onCollective(int from, boolean line, long word0, long word1, long word2) {
              heard.add(word0);
            }

            @Override
            public void onPeerDown(int node, DownReason reason) {}

            @Override
            public int doWork(long nowNs) {
              return 0;
            }

            @Override
            public long nextDeadlineNs(long nowNs) {
              return Long.MAX_VALUE;
            }
          });
      byte[] frame = like(fromZero, FrameHeader.DATA, CollectiveFrames.LINE_BYTES);
      MemorySegment m = MemorySegment.ofArray(frame);
      long incarnation = net.nodes.get(1).core.peers[0].peerIncarnation;
      FrameHeader.kindSrc(m, 0, FrameHeader.COLLECTIVE, 0);
      FrameHeader.flagsDst(m, 0, 0, FrameHeader.EVERY_NODE);
      FrameHeader.endpointsLengthBeyond(m, 0, 0, 0, CollectiveFrames.LINE_BYTES, 0);
      FrameHeader.payloadLong(m, 0, 0, 17);
      FrameHeader.payloadLong(m, 0, CollectiveFrames.WORDS_BYTES, incarnation);
      arrives(net, 1, frame);
      assertThat(heard).containsExactly(17L);
      FrameHeader.payloadLong(m, 0, CollectiveFrames.WORDS_BYTES, incarnation + 1);
      arrives(net, 1, frame);
      assertThat(dropped(net, 1, DropReason.NO_SESSION)).isEqualTo(1);
      FrameHeader.payloadLong(m, 0, CollectiveFrames.WORDS_BYTES, incarnation);
      FrameHeader.endpointsLengthBeyond(m, 0, 0, 0, CollectiveFrames.WORDS_BYTES, 0);
      long before = dropped(net, 1, DropReason.MALFORMED);
      arrives(net, 1, frame);
      assertThat(dropped(net, 1, DropReason.MALFORMED)).isEqualTo(before + 1);
      assertThat(heard).hasSize(1);
    }
  }

  /** Whoever does not know the session's number cannot end it. */
  @Test
  void aResetOfAnotherSessionEndsNone() {
    Pair pair = pair();
    try (TestNet net = pair.net) {
      int session = net.nodes.get(1).core.peers[0].session;
      byte[] reset = like(fromZero, FrameHeader.DATA, 0);
      MemorySegment m = MemorySegment.ofArray(reset);
      FrameHeader.kindSrc(m, 0, FrameHeader.RESET, 0);
      FrameHeader.flagsDst(m, 0, 0, 1);
      FrameHeader.endpointsLengthBeyond(m, 0, 0, 0, 0, 0);
      for (int other : new int[] {0, session + 1, ~session}) {
        FrameHeader.keySession(m, 0, 0x1234, other);
        arrives(net, 1, reset);
        assertThat(net.nodes.get(1).peerState(0)).isEqualTo(PeerState.UP);
      }
      FrameHeader.keySession(m, 0, 0x1234, session);
      arrives(net, 1, reset);
      assertThat(net.nodes.get(1).peerState(0)).isNotEqualTo(PeerState.UP);
    }
  }

  /** PROTOCOL.md 4.1: a session is opened with who echoes nonce and incarnation, nobody else. */
  @Test
  void anAnswerToAnotherOpeningOpensNothing() {
    try (TestNet net = new TestNet(2, 1, 3, 600, config())) {
      net.wireTap = bytes -> fromZero.add(bytes.clone());
      net.loss = 1;
      net.nodes.get(0).connect(1);
      net.run(100_000);
      byte[] reply = like(fromZero, FrameHeader.OPEN, Sessions.REPLY_BYTES);
      MemorySegment m = MemorySegment.ofArray(reply);
      long incarnation = FrameHeader.payloadLong(m, 0, 0);
      long nonce = FrameHeader.payloadLong(m, 0, 8);
      FrameHeader.kindSrc(m, 0, FrameHeader.OPEN_REPLY, 1);
      FrameHeader.flagsDst(m, 0, 0, 0);
      FrameHeader.endpointsLengthBeyond(m, 0, 0, 0, Sessions.REPLY_BYTES, 0);
      FrameHeader.payloadLong(m, 0, 24, nonce + 1);
      FrameHeader.payloadLong(m, 0, 32, incarnation);
      arrives(net, 0, reply);
      assertThat(net.nodes.get(0).peerState(1)).isEqualTo(PeerState.OPENING);
      FrameHeader.payloadLong(m, 0, 24, nonce);
      FrameHeader.payloadLong(m, 0, 32, incarnation + 1);
      arrives(net, 0, reply);
      assertThat(net.nodes.get(0).peerState(1)).isEqualTo(PeerState.OPENING);
      FrameHeader.payloadLong(m, 0, 32, incarnation);
      arrives(net, 0, reply);
      assertThat(net.nodes.get(0).peerState(1)).isEqualTo(PeerState.UP);
    }
  }

  /** Else two nodes that do not know each other's session would answer each other's answers. */
  @Test
  void framesOfNoSessionAreAnsweredOnceInAWhile() {
    Pair pair = pair();
    try (TestNet net = pair.net) {
      byte[] data = latest(fromZero, FrameHeader.DATA);
      int session = net.nodes.get(1).core.peers[0].session;
      FrameHeader.keySession(MemorySegment.ofArray(data), 0, 0x1234, session + 1);
      fromOne.clear();
      for (int i = 0; i < 50; i++) {
        arrives(net, 1, data);
      }
      assertThat(dropped(net, 1, DropReason.NO_SESSION)).isEqualTo(50);
      assertThat(fromOne.stream().filter(f -> f[FrameHeader.KIND_SRC] == FrameHeader.RESET))
          .as("by each of two ways once")
          .hasSize(2);
    }
  }

  /** What a word of the bitmap says beyond the highest number would be another frame's slot. */
  @Test
  void bitsBeyondTheHighestNumberSettleNothing() {
    Pair pair = pair();
    try (TestNet net = pair.net) {
      net.run(1_000_000);
      net.loss = 1;
      SendBuffer b = pair.from.claim(1, 16);
      long ticket = pair.from.send(b);
      net.run(200_000);
      byte[] ack = like(fromOne, FrameHeader.ACK_KIND, 24);
      MemorySegment m = MemorySegment.ofArray(ack);
      int first = net.nodes.get(0).core.peers[1].window.unacknowledged();
      FrameHeader.seqAck(m, 0, 0, first);
      FrameHeader.endpointsLengthBeyond(m, 0, 0, 0, 24, 0);
      FrameHeader.payloadInt(m, 0, 0, first);
      FrameHeader.payloadInt(m, 0, 12, Long.BYTES << 16);
      FrameHeader.payloadLong(m, 0, 16, ~1L);
      arrives(net, 0, ack);
      assertThat(pair.from.acknowledged(1)).isEqualTo(ticket - 1);
      net.loss = 0;
      net.run(20_000_000);
      assertThat(pair.to.poll(message -> {}, 16)).isEqualTo(1);
      assertThat(pair.from.acknowledged(1)).isEqualTo(ticket);
    }
  }

  /** One credit is what nearly all acknowledgements have: they are read in a short way. */
  @Test
  void aCreditWithoutRoomForItIsNotRead() {
    Pair pair = pair();
    try (TestNet net = pair.net) {
      net.run(1_000_000);
      byte[] ack = like(fromOne, FrameHeader.ACK_KIND, 24);
      MemorySegment m = MemorySegment.ofArray(ack);
      int limit = net.nodes.get(0).core.peers[1].outLanes[0].limit;
      FrameHeader.seqAck(m, 0, 0, 0xFFFF_FFF0 + 20);
      FrameHeader.endpointsLengthBeyond(m, 0, 0, 0, 16, 0);
      FrameHeader.payloadInt(m, 0, 0, 0xFFFF_FFF0 + 20);
      FrameHeader.payloadInt(m, 0, 12, 1);
      FrameHeader.payloadInt(m, 0, 16, ENDPOINT << 16 | ENDPOINT);
      FrameHeader.payloadInt(m, 0, 20, limit + 100);
      arrives(net, 0, ack);
      assertThat(dropped(net, 0, DropReason.MALFORMED)).isEqualTo(1);
      assertThat(net.nodes.get(0).core.peers[1].outLanes[0].limit).isEqualTo(limit);
    }
  }

  /** Else a peer that says so would keep dead rails in use. */
  @Test
  void noPeersPollGapIsLongerThanASecond() {
    assertThat(Acknowledger.pollGapNs(5)).isEqualTo(5_000);
    assertThat(Acknowledger.pollGapNs(Integer.MAX_VALUE)).isEqualTo(1_000_000_000);
    assertThat(Acknowledger.pollGapNs(-1)).isZero();
  }
}
