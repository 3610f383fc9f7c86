package org.pmhxb.router.node;

import org.pmhxb.bufpool.PoolBudget;
import org.pmhxb.pm.NodeConfig;
import org.pmhxb.pm.wire.FrameHeader;
import org.pmhxb.router.HxbConfig;

/**
 * Derives a node's buffer budget and protocol configuration from its place in the machine: the pool
 * is a sum with reasons ({@link PoolBudget}).
 */
public final class NodeSizing {
  /** Frames on their way from one peer that keep its rails busy: 64 x 8 KB = 512 KB. */
  private static final int CREDIT_PER_PEER = 64;

  private static final int CREDIT_LEAST = 512;
  private static final int CREDIT_MOST = 1_024;
  private static final int ENDPOINTS_SHARING_CREDIT = 2;
  private static final int CLAIM_BUFFERS = 128;
  private static final int LOANS = 128;

  private static final int CONTROL_FRAMES = 128;

  /** Descriptors of a physical NIC's ring, each direction. */
  static final int PCI_RING_FRAMES = 512;

  private final int credit;
  private final PoolBudget budget;

  /**
   * @param nodes of the shape
   * @param rails of this node
   * @param ringFrames what each direction of a port's ring keeps of the pool: 0 where the driver
   *     copies (net_ring, memif, kernel interfaces), its descriptors for a physical NIC
   */
  public NodeSizing(int nodes, int rails, int ringFrames, int strideBytes) {
    int peers = Math.max(1, nodes - 1);
    int most = Math.max(CREDIT_MOST, aFrameForEach(peers));
    this.credit = Math.clamp((long) peers * CREDIT_PER_PEER, CREDIT_LEAST, most);
    int ring = Math.max(32, ringFrames);
    this.budget =
        new PoolBudget(
            Math.max(1, rails),
            ring,
            ring,
            credit + CLAIM_BUFFERS * ENDPOINTS_SHARING_CREDIT,
            credit,
            LOANS * ENDPOINTS_SHARING_CREDIT,
            reserve(Math.max(1, rails)),
            strideBytes);
  }

  /** Of the node that a configuration describes. */
  public static NodeSizing of(HxbConfig config) {
    boolean pci = config.rails().stream().anyMatch(r -> r.driver() == HxbConfig.Driver.PCI);
    return new NodeSizing(
        config.shape().nodes(),
        config.rails().size(),
        pci ? PCI_RING_FRAMES : 0,
        config.poolStrideBytes());
  }

  /** Relayed frames that wait for rails, and control frames, which are few. */
  private static int reserve(int rails) {
    return NodeConfig.RELAYED_IN_COMMON + rails * NodeConfig.RELAYED_OF_A_RAIL + CONTROL_FRAMES;
  }

  /** A channel that is granted nothing waits for ever: a frame for one of each peer, at least. */
  private static int aFrameForEach(int peers) {
    return peers + peers / 7 + 1; // an eighth of the budget is for channels beyond those expected
  }

  public PoolBudget budget() {
    return budget;
  }

  /**
   * Buffers of the node that a configuration describes: what the file asks for, if that is enough.
   *
   * @throws org.pmhxb.router.ConfigException it is not
   */
  public int buffers(HxbConfig config) {
    int least = budget.buffers();
    if (config.poolBuffers() > 0 && config.poolBuffers() < least) {
      throw config.refused(
          "pool.buffers",
          config.poolBuffers(),
          "the sum of its uses is " + least + ": raise it, or leave it out");
    }
    return Math.max(config.poolBuffers(), least);
  }

  /** What one frame carries of a message on links of this MTU, bytes. */
  public static int maxPayloadBytes(int mtuBytes) {
    return mtuBytes + FrameHeader.ETHERNET_HEADER_BYTES - FrameHeader.BYTES;
  }

  /** The protocol's configuration with this budget. */
  public NodeConfig nodeConfig(
      int key, long incarnation, int windowFrames, long peerTimeoutNs, int mtuBytes) {
    return new NodeConfig(
            key,
            incarnation,
            incarnation,
            windowFrames,
            credit,
            ENDPOINTS_SHARING_CREDIT,
            windowFrames,
            CLAIM_BUFFERS,
            LOANS,
            peerTimeoutNs,
            maxPayloadBytes(mtuBytes),
            -1)
        .withHeldFrames(budget.resendHolds());
  }
}
