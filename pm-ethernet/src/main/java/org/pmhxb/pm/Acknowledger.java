package org.pmhxb.pm;

import java.lang.foreign.MemorySegment;
import org.pmhxb.bufpool.Memory;
import org.pmhxb.pm.flow.SendWindow;
import org.pmhxb.pm.flow.SequenceArray;
import org.pmhxb.pm.flow.Serial;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * Writes and reads acknowledgements: cumulative point, a bitmap of all that arrived beyond it, and
 * credit (PROTOCOL.md sections 3 and 5.4). Owner: the poll thread.
 *
 * <pre>
 *  0 highest:32  | 4 duplicates:32 | 8 pollGapUs:32 | 12 bitmapBytes:16 | 14 credits:16
 * 16 bitmap: 64-bit words; bit i of word w = sequence ack + 64 w + i has arrived
 *    credits: srcEndpoint:16 | dstEndpoint:16 | limit:32 each
 * </pre>
 */
final class Acknowledger {
  private static final int FIXED_BYTES = 16;
  private static final int CREDIT_BYTES = 8;
  private static final int CREDITS_MAX = 64;

  /** How long an idle node waits for company before it acknowledges what is not urgent. */
  private static final long DELAY_NS = 30_000L;

  /** Farthest that a credit limit can honestly move at once: the largest grant. */
  private static final int GRANT_MAX = 32_768;

  /** What makes a data frame's kind that of an acknowledgement, in {@link Way#ends}. */
  private static final long ACK_FOR_DATA =
      FrameHeader.stored((long) (FrameHeader.ACK_KIND ^ FrameHeader.DATA) << 56);

  // --- the payload's words ------------------------------------------------------------------

  /** {@code highest:32 | duplicates:32}. */
  static long highestAndDuplicates(MemorySegment frames, long at) {
    return FrameHeader.payloadLong(frames, at, 0);
  }

  /** {@code pollGapUs:32 | bitmapBytes:16 | credits:16}. */
  static long gapAndCounts(MemorySegment frames, long at) {
    return FrameHeader.payloadLong(frames, at, 8);
  }

  /** Where there is no bitmap: {@code srcEndpoint:16 | dstEndpoint:16 | limit:32}. */
  static long firstCredit(MemorySegment frames, long at) {
    return FrameHeader.payloadLong(frames, at, FIXED_BYTES);
  }

  /** The peer's worst recent poll gap, 0 to 1 s. */
  static long pollGapNs(int gapUs) {
    return Math.clamp(gapUs, 0, 1_000_000) * 1_000L;
  }

  /** Payload bytes without a bitmap. */
  static int bytes(int credits) {
    return FIXED_BYTES + credits * CREDIT_BYTES;
  }

  /** Payload bytes that {@link #write} fills at most, for a window of so many frames. */
  static int bytesMax(int windowFrames) {
    return FIXED_BYTES + (windowFrames + 63 >> 6) * Long.BYTES + CREDITS_MAX * CREDIT_BYTES;
  }

  private final NodeCore core;
  private final Sender sender;
  private final Paths paths;

  /** Peers with something to acknowledge. */
  private Peer[] due = new Peer[8];

  private int dueCount;

  /** Those of {@link #due} that must not wait for an idle moment. */
  private Peer[] urgent = new Peer[8];

  private int urgentCount;

  Acknowledger(NodeCore core, Sender sender, Paths paths) {
    this.core = core;
    this.sender = sender;
    this.paths = paths;
  }

  /** Something arrived from, or is to be told to, a peer; what is known of it is entered. */
  void note(Peer peer) {
    if (!peer.onAckList) {
      peer.onAckList = true;
      due = withRoom(due, dueCount);
      due[dueCount++] = peer;
    }
    if (!peer.onUrgentList && isUrgent(peer)) {
      peer.onUrgentList = true;
      urgent = withRoom(urgent, urgentCount);
      urgent[urgentCount++] = peer;
    }
    peer.askForNews();
    if (peer.quietNews == 0 && !peer.ackAtOnce) {
      peer.quietNews = quarterWindow(peer);
    }
  }

  private static Peer[] withRoom(Peer[] list, int count) {
    return count < list.length ? list : java.util.Arrays.copyOf(list, count * 2);
  }

  /**
   * Sends the acknowledgements that are due: at once for a new gap, a duplicate or credit worth
   * telling, after a quarter window, and the rest before the poll loop idles (PROTOCOL.md section
   * 5.4): when nothing arrives and the oldest news is 30 us old, so that frames spaced by a slow
   * link share one.
   *
   * @param idle this duty cycle found nothing to receive
   */
  int flush(boolean idle) {
    int sent = urgentCount > 0 ? flushUrgent() : 0;
    return idle && dueCount > 0 ? sent + flushDue() : sent;
  }

  /** Every duty cycle: so it walks only over peers that are in a hurry. */
  private int flushUrgent() {
    int sent = 0;
    int kept = 0;
    if (core.hasManyPeers()) {
      fetchWays();
    }
    for (int i = 0; i < urgentCount; i++) {
      Peer peer = urgent[i];
      if (peer.state == PeerState.UP && isDue(peer, false)) {
        sendAck(peer);
        sent++;
      }
      if (peer.state == PeerState.UP && isUrgent(peer)) {
        urgent[kept++] = peer;
      } else {
        peer.onUrgentList = false;
      }
    }
    java.util.Arrays.fill(urgent, kept, urgentCount, null);
    urgentCount = kept;
    return sent;
  }

  /** As {@code Receiver.fetchSources}: an acknowledgement needs several lines, each by another. */
  private void fetchWays() {
    int sum = 0;
    for (int i = 0; i < urgentCount; i++) {
      Peer peer = urgent[i];
      if (peer.state == PeerState.UP) {
        sum += peer.fetchControlWay();
      }
    }
    core.fetched = sum;
  }

  /** Idle: there is time for all peers that have not been told everything. */
  private int flushDue() {
    int sent = 0;
    int kept = 0;
    for (int i = 0; i < dueCount; i++) {
      Peer peer = due[i];
      if (peer.state != PeerState.UP) {
        takeOffDue(peer);
        continue;
      }
      if (isDue(peer, true)) {
        sendAck(peer);
        sent++;
      }
      if (somethingToSay(peer)) {
        due[kept++] = peer;
      } else {
        takeOffDue(peer);
      }
    }
    java.util.Arrays.fill(due, kept, dueCount, null);
    dueCount = kept;
    return sent;
  }

  private static void takeOffDue(Peer peer) {
    peer.onAckList = false;
    peer.askForNews();
  }

  /** Whether the peer may have to be told something before this node is idle. */
  private static boolean isUrgent(Peer peer) {
    return peer.ackAtOnce || peer.news >= quarterWindow(peer) || hasGap(peer);
  }

  private static boolean hasGap(Peer peer) {
    return peer.highest() != peer.nextInOrder();
  }

  private boolean isDue(Peer peer, boolean idle) {
    if (peer.ackAtOnce || peer.news >= quarterWindow(peer)) {
      return true;
    }
    // Behind a gap a sender waits for evidence: it must not depend on this node being idle.
    boolean gap = hasGap(peer);
    return gap && peer.gapAtOnce || (idle || gap) && aged(peer) && somethingToSay(peer);
  }

  /** A quarter of what the peer may have on its way: of the window, or of its credit if less. */
  private static int quarterWindow(Peer peer) {
    return Math.max(1, Math.min(peer.orderFrames, peer.grantedFrames) >> 2);
  }

  private boolean aged(Peer peer) {
    return peer.news == 0 || core.nowNs - peer.firstNewsNs >= DELAY_NS;
  }

  private boolean somethingToSay(Peer peer) {
    if (peer.news > 0 || peer.ackAtOnce) {
      return true;
    }
    for (InLane lane = peer.lanes; lane != null; lane = lane.next) {
      if (lane.worthTelling()) {
        return true;
      }
    }
    return false;
  }

  /** Whether an idle moment would send something; keeps the poll loop from parking before it. */
  boolean hasNews() {
    return dueCount > 0;
  }

  void sendAck(Peer peer) {
    assert core.isOwner();
    int id = core.controlBuffer();
    if (id == 0) {
      return;
    }
    PathState way = core.controlWay(peer);
    if (way != null && isUsual(peer) ? sendUsual(peer, id, way) : sendOther(peer, id, way)) {
      core.counters.increment(Counter.ACKS_SENT);
    }
  }

  private boolean sendOther(Peer peer, int id, PathState way) {
    int path = way == null ? core.anyPath(peer) : way.path;
    int bytes = write(peer, core.pool.addressOf(id), 0);
    core.sealControl(id, FrameHeader.ACK_KIND, peer, peer.session, bytes);
    return core.sendControl(id, peer, path, bytes);
  }

  /**
   * What there is to say needs no bitmap and one channel's credit at most, and no key is in use.
   */
  private boolean isUsual(Peer peer) {
    return core.tag == null && !hasGap(peer) && (peer.lanes == null || peer.lanes.next == null);
  }

  /**
   * What {@link #write} and its callers do, in the words that the frames of a path share; its CRC
   * is computed when it leaves, beside those of others.
   */
  private boolean sendUsual(Peer peer, int id, PathState way) {
    long at = core.pool.addressOf(id);
    int ack = peer.highest();
    long gapUs = Math.min(core.pollGapNs / 1_000, Integer.MAX_VALUE);
    InLane lane = peer.lanes;
    int credits = lane != null && lane.hasNews() ? 1 : 0;
    long duplicates = peer.duplicates & 0xFFFF_FFFFL;
    FrameHeader.payloadLong(Memory.ALL, at, 0, (long) ack << 32 | duplicates);
    FrameHeader.payloadLong(Memory.ALL, at, 8, gapUs << 32 | credits);
    if (credits != 0) {
      long credit = (long) lane.endpoints() << 32 | lane.advertise() & 0xFFFF_FFFFL;
      FrameHeader.payloadLong(Memory.ALL, at, FIXED_BYTES, credit);
    }
    int bytes = bytes(credits);
    way.leadTo(core.routing.nextHopMac(peer.node, way.path));
    FrameHeader.data(
        Memory.ALL,
        at,
        way.front0,
        way.front1,
        way.front2,
        way.ends ^ ACK_FOR_DATA,
        way.keySession,
        0,
        ack & 0xFFFF_FFFFL,
        0,
        0,
        bytes << 16);
    peer.news = 0;
    peer.ackAtOnce = false;
    peer.gapAtOnce = false;
    peer.gapKnown = false;
    return core.queueControl(id, way.rail, bytes, Burst.SEAL);
  }

  /**
   * Writes the state of a peer's flow at a payload offset; returns its bytes.
   *
   * @param address of the frame, in {@link Memory#ALL}
   */
  int write(Peer peer, long address, int offset) {
    int beyond = peer.highest() - peer.nextInOrder();
    int words = beyond + 63 >> 6;
    int gapUs = (int) Math.min(core.pollGapNs / 1_000, Integer.MAX_VALUE);
    FrameHeader.payloadInt(Memory.ALL, address, offset, peer.highest());
    FrameHeader.payloadInt(Memory.ALL, address, offset + 4, peer.duplicates);
    FrameHeader.payloadInt(Memory.ALL, address, offset + 8, gapUs);
    if (words > 0) {
      writeBitmap(peer, address, offset + FIXED_BYTES, words);
    }
    int position = offset + FIXED_BYTES + (words << 3);
    int credits = 0;
    InLane lane = peer.lanes;
    for (; lane != null && credits < CREDITS_MAX; lane = lane.next) {
      if (lane.hasNews()) {
        int limit = lane.advertise();
        FrameHeader.payloadInt(Memory.ALL, address, position, lane.endpoints());
        FrameHeader.payloadInt(Memory.ALL, address, position + 4, limit);
        position += CREDIT_BYTES;
        credits++;
      }
    }
    if (lane != null) {
      core.beginLanesAt(peer, lane);
    }
    FrameHeader.payloadInt(Memory.ALL, address, offset + 12, words << 3 << 16 | credits);
    peer.news = 0;
    peer.ackAtOnce = false;
    peer.gapAtOnce = false;
    peer.gapKnown = beyond > 0;
    return position - offset;
  }

  /** What has arrived beyond the cumulative point; only behind a gap. */
  private static void writeBitmap(Peer peer, long address, int offset, int words) {
    SequenceArray order = peer.order();
    for (int w = 0; w < words; w++) {
      long bits = 0;
      int base = order.next() + (w << 6);
      int n = Math.min(64, peer.highest() - base);
      for (int i = 0; i < n; i++) {
        if (order.holds(base + i)) {
          bits |= 1L << i;
        }
      }
      FrameHeader.payloadLong(Memory.ALL, address, offset + (w << 3), bits);
    }
  }

  /**
   * Reads what {@link #write} wrote, from an UP peer's frame.
   *
   * @param length payload bytes from {@code offset} on
   * @return false when its fields contradict each other; nothing was changed then
   */
  boolean read(Peer peer, long at, int offset, int length, int ack) {
    MemorySegment frames = core.frames;
    if (length < FIXED_BYTES) {
      return false;
    }
    long gapAndCounts = gapAndCounts(frames, at + offset);
    int counts = (int) gapAndCounts;
    int bitmapBytes = counts >>> 16;
    int credits = counts & 0xFFFF;
    SendWindow window = peer.window;
    long highestAndDuplicates = highestAndDuplicates(frames, at + offset);
    int highest = (int) (highestAndDuplicates >>> 32);
    if ((bitmapBytes & 7) != 0
        || FIXED_BYTES + bitmapBytes + credits * CREDIT_BYTES > length
        || Serial.after(highest, window.next())
        || highest - ack < 0
        || highest - ack > bitmapBytes << 3
        || !sender.acknowledgeUpTo(peer, ack)) {
      return false;
    }
    readBitmap(peer, at, offset + FIXED_BYTES, bitmapBytes >> 3, ack, highest);
    readCredits(peer, at, offset + FIXED_BYTES + bitmapBytes, credits);
    int duplicates = (int) highestAndDuplicates;
    if (Serial.after(duplicates, peer.duplicatesReported)) {
      core.counters.add(Counter.DUPLICATES_REPORTED, duplicates - peer.duplicatesReported);
      peer.duplicatesReported = duplicates;
    }
    peer.peerPollGapNs = pollGapNs((int) (gapAndCounts >>> 32));
    paths.settle(peer);
    // New frames go at the end of the round: see Receiver.readBeside.
    if (!peer.window.nothingLost()) {
      sender.pump(peer);
    }
    return true;
  }

  private void readBitmap(Peer peer, long at, int from, int words, int ack, int highest) {
    SendWindow window = peer.window;
    for (int w = 0; w < words; w++) {
      long bits = FrameHeader.payloadLong(core.frames, at, from + (w << 3));
      while (bits != 0) {
        int seq = ack + (w << 6) + Long.numberOfTrailingZeros(bits);
        bits &= bits - 1;
        // An old acknowledgement may speak of frames that are settled since.
        if (!Serial.before(seq, window.unacknowledged()) && Serial.before(seq, highest)) {
          sender.acknowledgeOne(peer, seq);
        }
      }
    }
  }

  private void readCredits(Peer peer, long at, int from, int credits) {
    for (int i = 0; i < credits; i++) {
      int endpoints = FrameHeader.payloadInt(core.frames, at, from + i * CREDIT_BYTES);
      int limit = FrameHeader.payloadInt(core.frames, at, from + i * CREDIT_BYTES + 4);
      credit(peer, endpoints >>> 16, endpoints & 0xFFFF, limit);
    }
  }

  /** Credit for frames from our {@code srcEndpoint} to the peer's {@code dstEndpoint}. */
  void credit(Peer peer, int srcEndpoint, int dstEndpoint, int limit) {
    for (int i = 0; i < peer.outLaneCount; i++) {
      Lane lane = peer.outLanes[i];
      if (lane.dstEndpoint == dstEndpoint && lane.endpoint.number() == srcEndpoint) {
        if (!takeLimit(lane, limit)) {
          core.counters.drop(DropReason.MALFORMED);
        }
        return;
      }
    }
  }

  /**
   * A limit never moves back; one that arrives late is older. What was consumed lies before the
   * limit that we know, so an honest one is at most a grant ahead of it.
   *
   * @return false when it is not honest
   */
  static boolean takeLimit(Lane lane, int limit) {
    if (!isHonest(lane, limit)) {
      return false;
    }
    if (Serial.after(limit, lane.limit)) {
      lane.takeLimit(limit);
    }
    return true;
  }

  /** Whether {@link #takeLimit} takes it. */
  static boolean isHonest(Lane lane, int limit) {
    return limit - lane.limit <= GRANT_MAX;
  }
}
