package org.pmhxb.pm;

import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.flow.ReplayWindow;
import org.pmhxb.pm.flow.SendWindow;

/**
 * What a node keeps of one peer. Windows are made when the first session opens, so that an idle
 * peer costs this object alone. Owner: the poll thread.
 */
final class Peer extends ReceiveState {
  /** Most peers are never sent anything. */
  private static final Lane[] NO_LANES = {};

  final int node;
  final int windowOwner;
  final int reorderOwner;

  // --- session (PROTOCOL.md section 4) ---
  /** Written last when a session opens, so that another thread that reads UP sees all of it. */
  volatile PeerState state = PeerState.IDLE;

  int session;
  long peerIncarnation;
  long myNonce;
  long peerNonce;

  /** As responder: the session that the last OPEN would make; its first frame confirms it. */
  int candidateSession;

  long candidateIncarnation;
  long candidatePeerNonce;
  long candidateMyNonce;
  int candidateFirstSeq;
  int candidateMyFirstSeq;
  int candidateWindow;
  int myFirstSeq;

  /** As initiator: the peer asks for a new session while the old one still counts. */
  boolean reopening;

  /** Those who wait for this opening were told that the peer does not answer. */
  boolean unreachable;

  /** What the way there and back takes longer than others of as many hops: it is no queue. */
  long longWayNs;

  long openSentNs;
  long openIntervalNs;
  DownReason lastDown;
  int lastDownSession;
  int lastAcknowledgedAtDown;

  long keepaliveAt;
  long resetSentNs;

  // --- tags that count once (PROTOCOL.md section 2.6) ---
  private long stamp;
  private int sentWraps;
  private int lastNextOut;
  private int receivedWraps;
  private int lastNext;
  private ReplayWindow controlStamps;
  private ReplayWindow discoverStamps;

  // --- sending ---
  SendWindow window;
  PathState[] paths;

  /** The path that new frames take while {@link #stripeBytes} are left of the choice. */
  PathState way;

  /** What may go by {@link #way} before the next choice; at most 0: it is due. */
  int stripeBytes;

  /** The choice does not stand longer. */
  long stripeUntilNs;

  /** Paths in use are those from the first to the second, exclusive: first choices or detours. */
  int firstPath;

  int endPath;

  /** One bit a path: the acknowledgement that is being read says something of it. */
  long freshPaths;

  /** What was next in order when an acknowledgement was last entered: whether data comes too. */
  int nextAtSettling;

  /** One bit a path: it owes a sign of life, or is evicted, so the timer looks after it. */
  long watchedPaths;

  /**
   * Frames accepted and not yet numbered: they wait for the end of the round, for room in the
   * window or for a path. Buffer IDs, linked in {@code NodeCore.pending}.
   */
  int pendingHead;

  int pendingTail;
  int pendingCount;
  boolean onPendingList;
  int nextControlPath;
  int nextDataPath;

  // --- receiving, beside what each frame needs: ReceiveState ---
  boolean ackAtOnce;
  boolean gapKnown;
  int duplicates;
  int duplicatesReported;
  boolean onAckList;
  boolean onUrgentList;

  /** Sum of the lanes' grants. */
  int grantedFrames;

  int laneCount;

  /** Sending lanes that lead here, for credit and for the end of a session. */
  Lane[] outLanes = NO_LANES;

  int outLaneCount;

  /** Worst recent gap between polls that the peer reports (DESIGN rule 11). */
  long peerPollGapNs;

  Peer(int node) {
    this.node = node;
    this.windowOwner = Owner.of(Owner.WINDOW, node);
    this.reorderOwner = Owner.of(Owner.REORDER, node);
  }

  /**
   * To be called when {@link #state} or what {@link #order} takes changed, and when there may be
   * something to acknowledge: the next frame's {@link Acknowledger#note} finds out.
   */
  void askForNews() {
    quietNews = isNothingMissing() ? 0 : UNUSUAL;
  }

  /**
   * A data frame is about to carry the cumulative acknowledgement: the next number in order. When
   * nothing is missing that is all there is to say.
   */
  int acknowledgeAll() {
    if (quietNews >= 0) {
      news = 0;
      return highest();
    }
    return order.next();
  }

  /** Whether a session is open and all that arrived was in order. */
  boolean isNothingMissing() {
    return state == PeerState.UP && highest() == order.next();
  }

  InLane lane(int srcEndpoint, int dstEndpoint) {
    return lane(InLane.endpoints(srcEndpoint, dstEndpoint));
  }

  /**
   * @param endpoints as in the frame's header; see {@link InLane#endpoints}
   */
  InLane lane(int endpoints) {
    InLane lane = lanes;
    while (lane != null && lane.endpoints != endpoints) {
      lane = lane.next;
    }
    return lane;
  }

  /** The stamp of the next control frame to this peer. */
  long nextStamp(FrameKey key) {
    stamp = stamp == 0 ? key.firstStamp() : stamp + 1;
    return stamp;
  }

  /** Whether this stamp of a control frame was not seen before. */
  boolean isNewControl(long its) {
    controlStamps = controlStamps == null ? new ReplayWindow() : controlStamps;
    return controlStamps.accept(its);
  }

  /** Whether this stamp of a DISCOVER was not seen before. */
  boolean isNewDiscover(long its) {
    discoverStamps = discoverStamps == null ? new ReplayWindow() : discoverStamps;
    return discoverStamps.accept(its);
  }

  /** A session begins with these numbers. */
  void startWraps(int myFirstSeq, int peerFirstSeq) {
    sentWraps = 0;
    lastNextOut = myFirstSeq;
    receivedWraps = 0;
    lastNext = peerFirstSeq;
  }

  /** How often the numbers had passed 2^32 at a frame that is held; asked for each of them. */
  long wrapsOfSent(int seq) {
    int next = window.next();
    if (Integer.compareUnsigned(next, lastNextOut) < 0) {
      sentWraps++;
    }
    lastNextOut = next;
    return Integer.compareUnsigned(seq, next) < 0 ? sentWraps : sentWraps - 1;
  }

  /** The same for a received frame; -1 for one before the session's first. */
  long wrapsOfReceived(int seq) {
    int next = order.next();
    if (Integer.compareUnsigned(next, lastNext) < 0) {
      receivedWraps++;
    }
    lastNext = next;
    boolean smaller = Integer.compareUnsigned(seq, next) < 0;
    if (seq - next >= 0) {
      return smaller ? receivedWraps + 1 : receivedWraps;
    }
    return smaller ? receivedWraps : receivedWraps - 1;
  }

  void addOutLane(Lane lane) {
    if (outLaneCount == outLanes.length) {
      outLanes = java.util.Arrays.copyOf(outLanes, Math.max(1, outLaneCount * 2));
    }
    outLanes[outLaneCount++] = lane;
  }
}
