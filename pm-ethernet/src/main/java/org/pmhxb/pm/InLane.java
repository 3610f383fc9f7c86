package org.pmhxb.pm;

import org.pmhxb.bufpool.Descriptor;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * The receiving side of one (peer, source endpoint, own endpoint): credit granted and returned
 * (PROTOCOL.md section 6). It outlives sessions, because messages of an ended session may still
 * wait in the inbox and occupy what was granted. One cache line: a frame, its acknowledgement and
 * its credit's way back need all of it. Owner: the poll thread.
 */
final class InLane {
  /** {@link #endpoints()} as they lie in a frame. */
  final int wireEndpoints;

  /**
   * Index in the node's table of receiving lanes, which a message's descriptor carries so that its
   * credit finds the way back; 0: the table had no room.
   */
  final int tag;

  /** The first word of the descriptor of a whole message without flags: the same for all. */
  final long messageWord;

  /** The second word, without buffer and length. */
  final long sourceWord;

  private final boolean own;

  /** Frames that this lane may have outstanding, out of the node's credit budget. */
  private int granted;

  /** Frames that may still arrive: {@link #limit} less those delivered in this session. */
  private int left;

  /**
   * Absolute: the peer may send frames up to this count in this session. It is what the lane was
   * granted and the frames of this session whose handler returned, less what ended sessions left in
   * the inbox: each frame that is consumed, of whichever session, raises it by one.
   */
  private int limit;

  /** The session ended: what was granted goes home once nothing is left in the inbox. */
  private boolean ended;

  /**
   * The own endpoint is closed, so that what arrives is dropped at once, and nothing of the lane
   * waits: others may have the buffers, though the peer may still send what it was granted.
   */
  private boolean resting;

  /** One frame was granted while the own endpoint was closed, instead of a share. */
  private boolean scant;

  /** The limit that the peer was told last. */
  private int advertised;

  /** The limit from which on it is told unasked. */
  private int tellAt;

  /** Next lane of the same peer. */
  InLane next;

  /**
   * @param source node that sends
   * @param tag see {@link NodeCore#addInLane}
   * @param own the source endpoint is one of this node: each frame that is consumed is looked at
   */
  InLane(int source, int srcEndpoint, int dstEndpoint, int tag, boolean own) {
    this.tag = tag;
    this.messageWord = Descriptor.lo(PmEndpoint.OP_MESSAGE, 0, tag, srcEndpoint, FrameHeader.BYTES);
    this.sourceWord = Descriptor.hi(0, source, 0);
    this.wireEndpoints = FrameHeader.wireInt(endpoints(srcEndpoint, dstEndpoint));
    this.own = own;
    setTellAt();
  }

  static int endpoints(int srcEndpoint, int dstEndpoint) {
    return srcEndpoint << 16 | dstEndpoint & 0xFFFF;
  }

  /** Both endpoints, as the frame's header has them: {@code srcEndpoint:16 | dstEndpoint:16}. */
  int endpoints() {
    return FrameHeader.wireInt(wireEndpoints);
  }

  /** Whether it leads to that endpoint of this node. */
  boolean isTo(int endpoint) {
    return dstEndpoint() == endpoint;
  }

  /** The endpoint of this node. */
  int dstEndpoint() {
    return endpoints() & 0xFFFF;
  }

  int limit() {
    return limit;
  }

  /** Something of each line that a frame needs. */
  int fetch() {
    return wireEndpoints + tellAt;
  }

  int granted() {
    return granted;
  }

  /** Buffers out of the node's credit budget that are kept for this lane. */
  int kept() {
    return resting ? 0 : granted;
  }

  boolean isResting() {
    return resting;
  }

  /**
   * @param rests what was granted is kept for this lane no longer, or again; there is something
   */
  void rest(boolean rests) {
    resting = rests;
  }

  /** Frames that were delivered to the inbox and whose handler has not returned. */
  int waiting() {
    return granted - left;
  }

  /** Frames that may still arrive. */
  int left() {
    return left;
  }

  /** Whether a frame may arrive. */
  boolean hasCredit() {
    return left > 0;
  }

  /** Takes the credit of one frame that arrived; there is some. */
  void spend() {
    left--;
  }

  /** Takes the credit of one frame that arrived; false when there is none. */
  boolean receive() {
    if (left <= 0) {
      return false;
    }
    left--;
    return true;
  }

  /**
   * The handler of a frame returned.
   *
   * @return whether there may be something to do: enough credit returned to say so unasked, a
   *     quarter of the grant, or the lane is no ordinary one
   */
  boolean consume() {
    left++;
    return ++limit - tellAt >= 0 && isWorthALook();
  }

  private boolean isWorthALook() {
    if (isLookedAt()) {
      tellAt = limit;
    }
    return true;
  }

  /** Whether enough credit has returned to say so unasked. */
  boolean worthTelling() {
    int news = limit - advertised;
    return news > 0 && news >= granted >> 2 && !ended;
  }

  /** Whether so much has returned that the peer may be waiting for it. */
  boolean isPressing() {
    return limit - advertised >= granted >> 1;
  }

  /**
   * Whether the peer was not told the limit. What an ended session left behind concerns nobody
   * until the new one asks for credit.
   */
  boolean hasNews() {
    return limit != advertised && !ended;
  }

  /** Whether the peer asked for credit in this session: it is told no limit before (section 6). */
  boolean isOpen() {
    return !ended;
  }

  /** The limit, which the peer is told now; changes nothing when it was told before. */
  int advertise() {
    int now = limit;
    if (now != advertised) {
      advertised = now;
      setTellAt();
    }
    return now;
  }

  /** Also what was told before is told again. */
  void forgetAdvertised() {
    // By difference: the limit itself may be 0 again, behind 2^32 frames.
    advertised = limit - granted;
    setTellAt();
  }

  void grant(int frames) {
    granted = frames;
    limit += frames;
    left += frames;
    setTellAt();
  }

  /** {@link #grant} of one frame, while the own endpoint is closed: the share follows. */
  void grantOne() {
    grant(1);
    scant = true;
  }

  /** Whether its share is to follow when the own endpoint opens. */
  boolean isScant() {
    return scant;
  }

  /** The share, of which {@link #grantOne} was a part, in a session that is open. */
  void grantShare(int frames) {
    int more = frames - granted;
    granted = frames;
    limit += more;
    left += more;
    scant = false;
    setTellAt();
  }

  /** What is to be brought home; nothing is granted from now on. */
  int takeBack() {
    int frames = granted;
    granted = 0;
    resting = false;
    scant = false;
    limit -= frames;
    left -= frames;
    setTellAt();
    return frames;
  }

  /** A session begins. */
  void openSession() {
    ended = false;
    setTellAt();
  }

  /** The session ended. What waits in the inbox stays counted. */
  void closeSession() {
    limit = left;
    advertised = 0;
    ended = true;
    setTellAt();
  }

  /** Its session ended, and nothing of this lane occupies what it was granted. */
  boolean isSpent() {
    return ended && limit == granted && left == limit;
  }

  /** Each frame that is consumed is looked at. */
  private boolean isLookedAt() {
    return own || ended;
  }

  private void setTellAt() {
    tellAt = isLookedAt() ? limit : advertised + Math.max(1, granted >> 2);
  }
}
