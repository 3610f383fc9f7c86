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
 * @param tags that frames carry
 * @param differ each node has a window of its own length, and its program its own way to use it
 * @param tellsFar nodes are told which ways are longer than others
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
    FrameKey.Mode tags,
    boolean differ,
    boolean tellsFar) {
  static final int KEY = 0x73_69_6d_31;
  private static final int LEAST_WINDOW = 4;
  private static final int ENDPOINTS = 2;
  private static final int FRAME_OFFSET_BYTES = 128;

  /** Without tags, nodes all alike, no way longer than others. */
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
        FrameKey.Mode.OFF,
        false,
        false);
  }

  /** For a machine of a few nodes. */
  public static NodeOptions small() {
    return new NodeOptions(
        64, 512, 64, 16, 32, 256, 2_048, 5_000_000_000L, -1, true, 100_000L, 1_000_000L);
  }

  /** With another time, ns, after which a silent peer is down. */
  public NodeOptions withPeerTimeoutNs(long ns) {
    return new NodeOptions(
        windowFrames,
        creditBuffers,
        claimBuffers,
        loanBuffers,
        ringBuffers,
        reserveBuffers,
        strideBytes,
        ns,
        firstSeq,
        inline,
        idleGapNs,
        parkGapNs,
        tags,
        differ,
        tellsFar);
  }

  /** What a node has that differs from others; the pool is made for the most of it. */
  NodeOptions ofNode(SplittableRandom random) {
    if (!differ) {
      return this;
    }
    int window = windowFrames >> random.nextInt(3);
    return new NodeOptions(
        Math.max(LEAST_WINDOW, window),
        creditBuffers,
        claimBuffers,
        loanBuffers,
        ringBuffers,
        reserveBuffers,
        strideBytes,
        peerTimeoutNs,
        firstSeq,
        random.nextBoolean(),
        idleGapNs,
        parkGapNs,
        tags,
        true,
        tellsFar);
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
