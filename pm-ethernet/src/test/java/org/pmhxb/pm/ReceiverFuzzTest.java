package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * Arbitrary frames between good traffic: no input from the wire may crash a node or damage another.
 * Nodes 0 and 1 exchange checked messages. Node 2 has sessions with both, and its identity is what
 * the hostile frames borrow: with CRC and hop check repaired they reach every check that stands
 * behind these. What node 2 itself suffers is its own; nodes 0 and 1 must neither throw, nor lose a
 * buffer, nor deliver a message between them twice, late or changed.
 */
class ReceiverFuzzTest {
  private static final int ENDPOINT = 7;
  private static final int KEY = 0x1234;
  private static final int FRAMES = 60_000;
  private static final int[] HOSTILE_INTS = {
    0,
    1,
    -1,
    2,
    3,
    7,
    8,
    63,
    64,
    65,
    255,
    256,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x1_0000,
    Integer.MAX_VALUE,
    Integer.MIN_VALUE,
    Integer.MIN_VALUE + 1,
    0x4000_0000,
    0xC000_0000
  };

  /** Drops that show how deep the fuzz went: each must have happened. */
  private static final DropReason[] EXPECTED = {
    DropReason.TOO_SHORT,
    DropReason.NOT_OURS,
    DropReason.MAJOR_VERSION,
    DropReason.HOP_CHECK,
    DropReason.CRC,
    DropReason.KEY,
    DropReason.UNKNOWN_NODE,
    DropReason.UNKNOWN_KIND,
    DropReason.MALFORMED,
    DropReason.NO_ROUTE,
    DropReason.NO_SESSION,
    DropReason.DUPLICATE,
    DropReason.OUT_OF_WINDOW,
    DropReason.NO_CREDIT,
    DropReason.NO_ENDPOINT
  };

  /** The latest frames of node 2 to nodes 0 and 1: most are of its present sessions. */
  private final List<List<byte[]>> fromTwo = List.of(new ArrayList<>(), new ArrayList<>());

  private final List<byte[]> fromOthers = new ArrayList<>();
  private int captured;
  private final long[][] sent = new long[3][3];
  private final long[][] received = new long[3][3];
  private final List<String> wrong = new ArrayList<>();
  private SplittableRandom random;
  private TestNet net;
  private List<PmEndpoint> endpoints;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void survivesArbitraryFramesBetweenGoodTraffic(long seed) {
    random = new SplittableRandom(seed);
    NodeConfig config = NodeConfig.defaults(KEY, 1, 256).withWindow(64).withFirstSeq(0xFFFF_FF80L);
    net = new TestNet(3, 2, seed, 900, config);
    net.wireTap = this::capture;
    endpoints = net.nodes.stream().map(node -> node.open(ENDPOINT)).toList();
    // Every pair has its session and its credit before the first hostile frame.
    for (int i = 0; i < 2_000; i++) {
      round();
    }
    for (int injected = 0; injected < FRAMES; ) {
      for (int burst = random.nextInt(12); burst > 0; burst--) {
        inject(random.nextInt(2));
        injected++;
      }
      round();
    }
    long before = received[0][1] + received[1][0];
    drain();
    assertThat(wrong).as("between nodes 0 and 1, seed %d", seed).isEmpty();
    assertThat(before).as("good messages during the fuzz").isGreaterThan(1_000);
    assertThat(received[0][1]).isEqualTo(sent[0][1]);
    assertThat(received[1][0]).isEqualTo(sent[1][0]);
    for (DropReason reason : EXPECTED) {
      long drops =
          net.nodes.get(0).counters().dropped(reason) + net.nodes.get(1).counters().dropped(reason);
      assertThat(drops).as("%s, seed %d", reason, seed).isPositive();
    }
    net.nodes.forEach(PmNode::close);
    for (int n = 0; n < 3; n++) {
      assertThat(net.pools.get(n).available())
          .as("buffers home at node %d, seed %d", n, seed)
          .isEqualTo(net.pools.get(n).capacity());
    }
    net.close();
  }

  private void round() {
    for (int s = 0; s < 3; s++) {
      for (int d = 0; d < 3; d++) {
        if (s != d) {
          // Several share a frame.
          for (int n = 1 + random.nextInt(3); n > 0; n--) {
            send(s, d);
          }
        }
      }
    }
    net.step();
    poll();
  }

  private void send(int s, int d) {
    SendBuffer b = endpoints.get(s).claim(d, 16);
    if (b != null) {
      long value = ++sent[s][d];
      b.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, b.offset(), value);
      b.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, b.offset() + 8, ~value);
      endpoints.get(s).send(b);
    }
  }

  private void poll() {
    for (int self = 0; self < 3; self++) {
      int d = self;
      endpoints.get(d).poll(new Checker(d), 64);
    }
  }

  private final class Checker implements MessageHandler {
    private final int self;

    Checker(int self) {
      this.self = self;
    }

    @Override
    public void onMessage(Message m) {
      if (m.source() == 2 || self == 2) {
        // A forged message of node 2's session is what its key holder said. It must be readable.
        long bytes = 0;
        for (int i = 0; i < m.lengthBytes(); i++) {
          bytes += m.memory().get(ValueLayout.JAVA_BYTE, m.offset() + i);
        }
        if (m.fragmentOffsetBytes() + m.lengthBytes() > m.messageLengthBytes()) {
          wrong.add("fragment beyond its message, sum " + bytes);
        }
        return;
      }
      long v = m.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, m.offset());
      long w = m.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, m.offset() + 8);
      long expected = ++received[m.source()][self];
      if (v != expected || w != ~v || m.lengthBytes() != 16) {
        wrong.add(m.source() + "->" + self + " got " + v + " not " + expected);
      }
    }

    @Override
    public void onPeerDown(int node, int session) {
      if (node != 2 && self != 2) {
        wrong.add(self + " lost " + node);
      }
    }
  }

  private void drain() {
    for (int i = 0; i < 200_000 && !complete(); i++) {
      net.step();
      poll();
    }
    for (int i = 0; i < 5_000; i++) {
      net.step();
      poll();
    }
  }

  private boolean complete() {
    return received[0][1] == sent[0][1] && received[1][0] == sent[1][0];
  }

  // --- hostile frames -----------------------------------------------------------------------

  private void capture(byte[] frame) {
    int src = at32(frame, FrameHeader.KIND_SRC) & 0xFF_FFFF;
    int dst = at32(frame, FrameHeader.FLAGS_DST) & 0xFF_FFFF;
    if (dst == 2) {
      return;
    }
    List<byte[]> to = src == 2 ? fromTwo.get(dst) : fromOthers;
    if (to.size() < 128) {
      to.add(frame.clone());
    } else {
      to.set(captured++ & 127, frame.clone());
    }
  }

  private void inject(int node) {
    List<byte[]> ofTwo = fromTwo.get(node);
    byte[] frame =
        switch (random.nextInt(12)) {
          case 0 -> randomBytes();
          case 1 -> mutated(pick(fromOthers), false, false);
          case 2 -> random.nextBoolean() ? cut(pick(fromOthers)) : truncated(pick(ofTwo));
          case 3 -> pick(fromOthers).clone();
          case 4 -> hostileOpen(node, pick(ofTwo));
          case 5 -> mutated(pick(ofTwo), true, false);
          case 6, 7 -> forged(pick(ofTwo));
          default -> mutated(pick(ofTwo), true, true);
        };
    net.ports[node][random.nextInt(2)].arrive(frame);
  }

  /** Another kind, with any payload, under the header of a genuine frame. */
  private byte[] forged(byte[] like) {
    byte[] frame = Arrays.copyOf(like, FrameHeader.BYTES + random.nextInt(80));
    for (int i = FrameHeader.BYTES; i + 4 <= frame.length; i += 4) {
      put32(frame, i, hostileInt());
    }
    // CLOSE would end the session each time; it has its turn among the hostile fields.
    int[] kinds = {
      FrameHeader.DATA,
      FrameHeader.ACK_KIND,
      FrameHeader.PROBE,
      FrameHeader.PROBE_REPLY,
      FrameHeader.CREDIT_REQUEST,
      FrameHeader.COLLECTIVE
    };
    frame[FrameHeader.KIND_SRC] = (byte) kinds[random.nextInt(kinds.length)];
    put16(frame, FrameHeader.SRC_ENDPOINT, random.nextInt(65_536));
    put16(frame, FrameHeader.DST_ENDPOINT, random.nextInt(4) == 0 ? 9 : ENDPOINT);
    put32(frame, FrameHeader.SEQ, at32(like, FrameHeader.SEQ) + random.nextInt(4));
    put16(frame, FrameHeader.LENGTH, frame.length - FrameHeader.BYTES);
    repair(frame);
    return frame;
  }

  private byte[] pick(List<byte[]> from) {
    return from.get(random.nextInt(from.size()));
  }

  private byte[] randomBytes() {
    byte[] frame = new byte[random.nextInt(4) == 0 ? random.nextInt(64) : random.nextInt(1_800)];
    random.nextBytes(frame);
    if (frame.length > 14 && random.nextBoolean()) {
      put16(frame, FrameHeader.ETHER, FrameHeader.ETHER_TYPE);
      frame[FrameHeader.VERSION_AT] = FrameHeader.VERSION;
    }
    if (frame.length >= FrameHeader.BYTES && random.nextBoolean()) {
      put16(frame, FrameHeader.LENGTH, random.nextInt(frame.length));
      repair(frame);
    }
    return frame;
  }

  private byte[] cut(byte[] frame) {
    return Arrays.copyOf(frame, random.nextInt(frame.length + 1));
  }

  private byte[] truncated(byte[] frame) {
    byte[] cut = cut(frame);
    if (cut.length >= FrameHeader.BYTES && random.nextBoolean()) {
      put16(cut, FrameHeader.LENGTH, cut.length - FrameHeader.BYTES);
      repair(cut);
    }
    return cut;
  }

  private byte[] mutated(byte[] original, boolean repaired, boolean hostileFields) {
    byte[] frame = original.clone();
    if (hostileFields) {
      hostile(frame);
    } else {
      for (int n = 1 + random.nextInt(3); n > 0; n--) {
        frame[random.nextInt(frame.length)] ^= (byte) (1 << random.nextInt(8));
      }
    }
    if (repaired) {
      // A forged frame of a session of nodes 0 and 1 is beyond what a CRC can tell: not here.
      repair(frame);
    }
    return frame;
  }

  /** Sets one or two fields, of the header or the payload, to values that invite a slip. */
  private void hostile(byte[] frame) {
    for (int n = 1 + random.nextInt(2); n > 0; n--) {
      switch (random.nextInt(16)) {
        case 0 -> put16(frame, FrameHeader.LENGTH, random.nextBoolean() ? 0 : 65_535);
        case 1 -> put16(frame, FrameHeader.LENGTH, random.nextInt(frame.length));
        case 2, 3 -> put32(frame, FrameHeader.SEQ, near(at32(frame, FrameHeader.SEQ)));
        case 4, 5 -> put32(frame, FrameHeader.ACK, near(at32(frame, FrameHeader.ACK)));
        case 6 -> put32(frame, FrameHeader.CREDIT, near(at32(frame, FrameHeader.CREDIT)));
        case 7 -> frame[FrameHeader.FLAGS_DST] = (byte) random.nextInt(256);
        case 8 -> frame[FrameHeader.KIND_SRC] = (byte) random.nextInt(14);
        case 9 -> put16(frame, FrameHeader.SRC_ENDPOINT, random.nextInt(65_536));
        case 10 -> put16(frame, FrameHeader.DST_ENDPOINT, random.nextInt(65_536));
        case 11 -> frame[FrameHeader.FLAGS_DST] |= FrameHeader.FLAG_FRAGMENT;
        case 13 -> frame[FrameHeader.FLAGS_DST] |= FrameHeader.FLAG_COALESCED;
        case 14 -> put16(frame, frame.length - 2 * (1 + random.nextInt(3)), random.nextInt(20));
        case 12 -> put32(frame, random.nextInt(14, frame.length - 4), hostileInt());
        default -> hostilePayload(frame);
      }
    }
  }

  private void hostilePayload(byte[] frame) {
    int words = frame.length - FrameHeader.BYTES >> 2;
    if (words > 0) {
      int at = FrameHeader.BYTES + 4 * random.nextInt(Math.min(words, 12));
      put32(frame, at, random.nextBoolean() ? hostileInt() : near(at32(frame, at)));
    }
  }

  /** An OPEN or OPEN_REPLY in the name of any node, with a hostile incarnation, nonce or window. */
  private byte[] hostileOpen(int node, byte[] like) {
    byte[] frame = new byte[FrameHeader.BYTES + random.nextInt(48)];
    random.nextBytes(frame);
    System.arraycopy(like, 0, frame, 0, FrameHeader.BYTES);
    int kind = random.nextBoolean() ? FrameHeader.OPEN : FrameHeader.OPEN_REPLY;
    put32(frame, FrameHeader.KIND_SRC, kind << 24 | random.nextInt(3));
    put32(frame, FrameHeader.FLAGS_DST, node);
    put16(frame, FrameHeader.LENGTH, frame.length - FrameHeader.BYTES);
    if (frame.length >= FrameHeader.BYTES + 24) {
      put32(frame, FrameHeader.BYTES, 0);
      put32(frame, FrameHeader.BYTES + 4, random.nextInt(6));
      int window = random.nextInt(3) == 0 ? hostileInt() : 1 << random.nextInt(20);
      put32(frame, FrameHeader.BYTES + 20, window);
    }
    repair(frame);
    return frame;
  }

  private int near(int value) {
    return random.nextBoolean() ? value + random.nextInt(-70, 70) : value + hostileInt();
  }

  private int hostileInt() {
    return random.nextInt(4) == 0
        ? random.nextInt()
        : HOSTILE_INTS[random.nextInt(HOSTILE_INTS.length)];
  }

  /** Makes hop check and CRC right for what the frame holds now, as far as its length allows. */
  static void repair(byte[] frame) {
    MemorySegment memory = MemorySegment.ofArray(frame);
    put16(frame, FrameHeader.HOP_CHECK, FrameHeader.hopCheck(memory, 0));
    int length = FrameHeader.length(memory, 0);
    if (FrameHeader.BYTES + length <= frame.length) {
      CRC32C crc = new CRC32C();
      int from = FrameHeader.CRC_FROM;
      crc.update(frame, from, FrameHeader.BYTES + length - from);
      put32(frame, FrameHeader.CRC, (int) crc.getValue());
    }
  }

  private static int at32(byte[] bytes, int at) {
    return (bytes[at] & 0xFF) << 24
        | (bytes[at + 1] & 0xFF) << 16
        | (bytes[at + 2] & 0xFF) << 8
        | bytes[at + 3] & 0xFF;
  }

  private static void put32(byte[] bytes, int at, int value) {
    put16(bytes, at, value >>> 16);
    put16(bytes, at + 2, value);
  }

  private static void put16(byte[] bytes, int at, int value) {
    bytes[at] = (byte) (value >>> 8);
    bytes[at + 1] = (byte) value;
  }
}
