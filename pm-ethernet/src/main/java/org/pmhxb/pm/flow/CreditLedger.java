package org.pmhxb.pm.flow;

/**
 * The sum rule for credit (DESIGN rules 3 and 13; PROTOCOL.md section 6): what is granted and not
 * yet returned, over all peers and channels, never exceeds the buffers set aside for it. Owner: the
 * poll thread.
 */
public final class CreditLedger {
  private final int budgetBuffers;
  private final int share;
  private int outstanding;

  /**
   * @param budgetBuffers buffers that may be promised to senders, 1 or above
   * @param lanesExpected how many (peer, channel) pairs share them when all are in use
   * @param largestGrant cap of one pair's grant in frames
   */
  public CreditLedger(int budgetBuffers, int lanesExpected, int largestGrant) {
    if (budgetBuffers < 1 || lanesExpected < 1 || largestGrant < 1) {
      throw new IllegalArgumentException(
          "credit budget "
              + budgetBuffers
              + ", lanes "
              + lanesExpected
              + ", largest grant "
              + largestGrant
              + ": each must be 1 or above");
    }
    this.budgetBuffers = budgetBuffers;
    int even = Math.max(1, budgetBuffers / lanesExpected);
    this.share = Math.min(Integer.highestOneBit(even), largestGrant);
  }

  /** Takes a new lane's grant out of the budget: 0 when nothing is left. */
  public int grant() {
    int granted = Math.min(share, budgetBuffers - outstanding);
    outstanding += granted;
    return granted;
  }

  /** Gives a lane's grant back when the lane ends. */
  public void giveBack(int granted) {
    outstanding -= granted;
    assert outstanding >= 0 : "credit given back twice: " + outstanding;
  }

  public int outstanding() {
    return outstanding;
  }

  public int budgetBuffers() {
    return budgetBuffers;
  }
}
