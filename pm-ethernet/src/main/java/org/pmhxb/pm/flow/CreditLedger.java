package org.pmhxb.pm.flow;

/**
 * The sum rule for credit (PROTOCOL.md section 6): what is granted and not yet returned, over all
 * peers and channels, never exceeds the buffers set aside for it. Owner: the poll thread.
 */
public final class CreditLedger {
  /** One buffer in so many is kept for lanes beyond those expected. */
  private static final int RESERVED_PART = 8;

  /** A late lane gets this part of what is left. */
  private static final int LATE_PART = 16;

  private final int budgetBuffers;
  private final int lanesExpected;
  private final int share;

  /** Those that have a grant. */
  private int lanes;

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
    this.lanesExpected = lanesExpected;
    int even = (budgetBuffers - budgetBuffers / RESERVED_PART) / lanesExpected;
    this.share = Math.clamp(even, 1, largestGrant);
  }

  /**
   * Takes a new lane's grant out of the budget: an even share for as many lanes as are expected,
   * ever smaller ones of the reserve for further lanes, 0 when nothing is left: then the lane
   * counts as none, and may ask again.
   */
  public int grant() {
    int left = left();
    int wanted = lanes < lanesExpected ? share : Math.clamp(left / LATE_PART, 1, share);
    int granted = Math.min(wanted, left);
    // Nobody takes back nothing.
    lanes += granted > 0 ? 1 : 0;
    outstanding += granted;
    return granted;
  }

  /**
   * Takes so much out of the budget for a lane: what its peer was told of already and {@link
   * #takeBack} brought home, or what is not for {@link #grant} to say.
   *
   * @param granted 1 or above
   * @return false when so much is not left; nothing was changed then
   */
  public boolean take(int granted) {
    if (granted > left()) {
      return false;
    }
    lanes++;
    outstanding += granted;
    return true;
  }

  /**
   * The buffers of a lane are in nobody's way any more: its session or its endpoint has ended and
   * nothing of it waits. Its grant, 1 or above, comes home.
   */
  public void takeBack(int granted) {
    outstanding -= granted;
    lanes--;
    assert outstanding >= 0 && lanes >= 0 : "credit came home twice";
  }

  public int outstanding() {
    return outstanding;
  }

  /** Buffers that may still be granted. */
  public int left() {
    return budgetBuffers - outstanding;
  }

  public int budgetBuffers() {
    return budgetBuffers;
  }
}
