package org.pmhxb.pm;

import org.pmhxb.pm.flow.DelayWindow;
import org.pmhxb.pm.wire.FrameHeader;

/** What a node knows of one candidate path to a peer. Owner: the poll thread. */
final class PathState extends PathTimes {
  static final long NO_RTT = -1;

  /**
   * Least window over rings of this process. Nodes that share a thread take turns, so round trips
   * are long and say nothing of queues; a ring's length is what bounds it.
   */
  private static final int IN_PROCESS_BYTES = 256 * 1024;

  private static final long PROBE_TIMEOUT_MAX_NS = 1_000_000_000L;
  private static final long FIRST_TIMEOUT_NS = 5_000_000L;

  final int code;

  /** It was late, and lives: until then it is not taken for late again. */
  long sparedUntilNs;

  /** Answers in a row that an evicted path owes before it is used again; grows with evictions. */
  int answersToReturn = 1;

  int answersInRow;
  long returnedNs;
  long probeSentNs;
  long firstProbeNs;

  /** Times that it was asked once more because it seemed longer than another. */
  int measuredAgain;

  /**
   * @param ends see {@link Way}
   * @param keySession see {@link Way}
   */
  PathState(
      int path,
      Rail rail,
      int code,
      int hops,
      int frameBytes,
      long nowNs,
      long ends,
      long keySession) {
    super(path, rail, hops, windowOf(rail, frameBytes), nowNs, ends, keySession);
    this.code = code;
    this.sparedUntilNs = nowNs;
    makeFront(0);
  }

  private static DelayWindow windowOf(Rail rail, int frameBytes) {
    return new DelayWindow(frameBytes, rail.port.isInProcess() ? IN_PROCESS_BYTES : 0);
  }

  /** The next hop's address, before the front words are used: it seldom changes. */
  void leadTo(long mac) {
    if (mac != nextHopMac) {
      makeFront(mac);
    }
  }

  private void makeFront(long mac) {
    nextHopMac = mac;
    front0 = FrameHeader.stored(FrameHeader.frontWord0(mac, rail.macAddress));
    front1 = FrameHeader.stored(FrameHeader.frontWord1(rail.macAddress, hops));
    front2 = FrameHeader.stored(FrameHeader.frontWord2(hops, 0, code));
  }

  /** When most answers come. */
  long usualRttNs() {
    return smoothedRttNs == 0 ? FIRST_TIMEOUT_NS : smoothedRttNs;
  }

  /** By when an answer is to be expected. */
  long answerTimeNs(long floorNs) {
    return smoothedRttNs == 0
        ? Math.max(floorNs, FIRST_TIMEOUT_NS)
        : Math.max(floorNs, smoothedRttNs + 4 * rttVariationNs);
  }

  /**
   * Waiting time after which a path that owes a sign of life is probed. The first question comes
   * when signs of life are farther apart than they were, the next ones when it was not answered.
   */
  long probeTimeoutNs(long floorNs) {
    long answerNs = answerTimeNs(floorNs);
    if (probesUnanswered == 0) {
      return smoothedRttNs == 0
          ? answerNs
          : Math.min(answerNs, Math.max(floorNs, 2 * evidenceGapNs));
    }
    long patientNs = answerNs << Math.min(probesUnanswered - 1, 6);
    return Math.max(answerNs, Math.min(patientNs, PROBE_TIMEOUT_MAX_NS)) >> 1;
  }
}
