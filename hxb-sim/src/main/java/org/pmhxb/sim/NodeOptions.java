package org.pmhxb.sim;

import java.util.SplittableRandom;
import org.pmhxb.bufpool.PoolBudget;
import org.pmhxb.pm.FrameKey;
import org.pmhxb.pm.NodeConfig;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * What the nodes of a simulated machine are made of.
 *
 * @param windowFrames send window per peer, a power of two
 * @param creditBuffers promised to senders, all together
 * @param claimBuffers per endpoint, a power of two
 * @param loanBuffers per endpoint
 * @param ringBuffers that a port may have at a time, each direction
 * @param reserveBuffers for relayed and control frames
 * @param strideBytes of the pool, a multiple of 128
 * @param peerTimeoutNs silence after which a peer is down
 * @param firstSeq of every session, or -1 for a random one
 * @param inline the program's thread polls, without rings in between
 * @param idleGapNs longest time between two polls of a node that waits for something
 * @param parkGapNs longest time between two polls of a node that waits for nothing
 * @param variety what few machines have
 */
public record NodeOptions(
    int windowFrames,
    int creditBuffers,
    int claimBuffers,
    int loanBuffers,
    int ringBuffers,
    int reserveBuffers,
    int strideBytes,
    long peerTimeoutNs,
    long firstSeq,
    boolean inline,
    long idleGapNs,
    long parkGapNs,
    Variety variety) {
  /**
   * What most machines do without.
   *
   * @param tags that frames carry
   * @param differ each node has a window of its own length, and its program its own way to use it
   * @param tellsFar nodes are told which ways are longer than others
   */
  public record Variety(FrameKey.Mode tags, boolean differ, boolean tellsFar) {
    /** Without tags, nodes all alike, no way longer than others. */
    public static final Variety NONE = new Variety(FrameKey.Mode.OFF, false, false);
  }

  static final int KEY = 0x73_69_6d_31;
  private static final int LEAST_WINDOW = 4;
  private static final int ENDPOINTS = 2;
  private static final int FRAME_OFFSET_BYTES = 128;

  /** {@link Variety#NONE}. */
  public NodeOptions(
      int windowFrames,
      int creditBuffers,
      int claimBuffers,
      int loanBuffers,
      int ringBuffers,
      int reserveBuffers,
      int strideBytes,
      long peerTimeoutNs,
      long firstSeq,
      boolean inline,
      long idleGapNs,
      long parkGapNs) {
    this(
        windowFrames,
        creditBuffers,
        claimBuffers,
        loanBuffers,
        ringBuffers,
        reserveBuffers,
        strideBytes,
        peerTimeoutNs,
        firstSeq,
        inline,
        idleGapNs,
        parkGapNs,
        Variety.NONE);
  }

  /** For a machine of a few nodes. */
  public static NodeOptions small() {
    return new NodeOptions(
        64, 512, 64, 16, 32, 256, 2_048, 5_000_000_000L, -1, true, 100_000L, 1_000_000L);
  }

  private NodeOptions with(
      int window,
      int credit,
      long timeoutNs,
      long first,
      boolean inlined,
      long idleNs,
      Variety other) {
    return new NodeOptions(
        window,
        credit,
        claimBuffers,
        loanBuffers,
        ringBuffers,
        reserveBuffers,
        strideBytes,
        timeoutNs,
        first,
        inlined,
        idleNs,
        parkGapNs,
        other);
  }

  /** With another time, ns, after which a silent peer is down. */
  public NodeOptions withPeerTimeoutNs(long ns) {
    return with(windowFrames, creditBuffers, ns, firstSeq, inline, idleGapNs, variety);
  }

  NodeOptions withIdleGapNs(long ns) {
    return with(windowFrames, creditBuffers, peerTimeoutNs, firstSeq, inline, ns, variety);
  }

  NodeOptions withVariety(Variety other) {
    return with(windowFrames, creditBuffers, peerTimeoutNs, firstSeq, inline, idleGapNs, other);
  }

  /** With another window and credit, first sequence number and place of the polls. */
  NodeOptions with(int window, int credit, long first, boolean inlined) {
    return with(window, credit, peerTimeoutNs, first, inlined, idleGapNs, variety);
  }

  /** What a node has that differs from others; the pool is made for the most of it. */
  NodeOptions ofNode(SplittableRandom random) {
    if (!variety.differ) {
      return this;
    }
    int window = Math.max(LEAST_WINDOW, windowFrames >> random.nextInt(3));
    return with(window, creditBuffers, firstSeq, random.nextBoolean());
  }

  /** For thousands of nodes: less than 1 MB of pool each. */
  public static NodeOptions large() {
    return new NodeOptions(
        16, 256, 32, 4, 8, 128, 1_024, 5_000_000_000L, -1, true, 1_000_000L, 10_000_000L);
  }

  /** Buffers as a sum with reasons. */
  PoolBudget budget(int rails) {
    return new PoolBudget(
        Math.max(1, rails),
        ringBuffers,
        ringBuffers,
        heldFrames(),
        creditBuffers,
        loanBuffers * ENDPOINTS,
        reserveBuffers,
        strideBytes);
  }

  /**
   * @param firstStamp above those of the node's lives before
   */
  NodeConfig config(long incarnation, long firstStamp) {
    FrameKey.Mode tags = variety.tags;
    FrameKey secret =
        tags == FrameKey.Mode.OFF ? FrameKey.NONE : new FrameKey(tags, KEY, ~KEY, firstStamp);
    return withoutTags(incarnation).withFrameKey(secret);
  }

  private NodeConfig withoutTags(long incarnation) {
    return new NodeConfig(
            KEY,
            incarnation,
            incarnation * 0x9E37_79B9_7F4A_7C15L,
            windowFrames,
            creditBuffers,
            ENDPOINTS,
            windowFrames,
            claimBuffers,
            loanBuffers,
            peerTimeoutNs,
            strideBytes - FRAME_OFFSET_BYTES - FrameHeader.BYTES,
            firstSeq)
        .withHeldFrames(heldFrames());
  }

  private int heldFrames() {
    return creditBuffers + claimBuffers * ENDPOINTS;
  }
}
