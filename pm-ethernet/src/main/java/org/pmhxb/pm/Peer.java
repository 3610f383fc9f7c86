package org.pmhxb.pm;

import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.Memory;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.flow.SequenceArray;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * What a node keeps of one peer. Windows are made when a session opens, and what opens it when one
 * is wanted, so that an idle peer costs this object alone. Owner: the poll thread.
 */
final class Peer extends SettleState {
  // --- session (PROTOCOL.md section 4) ---
  int session;
  long peerIncarnation;
  long peerNonce;

  /** Null until a session is wanted. */
  Handshake handshake;

  DownReason lastDown;
  int lastDownSession;
  int lastAcknowledgedAtDown;

  long keepaliveAt;
  long resetSentNs;

  private Stamps stamps;

  // --- sending ---
  /** The last frame behind {@link #pendingHead}. */
  int pendingTail;

  int pendingCount;
  boolean onPendingList;

  // --- receiving, beside what each frame needs: ReceiveState, AckState, SettleState ---
  /**
   * Made when a session opens. While {@link #quietNews} says that nothing is missing it is behind:
   * the next number in order is {@link #highest} then.
   */
  private SequenceArray order;

  /** Frames that wait in {@link #order} for their turn; at most 32,768. */
  int keptOutOfOrder;

  short laneCount;

  Peer(int node) {
    super(node);
  }

  /** Who answers for the buffers of frames that wait for their turn. */
  int reorderOwner() {
    return Owner.of(Owner.REORDER, node);
  }

  /**
   * To be called when {@link #state} or what {@link #order} takes changed, and when there may be
   * something to acknowledge: the next frame's {@link Acknowledger#note} finds out.
   */
  void askForNews() {
    if (quietNews >= 0 && state == PeerState.UP) {
      // As long as nothing is missing the array is not even brought up to date.
      quietNews = 0;
    } else {
      order();
      quietNews = isNothingMissing() ? 0 : UNUSUAL;
    }
  }

  /**
   * A data frame is about to carry the cumulative acknowledgement: the next number in order. When
   * nothing is missing that is all there is to say.
   */
  int acknowledgeAll() {
    if (quietNews >= 0) {
      news = 0;
    }
    return nextInOrder();
  }

  /**
   * What is to be said beside {@link #acknowledgeAll} when something is missing, in a data frame:
   * which of the next frames behind the gap arrived. If none came beyond them, that is all.
   *
   * @param soon the frame does not wait behind the queue of a slow path: what it says counts as
   *     said
   * @return bit i: the i-th number behind the one that is missing
   */
  int acknowledgeBeyond(boolean soon) {
    int missing = order.next();
    int ahead = highest() - missing - 1;
    int bits = 0;
    for (int i = Math.min(ahead, FrameHeader.BEYOND_BITS) - 1; i >= 0; i--) {
      bits = bits << 1 | (order.holds(missing + 1 + i) ? 1 : 0);
    }
    if (soon && ahead <= FrameHeader.BEYOND_BITS && bits != 0) {
      news = 0;
      gapAtOnce = false;
    }
    return bits;
  }

  /** A session opens. */
  void order(SequenceArray empty) {
    quietNews = UNUSUAL;
    keptOutOfOrder = 0;
    order = empty;
    orderFrames = empty.size();
    highest(empty.next());
    receivedAtSettling = received();
  }

  /** What puts frames in order, brought up to date; null before the first session. */
  SequenceArray order() {
    if (quietNews >= 0) {
      order.passTo(highest());
    }
    return order;
  }

  /** A frame waits in {@link #order()}, before {@link #highest} says so. */
  void somethingIsMissing() {
    order();
    quietNews = UNUSUAL;
  }

  /** The next sequence number in order: all before it have arrived. After the first session. */
  int nextInOrder() {
    return quietNews >= 0 ? highest() : order.next();
  }

  /**
   * Changes whenever data came: behind a gap what is next in order stands still while other rails
   * bring more, and when the window is used up the highest number does while the gap is filled.
   */
  int received() {
    return highest() + nextInOrder();
  }

  /** {@link #nextInOrder}, and 0 before the first session. */
  int cumulativePoint() {
    return order == null ? 0 : nextInOrder();
  }

  /** Whether more is to be said than that all arrived before the next number in order. */
  boolean isMissingSome() {
    return quietNews < 0;
  }

  /** Whether a session is open and all that arrived was in order. */
  boolean isNothingMissing() {
    return state == PeerState.UP && highest() == nextInOrder();
  }

  /**
   * Whether a frame of the lane has credit beside those that wait for their turn: these are fewer
   * than may still arrive on it and on all lanes for which buffers are kept. So it is of who keeps
   * to its credit: each frame that waits, and this one, has a part of it. Which lane has none left
   * shows when it is a frame's turn.
   */
  boolean mayKeep(InLane lane) {
    return keptOutOfOrder < lane.left() || keptOutOfOrder < leftWith(lane);
  }

  /**
   * Frames that may still arrive on lanes for which buffers are kept.
   *
   * @param own counts in any case; or null
   */
  int leftWith(InLane own) {
    int left = 0;
    for (InLane lane = lanes; lane != null; lane = lane.next) {
      left += lane == own || !lane.isResting() ? lane.left() : 0;
    }
    return left;
  }

  InLane lane(int srcEndpoint, int dstEndpoint) {
    return lane(InLane.endpoints(srcEndpoint, dstEndpoint));
  }

  /**
   * @param endpoints as in the frame's header; see {@link InLane#endpoints}
   */
  InLane lane(int endpoints) {
    InLane lane = lanes;
    while (lane != null && lane.endpoints() != endpoints) {
      lane = lane.next;
    }
    return lane;
  }

  /** Whether a frame of the lane waits for its turn; of the node itself none does. */
  boolean holdsOutOfOrder(InLane lane, BufferPool pool) {
    SequenceArray order = order();
    int slots = order == null ? 0 : order.size();
    for (int slot = 0; slot < slots; slot++) {
      int id = order.inSlot(slot);
      if (id != 0 && endpointsOf(pool.addressOf(id)) == lane.endpoints()) {
        return true;
      }
    }
    return false;
  }

  private static int endpointsOf(long address) {
    return (int) (FrameHeader.endpointWord(Memory.ALL, address) >>> 32);
  }

  /** How sessions with the peer come about; made at the first opening. */
  Handshake handshake() {
    if (handshake == null) {
      handshake = new Handshake();
    }
    return handshake;
  }

  /** The session that one of the peer's last OPENs would make, by its number; null: none. */
  Candidate candidateNamed(int session) {
    return handshake == null ? null : handshake.candidateNamed(session);
  }

  /** Where tags count once only. */
  Stamps stamps() {
    if (stamps == null) {
      stamps = new Stamps();
    }
    return stamps;
  }

  long wrapsOfSent(int seq) {
    return stamps.wrapsOfSent(seq, window.next());
  }

  long wrapsOfReceived(int seq) {
    return stamps.wrapsOfReceived(seq, nextInOrder());
  }
}
