package org.pmhxb.bufpool;

/**
 * The size of a node's pool as a sum with reasons, all in buffers.
 *
 * @param rails transmit and receive queues of the node
 * @param receiveRing armed in each rail's receive queue
 * @param transmitRing queued or in DMA in each rail's transmit queue
 * @param resendHolds sent and not yet acknowledged, over all peers
 * @param grantedCredits received and waiting for their turn or their reader, over all peers: the
 *     sum of granted credits never exceeds this
 * @param loans retained by applications
 * @param reserve relayed and control frames
 * @param strideBytes bytes of one buffer, a multiple of {@link BufferPool#STRIDE_UNIT_BYTES}
 */
public record PoolBudget(
    int rails,
    int receiveRing,
    int transmitRing,
    int resendHolds,
    int grantedCredits,
    int loans,
    int reserve,
    int strideBytes) {

  /** A rail without armed buffers receives nothing; a burst must fit. */
  private static final int RING_MIN = 8;

  private static final int RAILS_MAX = 512;

  /** Each term alone fits an int, and so does their sum. */
  private static final int TERM_MAX = BufferPool.CAPACITY_MAX;

  public PoolBudget {
    check("rails", rails, 1, RAILS_MAX);
    check("receiveRing", receiveRing, RING_MIN, 1 << 16);
    check("transmitRing", transmitRing, RING_MIN, 1 << 16);
    check("resendHolds", resendHolds, 1, TERM_MAX);
    check("grantedCredits", grantedCredits, 1, TERM_MAX);
    check("loans", loans, 0, TERM_MAX);
    check("reserve", reserve, 1, TERM_MAX);
    long sum = sum(rails, receiveRing, transmitRing, resendHolds, grantedCredits, loans, reserve);
    BufferPool.checkGeometry(strideBytes, (int) Math.min(sum, Integer.MAX_VALUE));
  }

  /** Buffers that the node needs. */
  public int buffers() {
    return (int) sum(rails, receiveRing, transmitRing, resendHolds, grantedCredits, loans, reserve);
  }

  /** Memory of the region, the unused first stride included. */
  public long regionBytes() {
    return BufferPool.regionBytes(strideBytes, buffers());
  }

  private static long sum(
      int rails,
      int receiveRing,
      int transmitRing,
      int resendHolds,
      int grantedCredits,
      int loans,
      int reserve) {
    return (long) rails * receiveRing // armed, waiting for frames
        + (long) rails * transmitRing // queued or in DMA
        + resendHolds // sent, not acknowledged, or acknowledged and at hand for the next claims
        + grantedCredits // promised to peers: in sequence arrays and inboxes
        + loans // kept by applications
        + reserve // relayed and control frames, so that the rest cannot stop them
        + 2 * BufferPool.BATCH_MAX; // at hand of what was not sent, and kept-back releases
  }

  private static void check(String name, int value, int least, int most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "pool budget: %s = %d buffers is not in %d..%d"
              .formatted(name, value, least, most)
              .replace("rails = " + value + " buffers", "rails = " + value));
    }
  }
}
