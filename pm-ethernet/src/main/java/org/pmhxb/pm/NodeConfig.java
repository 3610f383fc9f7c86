package org.pmhxb.pm;

/**
 * What a node's protocol needs to know. Every value is checked here once.
 *
 * @param key cluster or job key; frames of another key are never parsed further
 * @param incarnation differs at every start of the node; not 0
 * @param seed of the node's random numbers (nonces, first sequence numbers)
 * @param windowFrames frames in flight to one peer, a power of two, 4 to 32,768
 * @param creditBuffers buffers that may be promised to senders, all peers and channels together
 * @param endpointsExpected endpoints among which the credit is shared, 1 to 1,024
 * @param largestGrantFrames cap of the credit of one (peer, channel), 1 to windowFrames
 * @param claimBuffers buffers one endpoint may have claimed at a time, a power of two, 4 to 4,096
 * @param loanBuffers received buffers that programs may hold at a time, 0 to 1,048,576
 * @param peerTimeoutNs silence after which a peer is down, 10 ms to 1 hour
 * @param maxPayloadBytes largest payload of one frame, 64 to 65,471
 * @param firstSeq first sequence number of every session, or -1 for a random one
 * @param frameKey secret for tags, or {@link FrameKey#NONE}
 * @param heldFrames frames sent and not yet acknowledged, to all peers together, at which endpoints
 *     get no more buffers to send: peers may grant more credit than the pool has for it, 1 or above
 */
public record NodeConfig(
    int key,
    long incarnation,
    long seed,
    int windowFrames,
    int creditBuffers,
    int endpointsExpected,
    int largestGrantFrames,
    int claimBuffers,
    int loanBuffers,
    long peerTimeoutNs,
    int maxPayloadBytes,
    long firstSeq,
    FrameKey frameKey,
    int heldFrames) {

  /** Relayed frames of other nodes that may wait for one rail of this one, however many wait. */
  public static final int RELAYED_OF_A_RAIL = 64;

  /** What may wait beyond that, for all rails together: the credit of a default node's peers. */
  public static final int RELAYED_IN_COMMON = 512;

  public NodeConfig {
    if (incarnation == 0) {
      throw new IllegalArgumentException("incarnation 0 stands for none: choose another");
    }
    powerOfTwo("windowFrames", windowFrames, 4, 32_768);
    range("creditBuffers", creditBuffers, 1, 1 << 22);
    range("endpointsExpected", endpointsExpected, 1, 1_024);
    range("largestGrantFrames", largestGrantFrames, 1, windowFrames);
    powerOfTwo("claimBuffers", claimBuffers, 4, 4_096);
    range("loanBuffers", loanBuffers, 0, 1 << 20);
    range("peerTimeoutNs", peerTimeoutNs, 10_000_000L, 3_600_000_000_000L);
    range("maxPayloadBytes", maxPayloadBytes, 64, 65_471);
    range("firstSeq", firstSeq, -1, 0xFFFF_FFFFL);
    range("heldFrames", heldFrames, 1, Integer.MAX_VALUE);
  }

  /** Without tags, and with a pool that has buffers for all that peers grant. */
  public NodeConfig(
      int key,
      long incarnation,
      long seed,
      int windowFrames,
      int creditBuffers,
      int endpointsExpected,
      int largestGrantFrames,
      int claimBuffers,
      int loanBuffers,
      long peerTimeoutNs,
      int maxPayloadBytes,
      long firstSeq) {
    this(
        key,
        incarnation,
        seed,
        windowFrames,
        creditBuffers,
        endpointsExpected,
        largestGrantFrames,
        claimBuffers,
        loanBuffers,
        peerTimeoutNs,
        maxPayloadBytes,
        firstSeq,
        FrameKey.NONE,
        Integer.MAX_VALUE);
  }

  /** Defaults for a cluster of {@code nodes} with a pool of a few thousand buffers. */
  public static NodeConfig defaults(int key, long incarnation, int creditBuffers) {
    return new NodeConfig(
        key,
        incarnation,
        incarnation,
        256,
        creditBuffers,
        2,
        256,
        256,
        256,
        5_000_000_000L,
        8_936,
        -1);
  }

  private NodeConfig with(
      int window,
      int grant,
      long timeoutNs,
      int payloadBytes,
      long seq,
      FrameKey secret,
      int held) {
    return new NodeConfig(
        key,
        incarnation,
        seed,
        window,
        creditBuffers,
        endpointsExpected,
        grant,
        claimBuffers,
        loanBuffers,
        timeoutNs,
        payloadBytes,
        seq,
        secret,
        held);
  }

  public NodeConfig withFirstSeq(long seq) {
    return with(
        windowFrames,
        largestGrantFrames,
        peerTimeoutNs,
        maxPayloadBytes,
        seq,
        frameKey,
        heldFrames);
  }

  public NodeConfig withWindow(int frames) {
    int grant = Math.min(largestGrantFrames, frames);
    return with(frames, grant, peerTimeoutNs, maxPayloadBytes, firstSeq, frameKey, heldFrames);
  }

  public NodeConfig withPeerTimeoutNs(long ns) {
    return with(
        windowFrames, largestGrantFrames, ns, maxPayloadBytes, firstSeq, frameKey, heldFrames);
  }

  public NodeConfig withHeldFrames(int frames) {
    return with(
        windowFrames,
        largestGrantFrames,
        peerTimeoutNs,
        maxPayloadBytes,
        firstSeq,
        frameKey,
        frames);
  }

  /** With tags; the payload shrinks by what they take. */
  public NodeConfig withFrameKey(FrameKey secret) {
    int payloadBytes = maxPayloadBytes + frameKey.trailerBytes() - secret.trailerBytes();
    return with(
        windowFrames,
        largestGrantFrames,
        peerTimeoutNs,
        payloadBytes,
        firstSeq,
        secret,
        heldFrames);
  }

  private static void range(String name, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          name + " is " + value + "; must be in " + least + ".." + most);
    }
  }

  private static void powerOfTwo(String name, int value, int least, int most) {
    range(name, value, least, most);
    if (Integer.bitCount(value) != 1) {
      throw new IllegalArgumentException(name + " is " + value + "; must be a power of two");
    }
  }
}
