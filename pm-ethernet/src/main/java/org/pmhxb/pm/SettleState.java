package org.pmhxb.pm;

/**
 * What reading an acknowledgement of a peer's reads and writes beside {@link AckState}: a third
 * cache line. See {@link ReceiveState} for why it is a class of its own. Owner: the poll thread.
 */
abstract class SettleState extends AckState {
  /** Most peers are never sent anything. */
  private static final Lane[] NO_LANES = {};

  /** One bit a path: the acknowledgement that is being read says something of it. */
  long freshPaths;

  /** What the way there and back takes longer than others of as many hops: it is no queue. */
  long longWayNs;

  /** Worst recent gap between polls that the peer reports. */
  long peerPollGapNs;

  /**
   * When the newest of the frames that arrived was sent, of those sent once, over any path: as of
   * the acknowledgements before the one that is being read, which for a question's answer is the
   * one that came with it too.
   */
  long newestSentNs;

  /** The same with that one. */
  long freshSentNs;

  /** {@link Peer#received} when an acknowledgement was last entered: whether data comes too. */
  int receivedAtSettling;

  int duplicatesReported;

  /** Sending lanes that lead here, for credit and for the end of a session. */
  Lane[] outLanes = NO_LANES;

  int outLaneCount;

  SettleState(int node) {
    super(node);
  }

  final void addOutLane(Lane lane) {
    if (outLaneCount == outLanes.length) {
      outLanes = java.util.Arrays.copyOf(outLanes, Math.max(1, outLaneCount * 2));
    }
    outLanes[outLaneCount++] = lane;
  }
}
