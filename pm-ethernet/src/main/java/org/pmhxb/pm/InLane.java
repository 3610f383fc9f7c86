package org.pmhxb.pm;

/**
 * The receiving side of one (peer, source endpoint, own endpoint): credit granted and returned
 * (PROTOCOL.md section 6). It outlives sessions, because messages of an ended session may still
 * wait in the inbox and occupy what was granted. Owner: the poll thread.
 */
final class InLane {
  /** Both endpoints, as the frame's header has them: {@code srcEndpoint:16 | dstEndpoint:16}. */
  final int endpoints;

  /** Frames that this lane may have outstanding, out of the node's credit budget. */
  int granted;

  /** Frames delivered to the inbox in this session. */
  int received;

  /** Frames of this session whose handler returned. */
  int consumed;

  /** Frames of ended sessions that still wait in the inbox; they are consumed first. */
  int left;

  /** The session ended: what was granted goes home once nothing is left in the inbox. */
  boolean ended;

  /** The limit that the peer was told last. */
  int advertised;

  /** Next lane of the same peer. */
  InLane next;

  InLane(int srcEndpoint, int dstEndpoint) {
    this.endpoints = endpoints(srcEndpoint, dstEndpoint);
  }

  static int endpoints(int srcEndpoint, int dstEndpoint) {
    return srcEndpoint << 16 | dstEndpoint & 0xFFFF;
  }

  /** Absolute limit: the peer may send frames up to this count in this session. */
  int limit() {
    return consumed + granted - left;
  }

  /** Enough returned since the last word to say so unasked: a quarter of the grant. */
  boolean worthTelling() {
    int news = limit() - advertised;
    return news > 0 && news >= granted >> 2;
  }

  void consume() {
    if (left > 0) {
      left--;
    } else {
      consumed++;
    }
  }

  /** The session ended. What waits in the inbox stays counted. */
  void closeSession() {
    left += received - consumed;
    received = 0;
    consumed = 0;
    advertised = 0;
    ended = true;
  }

  /** Nothing of this lane occupies what it was granted. */
  boolean isSpent() {
    return ended && left == 0 && granted > 0;
  }
}
