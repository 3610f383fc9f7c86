package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.pmhxb.pm.wire.FrameCrc;
import org.pmhxb.pm.wire.FrameHeader;

/** The short way of acknowledgements does what {@link Acknowledger#read} does, to the bit. */
@Tag("without-assertions")
class UsualAcksTest {
  private static final int MESSAGES = 3_000;
  private static final int ROUNDS = 60_000;
  private static final int DUPLICATES_AT = 4;

  /** What a run left behind: every frame on the wire, and what both nodes counted. */
  private record Trace(
      int delivered,
      long tickets,
      int frames,
      Map<String, Long> sender,
      Map<String, Long> receiver) {}

  private static NodeConfig config() {
    return NodeConfig.defaults(0x1234, 1, 128).withWindow(64).withFirstSeq(0xFFFF_FFF0L);
  }

  @ParameterizedTest
  @CsvSource({"1,0,0,0", "2,0.02,0.02,0", "3,0.02,0,30000", "4,0,0.05,30000"})
  void readAsAnyOtherIs(long seed, double loss, double duplication, long jitterNs) {
    Trace shortWay = run(seed, loss, duplication, jitterNs, false);
    Trace longWay = run(seed, loss, duplication, jitterNs, true);
    assertThat(shortWay.delivered()).isEqualTo(MESSAGES);
    assertThat(shortWay.sender().get("acks-received")).isGreaterThan(100L);
    assertThat(shortWay).isEqualTo(longWay);
  }

  private static Trace run(
      long seed, double loss, double duplication, long jitterNs, boolean longWay) {
    int[] frames = {0};
    int[] delivered = {0};
    try (TestNet net = new TestNet(2, 2, seed, 512, config())) {
      net.loss = loss;
      net.duplication = duplication;
      net.jitterNs = jitterNs;
      net.wireTap = bytes -> frames[0] = 31 * frames[0] + Arrays.hashCode(bytes);
      PmNode node = net.nodes.get(0);
      FrameCrc crc = new FrameCrc(net.pools.get(0).memory());
      node.tap(
          (rail, id, memory, at, bytes) -> {
            if (longWay) {
              makeUnusual(node, crc, memory, at);
            }
          });
      PmEndpoint from = node.open(7);
      from.coalesceUpTo(-1);
      PmEndpoint to = net.nodes.get(1).open(7);
      int sent = 0;
      for (int round = 0; round < ROUNDS && delivered[0] < MESSAGES; round++) {
        sent += send(from, sent, Math.min(3, MESSAGES - sent));
        net.step();
        to.poll(message -> delivered[0]++, 64);
      }
      net.run(10_000_000L);
      return new Trace(
          delivered[0],
          from.acknowledged(1),
          frames[0],
          node.counters().snapshot(),
          net.nodes.get(1).counters().snapshot());
    }
  }

  private static int send(PmEndpoint from, int first, int most) {
    int sent = 0;
    for (; sent < most; sent++) {
      SendBuffer buffer = from.claim(1, 8);
      if (buffer == null) {
        break;
      }
      // All of it: what the buffer held before is part of the other run's difference.
      buffer.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, buffer.offset(), first + sent);
      from.send(buffer);
    }
    return sent;
  }

  /** It counts one duplicate less than is known: old news, which changes nothing. */
  private static void makeUnusual(PmNode node, FrameCrc crc, MemorySegment memory, long at) {
    if (FrameHeader.kind(memory, at) != FrameHeader.ACK_KIND) {
      return;
    }
    int reported = node.core.peer(FrameHeader.src(memory, at)).duplicatesReported;
    int length = FrameHeader.length(memory, at);
    if (FrameHeader.payloadInt(memory, at, DUPLICATES_AT) == reported
        && FrameHeader.crc(memory, at) == crc.of(at, length)) {
      FrameHeader.payloadInt(memory, at, DUPLICATES_AT, reported - 1);
      FrameHeader.crc(memory, at, crc.of(at, length));
    }
  }
}
