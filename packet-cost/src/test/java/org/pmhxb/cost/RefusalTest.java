package org.pmhxb.cost;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.pmhxb.ffi.Hxb;
import org.pmhxb.pm.Counter;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * Steps that good frames do not show: each check of a frame (PROTOCOL.md sections 2.4, 2.5 and
 * 5.4), and that a sent one is held. Whoever left one out would be measured without its cost.
 */
class RefusalTest {
  private static final int RESERVED_PATH_BITS = 1 << 20;
  private static final int NO_ORDER = 7 << 29;

  /** Writes over one field of a frame on its way. */
  private interface Damage {
    void to(MemorySegment frames, long at);
  }

  /** What is wrong with a frame of which all else is right. */
  enum Wrong {
    ETHER_TYPE(Path.RECEIVE, (f, at) -> flip(f, at, FrameHeader.ETHER + 1)),
    MAJOR_VERSION(
        Path.RECEIVE,
        (f, at) -> {
          flip(f, at, FrameHeader.VERSION_AT, 0x30);
          rightHopCheck(f, at);
        }),
    HOP_CHECK(Path.RECEIVE, (f, at) -> flip(f, at, FrameHeader.HOP_CHECK)),
    LENGTH(Path.RECEIVE, (f, at) -> flip(f, at, FrameHeader.LENGTH + 1)),
    CRC(Path.RECEIVE, (f, at) -> flip(f, at, FrameHeader.CRC), false),
    PAYLOAD(Path.RECEIVE, (f, at) -> flip(f, at, FrameHeader.BYTES + 63), false),
    KEY(Path.RECEIVE, (f, at) -> flip(f, at, FrameHeader.KEY)),
    SOURCE(Path.RECEIVE, (f, at) -> FrameHeader.kindSrc(f, at, FrameHeader.DATA, 900)),
    SESSION(Path.RECEIVE, (f, at) -> flip(f, at, FrameHeader.SESSION)),
    KIND(Path.RECEIVE, (f, at) -> FrameHeader.kindSrc(f, at, 99, 1)),
    DESTINATION(Path.RECEIVE, (f, at) -> FrameHeader.flagsDst(f, at, 0, 1)),
    EVERY_NODE(Path.RECEIVE, (f, at) -> FrameHeader.flagsDst(f, at, 0, FrameHeader.EVERY_NODE)),
    FRAGMENT(
        Path.RECEIVE,
        (f, at) -> {
          FrameHeader.flagsDst(f, at, FrameHeader.FLAG_FRAGMENT, 0);
          FrameHeader.payloadLong(f, at, 0, 8L << 32 | 100);
        }),
    COALESCED(Path.RECEIVE, (f, at) -> FrameHeader.flagsDst(f, at, FrameHeader.FLAG_COALESCED, 0)),
    ACK_OF_NOTHING(Path.RECEIVE, (f, at) -> flip(f, at, FrameHeader.ACK + 3)),
    DUPLICATE(Path.RECEIVE, (f, at) -> FrameHeader.seqAck(f, at, FarPeers.FIRST_SEQ, 0)),
    OUT_OF_WINDOW(Path.RECEIVE, (f, at) -> add(f, at, FrameHeader.SEQ, Lab.WINDOW_FRAMES)),
    WITHOUT_CREDIT(
        Path.RECEIVE,
        (f, at) -> {
          add(f, at, FrameHeader.SEQ, 1);
          flip(f, at, FrameHeader.SRC_ENDPOINT + 1);
        }),

    BITMAP_IN_PART(Path.ACK, (f, at) -> FrameHeader.payloadInt(f, at, 12, 4 << 16)),
    CREDITS_BEYOND_ITS_END(Path.ACK, (f, at) -> FrameHeader.payloadInt(f, at, 12, 2)),
    HIGHEST_NOT_SENT(
        Path.ACK,
        (f, at) -> {
          FrameHeader.payloadInt(f, at, 12, 8 << 16);
          add(f, at, FrameHeader.BYTES, 1);
        }),
    HIGHEST_BELOW_ACK(Path.ACK, (f, at) -> add(f, at, FrameHeader.BYTES, -1)),
    BITMAP_TOO_SHORT(Path.ACK, (f, at) -> add(f, at, FrameHeader.ACK, -1)),
    ACK_NOT_SENT(
        Path.ACK,
        (f, at) -> {
          add(f, at, FrameHeader.ACK, 1);
          add(f, at, FrameHeader.BYTES, 1);
        }),

    LAST_HOP(Path.RELAY, (f, at) -> FrameHeader.hop(f, at, 1, 0, 0)),
    RAIL(Path.RELAY, (f, at) -> FrameHeader.hop(f, at, 2, 0, 1 << 8)),
    EGRESS(Path.RELAY, (f, at) -> FrameHeader.hop(f, at, 2, 0, 2 << 4)),
    RESERVED(Path.RELAY, (f, at) -> FrameHeader.hop(f, at, 2, 0, RESERVED_PATH_BITS)),
    ORDER(Path.RELAY, (f, at) -> FrameHeader.hop(f, at, 2, 0, NO_ORDER)),
    TRANSIT_KEY(Path.RELAY, (f, at) -> flip(f, at, FrameHeader.KEY)),
    NO_SUCH_DESTINATION(Path.RELAY, (f, at) -> FrameHeader.flagsDst(f, at, 0, 4)),
    NO_SUCH_SOURCE(Path.RELAY, (f, at) -> FrameHeader.kindSrc(f, at, FrameHeader.DATA, 4)),
    ON_THE_WAY_BACK(Path.RELAY, (f, at) -> FrameHeader.flagsDst(f, at, 0, RelayLoop.SRC));

    private final Path path;
    private final Damage damage;
    private final boolean crcFollows;

    Wrong(Path path, Damage damage) {
      this(path, damage, true);
    }

    Wrong(Path path, Damage damage, boolean crcFollows) {
      this.path = path;
      this.damage = damage;
      this.crcFollows = crcFollows;
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Path.class,
      names = {"RECEIVE", "ACK", "RELAY"})
  void bothRefuseTheSame(Path path) {
    try (Bench bench = Bench.open(new Scenario(path, 1, 2, 1))) {
      bench.verify(1);
      for (Wrong wrong : Wrong.values()) {
        if (wrong.path == path) {
          refuses(bench.java(), wrong);
          refuses(bench.twin(), wrong);
        }
      }
      assertThat(bench.twin().subject.counters()).isEqualTo(bench.java().subject.counters());
    }
  }

  private static void refuses(PacketLoop loop, Wrong wrong) {
    Map<String, Long> expected = loop.subject.counters();
    PacketLoop source =
        wrong.path == Path.RELAY
            ? new RelayLoop(loop.lab, loop.subject, 1, loop.nowNs, 2, Scenario.BUDGET_PAYLOAD_BYTES)
            : loop;
    source.prepare();
    MemorySegment frames = loop.lab.frames;
    long at = loop.lab.pool.frameAt(Burst.id(loop.lab.burst.get(0)));
    wrong.damage.to(frames, at);
    if (wrong.crcFollows) {
      FrameHeader.crc(frames, at, loop.lab.crc.of(at, FrameHeader.length(frames, at)));
    }
    loop.subject.cycle(loop.nowNs);

    Map<String, Long> counters = loop.subject.counters();
    assertThat(counters.get(Subject.TROUBLE)).as("%s: %s", loop.subject, wrong).isZero();
    expected.merge(Subject.DROPPED, 1L, Long::sum);
    for (Counter same : List.of(Counter.DATA_DELIVERED, Counter.RELAYED, Counter.OUT_OF_ORDER)) {
      assertThat(counters.get(same.name()))
          .as("%s: %s", loop.subject, wrong)
          .isEqualTo(expected.get(same.name()));
    }
    assertThat(counters.get(Subject.DROPPED))
        .as("%s: %s", loop.subject, wrong)
        .isEqualTo(expected.get(Subject.DROPPED));
  }

  /** By the node, beside the port, until it is acknowledged. */
  @Test
  void bothHoldWhatTheySend() {
    try (Bench bench = Bench.open(new Scenario(Path.SEND, 1, 1, 1))) {
      for (PacketLoop loop : List.of(bench.java(), bench.twin())) {
        loop.work();
        assertThat(loop.lab.fromNode(0)).isEqualTo(1);
        long sent = loop.lab.burst.get(0);
        assertThat(Hxb.poolRefcnt(loop.lab.pool.handle(), Burst.id(sent)))
            .as(loop.subject.toString())
            .isEqualTo(2);
        loop.lab.release(sent);
      }
    }
  }

  private static void flip(MemorySegment frames, long at, int place) {
    flip(frames, at, place, 1);
  }

  private static void flip(MemorySegment frames, long at, int place, int bits) {
    byte was = frames.get(ValueLayout.JAVA_BYTE, at + place);
    frames.set(ValueLayout.JAVA_BYTE, at + place, (byte) (was ^ bits));
  }

  private static void add(MemorySegment frames, long at, int place, int more) {
    int was = FrameHeader.payloadInt(frames, at, place - FrameHeader.BYTES);
    FrameHeader.payloadInt(frames, at, place - FrameHeader.BYTES, was + more);
  }

  private static void rightHopCheck(MemorySegment frames, long at) {
    int check = FrameHeader.hopCheck(frames, at);
    frames.set(ValueLayout.JAVA_BYTE, at + FrameHeader.HOP_CHECK, (byte) (check >> 8));
    frames.set(ValueLayout.JAVA_BYTE, at + FrameHeader.HOP_CHECK + 1, (byte) check);
  }
}
