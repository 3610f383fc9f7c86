package org.pmhxb.pm;

import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.flow.SendWindow;
import org.pmhxb.pm.flow.SequenceArray;

/**
 * What a node keeps of one peer. Windows are made when the first session opens, so that an idle
 * peer costs this object alone. Owner: the poll thread.
 */
final class Peer {
  final int node;
  final int windowOwner;
  final int reorderOwner;

  // --- session (PROTOCOL.md section 4) ---
  PeerState state = PeerState.IDLE;
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

  long openSentNs;
  long openIntervalNs;
  DownReason lastDown;
  int lastDownSession;
  int lastAcknowledgedAtDown;

  /** On the patience clock, which our own stalls do not advance. */
  long heardAt;

  long keepaliveAt;
  long resetSentNs;

  // --- sending ---
  SendWindow window;
  PathState[] paths;

  /** Claimed frames that wait for a session or for room in the window: buffer IDs, linked. */
  int pendingHead;

  int pendingTail;
  int pendingCount;
  int nextControlPath;
  int nextDataPath;

  // --- receiving ---
  SequenceArray order;

  /** One past the highest sequence number received. */
  int highest;

  /** Frames received since the last acknowledgement left. */
  int news;

  long firstNewsNs;
  boolean ackAtOnce;
  boolean gapKnown;
  int duplicates;
  int duplicatesReported;
  boolean onAckList;
  boolean onUrgentList;
  InLane lanes;

  /** Sum of the lanes' grants. */
  int grantedFrames;

  int laneCount;

  /** Sending lanes that lead here, for credit and for the end of a session. */
  Lane[] outLanes = new Lane[1];

  int outLaneCount;

  /** Worst recent gap between polls that the peer reports (DESIGN rule 11). */
  long peerPollGapNs;

  Peer(int node) {
    this.node = node;
    this.windowOwner = Owner.of(Owner.WINDOW, node);
    this.reorderOwner = Owner.of(Owner.REORDER, node);
  }

  InLane lane(int srcEndpoint, int dstEndpoint) {
    InLane lane = lanes;
    while (lane != null && (lane.srcEndpoint != srcEndpoint || lane.dstEndpoint != dstEndpoint)) {
      lane = lane.next;
    }
    return lane;
  }

  void addOutLane(Lane lane) {
    if (outLaneCount == outLanes.length) {
      outLanes = java.util.Arrays.copyOf(outLanes, outLaneCount * 2);
    }
    outLanes[outLaneCount++] = lane;
  }

  /** What is known of one candidate path to this peer. */
  static final class PathState {
    private static final long RTT_MAX_NS = 1_000_000_000L;
    private static final long PROBE_TIMEOUT_MAX_NS = 1_000_000_000L;

    /** Routing's constants for this path: the first hop's rail, the path code, Ethernet hops. */
    final Rail rail;

    final int code;
    final int hops;

    boolean evicted;

    /** Number of the next transmission on this path. */
    int nextIndex;

    /** All transmissions before this have arrived or are lost: the path is FIFO. */
    int settledIndex;

    /** Since when no sign of life is owed: the last evidence, or when waiting began. */
    long evidenceNs;

    long probeSentNs;
    int probesUnanswered;
    long firstProbeNs;

    long smoothedRttNs;
    long rttVariationNs;
    long leastRttNs = Long.MAX_VALUE;

    PathState(Rail rail, int code, int hops) {
      this.rail = rail;
      this.code = code;
      this.hops = hops;
    }

    /** Takes a measured round trip; what exceeds the limit tells of a stall, not of the path. */
    void sampleRtt(long rttNs) {
      if (rttNs < 0 || rttNs > RTT_MAX_NS) {
        return;
      }
      leastRttNs = Math.min(leastRttNs, rttNs);
      if (smoothedRttNs == 0) {
        smoothedRttNs = rttNs;
        rttVariationNs = rttNs / 2;
        return;
      }
      // RFC 6298: alpha 1/8, beta 1/4.
      rttVariationNs += (Math.abs(smoothedRttNs - rttNs) - rttVariationNs) >> 2;
      smoothedRttNs += (rttNs - smoothedRttNs) >> 3;
    }

    /** Waiting time after which a path that owes a sign of life is probed. */
    long probeTimeoutNs(long floorNs) {
      long base = smoothedRttNs == 0 ? 5_000_000L : smoothedRttNs + 4 * rttVariationNs;
      return Math.min(
          Math.max(floorNs, base) << Math.min(probesUnanswered, 6), PROBE_TIMEOUT_MAX_NS);
    }
  }
}
