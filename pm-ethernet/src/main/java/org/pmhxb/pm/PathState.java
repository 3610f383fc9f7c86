package org.pmhxb.pm;

import org.pmhxb.pm.flow.DelayWindow;
import org.pmhxb.pm.wire.FrameHeader;

/** What a node knows of one candidate path to a peer. Owner: the poll thread. */
final class PathState extends Way {
  static final long NO_RTT = -1;

  /**
   * Least window over rings of this process. Nodes that share a thread take turns, so round trips
   * are long and say nothing of queues; a ring's length is what bounds it.
   */
  private static final int IN_PROCESS_BYTES = 256 * 1024;

  private static final long RTT_MAX_NS = 1_000_000_000L;
  private static final long PROBE_TIMEOUT_MAX_NS = 1_000_000_000L;
  private static final long FIRST_TIMEOUT_NS = 5_000_000L;

  private static final int LOSS_MEMORY_FRAMES = 64;

  /** One frame in sixteen. */
  private static final int LOSSY_SHARE = 64;

  final int code;
  final int hops;
  final DelayWindow window;

  boolean evicted;

  /**
   * What was sent over another path behind its frames has arrived, and they have not: they went
   * again, and new ones take other paths until it answers.
   */
  boolean late;

  /** It was late, and lives: until then it is not taken for late again. */
  long sparedUntilNs;

  /**
   * When the last frame or question was sent on it of which a round trip was taken, or when the
   * session opened.
   */
  long arrivedSentNs;

  /**
   * Frames are on their way, and a byte takes more than twice as long as on the fastest path in
   * use: what goes here is late by the queue that its data keeps.
   */
  boolean isSlow;

  /** Answers in a row that an evicted path owes before it is used again; grows with evictions. */
  int answersToReturn = 1;

  int answersInRow;
  long returnedNs;

  /** All transmissions before this have arrived or are lost: the path is FIFO. */
  int settledIndex;

  // --- what the acknowledgement that is being read says, until it is entered ---
  long freshBytes;
  int freshFrames;
  long freshRttNs;

  /** The last sign of life, or when the session opened. */
  long evidenceNs;

  /** When frames last joined the path while it was empty: nothing was owed until then. */
  private long waitingFromNs;

  /** How far signs of life were apart of late, at worst. */
  long evidenceGapNs;

  long probeSentNs;
  int probesUnanswered;
  long firstProbeNs;

  // --- round trips ---
  long smoothedRttNs;
  long rttVariationNs;
  long leastRttNs = Long.MAX_VALUE;

  /** Bytes that took {@link #ratedNs} of late; 0: {@link #byteTime} is worked out already. */
  private long ratedBytes;

  private long ratedNs;
  private long byteTime;

  /** By how much its least round trip is longer than that of paths that are alike. */
  long longerNs;

  /** Times that it was asked once more because it seemed longer than another. */
  byte measuredAgain;

  /** A window below one frame: no frame before this. */
  long pacedUntilNs;

  /** Share of the last hundred frames or so that were lost without a queue, in 1/1024. */
  int lossShare;

  private long nextHopMac;

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
    super(path, rail, ends, keySession);
    this.code = code;
    this.hops = hops;
    this.window = new DelayWindow(frameBytes, rail.port.isInProcess() ? IN_PROCESS_BYTES : 0);
    this.evidenceNs = nowNs;
    this.arrivedSentNs = nowNs;
    this.sparedUntilNs = nowNs;
    this.pacedUntilNs = nowNs;
    this.waitingFromNs = nowNs;
    makeFront(0);
  }

  /** Something of each line that an acknowledgement needs. */
  int fetch() {
    return (int) (front0 + nextHopMac) + answersInRow;
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

  /** Takes a measured round trip; what exceeds the limit tells of a stall, not of the path. */
  boolean sampleRtt(long rttNs) {
    if (rttNs < 0 || rttNs > RTT_MAX_NS) {
      return false;
    }
    leastRttNs = Math.min(leastRttNs, rttNs);
    if (smoothedRttNs == 0) {
      smoothedRttNs = rttNs;
      rttVariationNs = rttNs / 2;
    } else {
      // RFC 6298: alpha 1/8, beta 1/4.
      rttVariationNs += (Math.abs(smoothedRttNs - rttNs) - rttVariationNs) >> 2;
      smoothedRttNs += (rttNs - smoothedRttNs) >> 3;
    }
    return true;
  }

  /** Notes the path's rate: a window in a round trip. */
  void rate() {
    ratedNs = smoothedRttNs;
    ratedBytes = window.bytes();
  }

  /** Time that a byte of this path takes, in 1/1024 ns; 0 before the first round trip. */
  long byteTime() {
    if (ratedBytes != 0) {
      byteTime = (ratedNs << 10) / ratedBytes;
      ratedBytes = 0;
    }
    return byteTime;
  }

  void arrived(int frames) {
    if (lossShare != 0) {
      lossShare -= lossShare * Math.min(frames, LOSS_MEMORY_FRAMES) / LOSS_MEMORY_FRAMES;
    }
  }

  void lost(int frames) {
    for (int i = 0; i < Math.min(frames, LOSS_MEMORY_FRAMES); i++) {
      lossShare += (1_024 - lossShare) / LOSS_MEMORY_FRAMES;
    }
  }

  /** Whether control frames may rely on it. */
  boolean isTrusted() {
    return takesNew() && probesUnanswered < Paths.PROBES_TO_EVICT;
  }

  /** Whether new frames may take it. */
  boolean takesNew() {
    return !evicted && !late;
  }

  /** A sign of life. */
  void evidence(long nowNs) {
    long gapNs = nowNs - owedSinceNs();
    evidenceGapNs = gapNs > evidenceGapNs ? gapNs : evidenceGapNs - (evidenceGapNs - gapNs >> 3);
    evidenceNs = nowNs;
    probesUnanswered = 0;
  }

  /** Nothing was owed until now, but answers to the probes that were sent. */
  void waitFrom(long nowNs) {
    waitingFromNs = nowNs;
  }

  /** Since when a sign of life is owed. */
  long owedSinceNs() {
    return waitingFromNs - evidenceNs > 0 ? waitingFromNs : evidenceNs;
  }

  /**
   * By how much a round trip may be late by chance: where frames are lost without a queue so are
   * acknowledgements, and round trips scatter.
   */
  long scatterNs() {
    return lossShare >= LOSSY_SHARE ? 2 * rttVariationNs : 0;
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
    return Math.min(answerNs << Math.min(probesUnanswered - 1, 6), PROBE_TIMEOUT_MAX_NS) >> 1;
  }
}
