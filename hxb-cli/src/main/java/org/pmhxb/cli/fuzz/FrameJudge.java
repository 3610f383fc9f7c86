package org.pmhxb.cli.fuzz;

import static org.pmhxb.cli.fuzz.FrameBytes.get16;
import static org.pmhxb.cli.fuzz.FrameBytes.get24;
import static org.pmhxb.cli.fuzz.FrameBytes.get32;
import static org.pmhxb.cli.fuzz.FrameBytes.get8;

import java.lang.foreign.MemorySegment;
import org.pmhxb.pm.DropReason;
import org.pmhxb.pm.wire.FrameTag;
import org.pmhxb.router.Coordinates;
import org.pmhxb.router.RailLayout;
import org.pmhxb.router.Shape;

/**
 * What PROTOCOL.md section 2.4 says of a frame, steps 1 to 11: an implementation of its own, as
 * plain as the page, for the fuzzer to compare the node with. Stateless but for the sessions, which
 * the caller names.
 */
final class FrameJudge {
  /** What must become of a frame. */
  enum Fate {
    /** Dropped, counted by {@link Verdict#reason}, nothing changed and nothing sent. */
    DROPPED,
    /** Dropped and counted; answered with a RESET at a limited rate. */
    NO_SESSION,
    /** Forwarded in place. */
    RELAYED,
    /** Ignored: a RESET of a session that is not up. */
    IGNORED,
    /** Right up to here: discovery or a session judges it, and may change its state. */
    STATEFUL
  }

  /** The reason of {@link Fate#DROPPED}, else null. */
  record Verdict(Fate fate, DropReason reason) {}

  private static final Verdict RELAYED = new Verdict(Fate.RELAYED, null);
  private static final Verdict IGNORED = new Verdict(Fate.IGNORED, null);
  private static final Verdict STATEFUL = new Verdict(Fate.STATEFUL, null);
  private static final Verdict NO_SESSION = new Verdict(Fate.NO_SESSION, DropReason.NO_SESSION);
  private static final int EVERY_NODE = 0xFF_FFFF;
  private static final int DISCOVER = 9;
  private static final int COLLECTIVE = 12;
  private static final int[][] ORDERS = {
    {0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}
  };

  private final Shape shape;
  private final RailLayout layout;
  private final int self;
  private final int key;
  private final FrameTag tag;
  private final boolean replay;

  /**
   * @param tag of the cluster's frame key, or null
   * @param replay whether a tag counts once: what was seen the judge does not know
   */
  FrameJudge(Shape shape, RailLayout layout, int self, int key, FrameTag tag, boolean replay) {
    this.shape = shape;
    this.layout = layout;
    this.self = self;
    this.key = key;
    this.tag = tag;
    this.replay = replay;
  }

  private static Verdict dropped(DropReason reason) {
    return new Verdict(Fate.DROPPED, reason);
  }

  /** The source that a frame names, or -1 where it has none in the shape but this node. */
  int source(byte[] frame) {
    int src = frame.length < 64 ? -1 : get24(frame, 29);
    return src < shape.nodes() && src != self ? src : -1;
  }

  /**
   * @param rail that it comes in on
   * @param sessions by node number: the one that is up, or 0
   * @param candidates by node number: whether a handshake may have left a candidate, whose number
   *     the fuzzer does not know
   */
  Verdict judge(byte[] frame, int rail, int[] sessions, boolean[] candidates) {
    if (frame.length < 64) {
      return dropped(DropReason.TOO_SHORT);
    }
    if (get16(frame, 12) != 0x88B5) {
      return dropped(DropReason.NOT_OURS);
    }
    if (get8(frame, 14) >>> 4 != 1) {
      return isBroadcast(frame) ? STATEFUL : dropped(DropReason.MAJOR_VERSION);
    }
    if (get16(frame, 18) != FrameBytes.hopCheck(frame)) {
      return dropped(DropReason.HOP_CHECK);
    }
    if (!FrameBytes.isWhole(frame)) {
      return dropped(DropReason.TOO_SHORT);
    }
    if (tag != null && !isTagged(frame)) {
      return dropped(DropReason.TAG);
    }
    int dst = get24(frame, 33);
    if (dst == EVERY_NODE) {
      int kind = get8(frame, 28);
      if (kind != DISCOVER && kind != COLLECTIVE) {
        return dropped(DropReason.UNKNOWN_KIND);
      }
      if (!crcHolds(frame)) {
        return dropped(DropReason.CRC);
      }
      if (hasForeignTag(frame)) {
        return dropped(DropReason.TAG);
      }
      return kind == COLLECTIVE && !replay ? collectiveToLine(frame) : STATEFUL;
    }
    if (dst != self) {
      return transit(frame, rail, dst);
    }
    if (!crcHolds(frame)) {
      return dropped(DropReason.CRC);
    }
    if (get32(frame, 36) != key) {
      return dropped(DropReason.KEY);
    }
    if (hasForeignTag(frame)) {
      return dropped(DropReason.TAG);
    }
    int src = get24(frame, 29);
    if (src >= shape.nodes() || src == self) {
      return dropped(DropReason.UNKNOWN_NODE);
    }
    if (replay) {
      return STATEFUL;
    }
    return ofPeer(frame, src, sessions[src], candidates[src]);
  }

  /** Section 3.1; whether its session is up the incarnation decides, which the judge has not. */
  private Verdict collectiveToLine(byte[] frame) {
    if (get32(frame, 36) != key) {
      return dropped(DropReason.KEY);
    }
    if (source(frame) < 0) {
      return dropped(DropReason.UNKNOWN_NODE);
    }
    return get16(frame, 60) < 32 ? dropped(DropReason.MALFORMED) : STATEFUL;
  }

  private boolean isTagged(byte[] frame) {
    int length = get16(frame, 60);
    return (get8(frame, 32) & 4) != 0
        && 64 + length + 16 <= frame.length
        && tag.holds(MemorySegment.ofArray(frame), 0, length);
  }

  private boolean hasForeignTag(byte[] frame) {
    return tag == null && (get8(frame, 32) & 4) != 0;
  }

  private static boolean isBroadcast(byte[] frame) {
    return get24(frame, 0) == EVERY_NODE && get24(frame, 3) == EVERY_NODE;
  }

  private static boolean crcHolds(byte[] frame) {
    return get32(frame, 24) == FrameBytes.crc(frame);
  }

  private Verdict ofPeer(byte[] frame, int src, int up, boolean candidate) {
    int kind = get8(frame, 28);
    int length = get16(frame, 60);
    int session = get32(frame, 40);
    if (kind == 3 || kind == 4) {
      boolean complete = length >= (kind == 3 ? 24 : 40);
      boolean direction = kind == 3 || src > self;
      return complete && direction && windowIsRight(frame)
          ? STATEFUL
          : dropped(DropReason.MALFORMED);
    }
    if (kind == 6) {
      return session != 0 && session == up ? STATEFUL : IGNORED;
    }
    if (session != 0 && (session == up || candidate)) {
      return STATEFUL;
    }
    return NO_SESSION;
  }

  private static boolean windowIsRight(byte[] frame) {
    int window = get32(frame, 64 + 20);
    return window >= 4 && window <= 32_768 && Integer.bitCount(window) == 1;
  }

  private Verdict transit(byte[] frame, int rail, int dst) {
    if (get32(frame, 36) != key) {
      return dropped(DropReason.KEY);
    }
    int src = get24(frame, 29);
    if (dst >= shape.nodes() || src >= shape.nodes()) {
      return dropped(DropReason.UNKNOWN_NODE);
    }
    int path = get32(frame, 20);
    Coordinates from = shape.coordinates(src);
    Coordinates to = shape.coordinates(dst);
    if (path >>> 29 >= ORDERS.length || (path & 0x1FFF_F000) != 0) {
      return dropped(DropReason.MALFORMED);
    }
    for (int d = 0; d < 3; d++) {
      if (from.get(d) == to.get(d) && index(path, d) != 0) {
        return dropped(DropReason.MALFORMED);
      }
    }
    if (!isPlace(path, rail, from, to)) {
      return dropped(DropReason.NO_ROUTE);
    }
    return get8(frame, 15) < 2 ? dropped(DropReason.HOP_LIMIT) : RELAYED;
  }

  private static int index(int path, int dimension) {
    return path >>> 8 - 4 * dimension & 0xF;
  }

  /** Walks the path from its source: does it turn here, coming in on this rail? */
  private boolean isPlace(int path, int rail, Coordinates from, Coordinates to) {
    int[] at = {from.x(), from.y(), from.z()};
    Coordinates own = shape.coordinates(self);
    int cameBy = -1;
    for (int d : ORDERS[path >>> 29]) {
      if (at[d] == to.get(d)) {
        continue;
      }
      if (cameBy >= 0 && own.equals(new Coordinates(at[0], at[1], at[2]))) {
        return index(path, cameBy) < layout.perDimension()
            && index(path, d) < layout.perDimension()
            && rail == layout.rail(cameBy, index(path, cameBy));
      }
      at[d] = to.get(d);
      cameBy = d;
    }
    return false;
  }
}
