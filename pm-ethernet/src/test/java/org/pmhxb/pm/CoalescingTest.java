package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.wire.FrameHeader;

/** Small messages in one frame (PROTOCOL.md section 7.1). */
class CoalescingTest {
  private static final int A = 7;
  private static final int LONGEST = 900;
  private static final int SHORT = 127;
  private static final String FAULT = "a handler's own fault";

  private static NodeConfig config() {
    return NodeConfig.defaults(0x1234, 1, 128).withWindow(64).withFirstSeq(0xFFFF_FFF0L);
  }

  /** A stream over one channel: message i has a length and bytes that follow from i. */
  private static final class Stream {
    final PmEndpoint from;
    final PmEndpoint to;
    final int channel;
    int sent;
    int received;
    int aborted;
    long lastTicket;

    Stream(PmEndpoint from, PmEndpoint to, int channel) {
      this.from = from;
      this.to = to;
      this.channel = channel;
    }

    int length(int i) {
      int mixed = (i * 0x9E37_79B9 ^ channel) >>> 8;
      return switch (mixed & 7) {
        case 0 -> mixed >>> 3 & 7;
        case 1 -> 300 + (mixed >>> 3 & 511);
        default -> mixed >>> 3 & 127;
      };
    }

    private byte at(int i, int b) {
      return (byte) (i * 31 + b * 7 + channel);
    }

    boolean isMessage(int i, MemorySegment memory, long offset, int lengthBytes) {
      boolean same = lengthBytes == length(i);
      for (int b = 0; same && b < lengthBytes; b++) {
        same = memory.get(ValueLayout.JAVA_BYTE, offset + b) == at(i, b);
      }
      return same;
    }

    private final List<SendBuffer> claims = new ArrayList<>();

    /**
     * Several claims at a time, long and short, sent in another order than claimed, some aborted.
     * Some are left for a later round, whose frames then go without them.
     */
    void send(SplittableRandom random, int until) {
      for (int wanted = random.nextInt(12); wanted > 0; wanted--) {
        claim(random.nextInt(3) == 0 ? LONGEST : SHORT);
        while (claims.size() > 4 || !claims.isEmpty() && random.nextBoolean()) {
          sendOrAbort(claims.remove(random.nextInt(claims.size())), random, until);
        }
      }
      while (sent == until && !claims.isEmpty()) {
        sendOrAbort(claims.removeFirst(), random, until);
      }
    }

    private void claim(int lengthBytes) {
      SendBuffer buffer = from.claim(1, to.number(), lengthBytes);
      if (buffer != null) {
        claims.add(buffer);
      }
    }

    private void sendOrAbort(SendBuffer buffer, SplittableRandom random, int until) {
      if (sent == until || length(sent) > buffer.lengthBytes() || random.nextInt(10) == 0) {
        buffer.abort();
        aborted++;
      } else {
        send(buffer);
      }
    }

    private void send(SendBuffer buffer) {
      buffer.truncate(length(sent));
      for (int b = 0; b < buffer.lengthBytes(); b++) {
        buffer.memory().set(ValueLayout.JAVA_BYTE, buffer.offset() + b, at(sent, b));
      }
      sent++;
      lastTicket = from.send(buffer);
    }
  }

  /** Four channels: two endpoints each side; and what their receivers saw. */
  private static final class Traffic {
    final Stream[] streams = new Stream[4];
    final PmEndpoint[] receivers = new PmEndpoint[2];
    final SplittableRandom random;
    final List<String> wrong = new ArrayList<>();
    final List<Loan> loans = new ArrayList<>();

    Traffic(TestNet net, SplittableRandom random) {
      this.random = random;
      for (int to = 0; to < 2; to++) {
        receivers[to] = net.nodes.get(1).open(A + to);
      }
      for (int from = 0; from < 2; from++) {
        PmEndpoint sender = net.nodes.get(0).open(A + from);
        for (int to = 0; to < 2; to++) {
          streams[2 * from + to] = new Stream(sender, receivers[to], 2 * from + to);
        }
      }
    }

    boolean complete(int each) {
      boolean all = true;
      for (Stream stream : streams) {
        all &= stream.received == each;
      }
      return all;
    }

    void round(int until) {
      for (Stream stream : streams) {
        if (random.nextInt(3) > 0) {
          stream.send(random, until);
        }
      }
      for (PmEndpoint to : receivers) {
        poll(to);
      }
      while (loans.size() > 20) {
        loans.remove(random.nextInt(loans.size())).close();
      }
    }

    /** Any limit, and handlers that defer, throw, and keep messages. */
    private void poll(PmEndpoint to) {
      try {
        to.poll(m -> onMessage(to, m), 1 + random.nextInt(40));
      } catch (IllegalStateException e) {
        assertThat(e).hasMessage(FAULT);
      }
    }

    private void onMessage(PmEndpoint to, Message m) {
      if (random.nextInt(20) == 0) {
        m.defer();
        return;
      }
      Stream stream = streams[2 * (m.sourceEndpoint() - A) + to.number() - A];
      int number = stream.received++;
      if (!stream.isMessage(number, m.memory(), m.offset(), m.lengthBytes())) {
        wrong.add("channel " + stream.channel + " got something else than message " + number);
      }
      if (random.nextInt(10) == 0) {
        keep(stream, number, m);
      }
      if (random.nextInt(50) == 0) {
        throw new IllegalStateException(FAULT);
      }
    }

    private void keep(Stream stream, int number, Message m) {
      Loan loan = m.retain();
      if (loan == null) {
        return;
      }
      if (m.isCoalesced() && !loan.isCopy()) {
        wrong.add("a shared buffer went on loan");
      }
      if (!stream.isMessage(number, loan.memory(), loan.offset(), loan.lengthBytes())) {
        wrong.add("loan of message " + number + " differs");
      }
      loans.add(loan);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "1, 1, 0, 0, true",
    "2, 2, 0.05, 0.05, true",
    "3, 3, 0.3, 0.1, true",
    "4, 2, 0.1, 0, false",
    "5, 3, 0.2, 0.2, false"
  })
  void exactlyOnceInOrderIntact(
      long seed, int rails, double loss, double duplication, boolean inline) {
    int each = 2_000;
    try (TestNet net = new TestNet(2, rails, seed, 1_500, config(), inline)) {
      net.loss = loss;
      net.duplication = duplication;
      net.jitterNs = 20_000;
      Traffic traffic = new Traffic(net, new SplittableRandom(seed * 7_919));
      for (int round = 0; round < 300_000 && !traffic.complete(each); round++) {
        traffic.round(each);
        net.step();
      }
      traffic.loans.forEach(Loan::close);
      assertThat(traffic.wrong).as("seed %d", seed).isEmpty();
      net.loss = 0;
      net.run(300_000_000L);
      for (Stream stream : traffic.streams) {
        assertThat(stream.received).isEqualTo(each);
        assertThat(stream.aborted).isPositive();
        assertThat(stream.lastTicket).isEqualTo(each);
        assertThat(stream.from.acknowledged(1, stream.to.number())).isEqualTo(each);
      }
      NodeCounters counters = net.nodes.get(0).counters();
      assertThat(counters.get(Counter.MESSAGES_COALESCED)).isPositive();
      assertThat(counters.get(Counter.DATA_SENT)).isLessThan(4L * each);
      assertThat(net.nodes.get(0).inFlight()).isZero();
      assertThat(net.pools.get(0).ownedBy(Owner.WINDOW)).isZero();
      assertThat(net.pools.get(1).ownedBy(Owner.INBOX)).isZero();
    }
  }

  private record Pair(TestNet net, PmEndpoint from, PmEndpoint to) {}

  /** Two nodes with a session and credit. */
  private static Pair pair() {
    TestNet net = new TestNet(2, 1, 3, 600, config());
    Pair pair = new Pair(net, net.nodes.get(0).open(A), net.nodes.get(1).open(A));
    for (int i = 0; i < 10_000 && !send(pair.from, 8); i++) {
      net.step();
    }
    net.run(1_000_000);
    assertThat(pair.to.poll(m -> {}, 10)).isEqualTo(1);
    net.run(1_000_000);
    return pair;
  }

  private static boolean send(PmEndpoint from, int length) {
    SendBuffer buffer = from.claim(1, length);
    if (buffer == null) {
      return false;
    }
    from.send(buffer);
    return true;
  }

  private static long sentBy(Pair pair) {
    return pair.net.nodes.get(0).counters().get(Counter.DATA_SENT);
  }

  /** What is sent between two rounds shares frames, and takes one credit each. */
  @Test
  void moreMessagesThanCreditFitIntoOneRound() {
    Pair pair = pair();
    try (TestNet net = pair.net) {
      long before = sentBy(pair);
      for (int i = 0; i < 400; i++) {
        assertThat(send(pair.from, 8)).as("message %d", i).isTrue();
      }
      net.run(1_000_000);
      // 8 bytes and a place in the table: 102 in a payload of 1,024 bytes.
      assertThat(sentBy(pair) - before).isEqualTo(4);
      int[] got = {0};
      assertThat(pair.to.poll(m -> got[0] += m.isCoalesced() ? 1 : 0, 150)).isEqualTo(150);
      assertThat(pair.to.poll(m -> got[0] += m.isCoalesced() ? 1 : 0, 1_000)).isEqualTo(250);
      assertThat(got[0]).isEqualTo(400);
    }
  }

  /** One message alone travels as an ordinary frame, at once. */
  @Test
  void aMessageNeverWaitsForCompany() {
    Pair pair = pair();
    try (TestNet net = pair.net) {
      List<byte[]> data = new ArrayList<>();
      net.wireTap =
          bytes -> {
            if (bytes[FrameHeader.KIND_SRC] == FrameHeader.DATA) {
              data.add(bytes);
            }
          };
      assertThat(send(pair.from, 8)).isTrue();
      net.step();
      assertThat(data).hasSize(1);
      MemorySegment frame = MemorySegment.ofArray(data.getFirst());
      assertThat(FrameHeader.flags(frame, 0) & FrameHeader.FLAG_COALESCED).isZero();
      assertThat(FrameHeader.length(frame, 0)).isEqualTo(8);
    }
  }

  /** Nor while the rail has always more frames of other peers than leave with a burst. */
  @Test
  void aSmallMessageHasItsTurnBesideOtherPeersBulk() {
    int peers = 16;
    NodeConfig config = NodeConfig.defaults(0x1234, 1, 1_024).withWindow(64);
    List<PmEndpoint> receivers = new ArrayList<>();
    try (TestNet net = new TestNet(peers + 1, 1, 1, 4_096, config)) {
      net.bytesPerNs[0] = 0.125;
      PmEndpoint bulk = net.nodes.get(0).open(1);
      bulk.coalesceUpTo(-1);
      PmEndpoint small = net.nodes.get(0).open(2);
      for (int n = 1; n <= peers; n++) {
        receivers.add(net.nodes.get(n).open(1));
      }
      int got = 0;
      long mostNs = 0;
      long askedNs = 0;
      int asked = 0;
      for (long until = net.nowNs + 60_000_000L; net.nowNs < until; ) {
        for (int n = 1; n < peers; n++) {
          SendBuffer b;
          while ((b = bulk.claim(n, 1, 1_000)) != null) {
            bulk.send(b);
          }
        }
        if (got == asked) {
          SendBuffer b = small.claim(peers, 1, 8);
          if (b != null) {
            small.send(b);
            asked++;
            askedNs = net.nowNs;
          }
        }
        net.step();
        for (int n = 0; n < peers - 1; n++) {
          receivers.get(n).poll(m -> {}, 256);
        }
        got += receivers.getLast().poll(m -> {}, 256);
        if (asked > 1) { // the first waits for the session
          mostNs = Math.max(mostNs, net.nowNs - askedNs);
        }
      }
      assertThat(got).isGreaterThan(5);
      assertThat(mostNs).isLessThan(10_000_000L);
      small.close();
      bulk.close();
      receivers.forEach(PmEndpoint::close);
    }
  }

  /** Nothing may overtake within a channel: a long message closes the frame before it. */
  @ParameterizedTest
  @ValueSource(ints = {257, 900})
  void longMessagesAndFragmentsKeepTheirPlace(int length) {
    Pair pair = pair();
    try (TestNet net = pair.net) {
      int[] lengths = {8, 9, length, 10, 11, length, 0};
      for (int each : lengths) {
        assertThat(send(pair.from, each)).isTrue();
      }
      MemorySegment large = MemorySegment.ofArray(new byte[3_000]);
      pair.from.sendLarge(1, A, large, 0, 3_000, work -> {});
      assertThat(send(pair.from, 12)).isTrue();
      net.run(1_000_000);
      List<Long> got = new ArrayList<>();
      pair.to.poll(m -> got.add(m.messageLengthBytes()), 100);
      long frag = 3_000;
      long big = length;
      assertThat(got).containsExactly(8L, 9L, big, 10L, 11L, big, 0L, frag, frag, frag, 12L);
    }
  }

  @Test
  void canBeTurnedOffAndIsBounded() {
    Pair pair = pair();
    try (TestNet net = pair.net) {
      long before = sentBy(pair);
      pair.from.coalesceUpTo(-1);
      for (int i = 0; i < 20; i++) {
        assertThat(send(pair.from, 8)).isTrue();
      }
      net.run(1_000_000);
      assertThat(sentBy(pair) - before).isEqualTo(20);
      assertThat(net.nodes.get(0).counters().get(Counter.MESSAGES_COALESCED)).isZero();
      assertThatThrownBy(() -> pair.from.coalesceUpTo(PmEndpoint.COALESCE_BYTES_MAX + 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("2049")
          .hasMessageContaining("2048");
    }
  }

  /** Messages whose session ends while they wait are counted one by one, and their lane goes on. */
  @Test
  void waitingMessagesAreOfUnknownFateWhenTheSessionEnds() {
    Pair pair = pair();
    try (TestNet net = pair.net) {
      for (int i = 0; i < 30; i++) {
        assertThat(send(pair.from, 8)).isTrue();
      }
      net.nodes.get(1).close();
      net.nodes.set(1, null);
      net.run(100_000_000L);
      NodeCounters counters = net.nodes.get(0).counters();
      assertThat(counters.get(Counter.FATE_UNKNOWN)).isEqualTo(30);
      net.pools.get(1).close();
      net.start(1, 2, config(), 99);
      PmEndpoint again = net.nodes.get(1).open(A);
      long[] ticket = {0};
      for (int i = 0; i < 10_000 && ticket[0] == 0; i++) {
        SendBuffer buffer = pair.from.claim(1, 8);
        ticket[0] = buffer == null ? 0 : pair.from.send(buffer);
        net.step();
      }
      net.run(10_000_000L);
      assertThat(again.poll(m -> {}, 10)).isEqualTo(1);
      net.run(10_000_000L);
      assertThat(pair.from.acknowledged(1)).isEqualTo(ticket[0]).isEqualTo(32);
    }
  }

  private static void fill(SendBuffer buffer, int value) {
    buffer.memory().asSlice(buffer.offset(), buffer.lengthBytes()).fill((byte) value);
  }

  /** Messages received so far, each of which must be of one value throughout. */
  private static List<Integer> values(Pair pair) {
    List<Integer> values = new ArrayList<>();
    pair.to.poll(
        m -> {
          byte[] bytes =
              m.memory().asSlice(m.offset(), m.lengthBytes()).toArray(ValueLayout.JAVA_BYTE);
          for (byte b : bytes) {
            assertThat(b).isEqualTo(bytes[0]);
          }
          values.add((int) bytes[0]);
        },
        100);
    return values;
  }

  private static void sendFilled(Pair pair, int value) {
    SendBuffer buffer = pair.from.claim(1, 61);
    fill(buffer, value);
    pair.from.send(buffer);
  }

  private static int claimed(Pair pair) {
    return pair.net.pools.get(0).ownedBy(pair.from.claimOwner);
  }

  /**
   * What waits is not held up by a claim that is being written behind it, nor is the claim lost.
   */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 9})
  void aFrameGoesWithoutAClaimThatIsNotSentYet(int before) {
    Pair pair = pair();
    try (TestNet net = pair.net) {
      for (int i = 0; i < before; i++) {
        sendFilled(pair, i);
      }
      SendBuffer late = pair.from.claim(1, 61);
      assertThat(pair.net.pools.get(0).owner(late.bufferId()) & 0xFF00_0000)
          .as("it lies in a frame that waits")
          .isEqualTo(Owner.WINDOW);
      long at = late.offset();
      fill(late, 100);
      net.run(1_000_000);
      assertThat(values(pair)).hasSize(before);
      assertThat(late.offset()).isEqualTo(at);
      fill(late, 101);
      pair.from.send(late);
      net.run(1_000_000);
      assertThat(values(pair)).containsExactly(101);
      assertThat(net.nodes.get(0).inFlight()).isZero();
    }
  }

  /** The order is that of the sends, whichever was claimed first. */
  @Test
  void aLaterClaimMayBeSentFirst() {
    Pair pair = pair();
    try (TestNet net = pair.net) {
      sendFilled(pair, 1);
      SendBuffer first = pair.from.claim(1, 61);
      fill(first, 4);
      sendFilled(pair, 2);
      sendFilled(pair, 3);
      pair.from.send(first);
      sendFilled(pair, 5);
      net.run(1_000_000);
      assertThat(values(pair)).containsExactly(1, 2, 3, 4, 5);
    }
  }

  /** An aborted claim leaves no gap, and what it took is there again. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anAbortedClaimLeavesTheFrameAsItWas(boolean frameGoesFirst) {
    Pair pair = pair();
    try (TestNet net = pair.net) {
      for (int i = 0; i < 500; i++) {
        sendFilled(pair, i % 100);
        SendBuffer buffer = pair.from.claim(1, 200);
        fill(buffer, 127);
        if (frameGoesFirst) {
          net.run(100_000);
        }
        buffer.abort();
        assertThat(claimed(pair)).isLessThanOrEqualTo(1);
        sendFilled(pair, 100);
        net.run(1_000_000);
        assertThat(values(pair)).containsExactly(i % 100, 100);
      }
    }
  }

  /** A claim whose frame's session ends is of that session: its message is not sent. */
  @Test
  void aClaimInAFrameOfAnEndedSessionIsRefused() {
    Pair pair = pair();
    try (TestNet net = pair.net) {
      net.nodes.get(1).close();
      net.nodes.set(1, null);
      int sent = 0;
      SendBuffer buffer = null;
      // In one of these rounds the peer's RESET comes before the frame goes.
      while (net.nodes.get(0).peerState(1) == PeerState.UP) {
        if (buffer != null) {
          buffer.abort();
        }
        sendFilled(pair, 1);
        sent++;
        buffer = pair.from.claim(1, 61);
        net.step();
      }
      assertThat(sent).isPositive();
      assertThat(net.pools.get(0).owner(buffer.bufferId())).isEqualTo(pair.from.claimOwner);
      fill(buffer, 2);
      pair.from.send(buffer);
      net.run(1_000_000);
      assertThat(net.nodes.get(0).counters().get(Counter.FATE_UNKNOWN)).isEqualTo(sent + 1);
      assertThat(net.pools.get(0).ownedBy(Owner.WINDOW)).isZero();
      assertThat(claimed(pair)).isLessThanOrEqualTo(1);
    }
  }

  /** An endpoint that closes leaves its claims behind, and what it sent still goes. */
  @Test
  void aFrameOutlivesTheEndpointWithItsClaim() {
    Pair pair = pair();
    try (TestNet net = pair.net) {
      sendFilled(pair, 1);
      fill(pair.from.claim(1, 61), 2);
      pair.from.close();
      net.run(1_000_000);
      assertThat(values(pair)).containsExactly(1);
      assertThat(claimed(pair)).isZero();
      assertThat(net.nodes.get(0).inFlight()).isZero();
    }
  }
}
