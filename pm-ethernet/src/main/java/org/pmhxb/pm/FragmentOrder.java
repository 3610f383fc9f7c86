package org.pmhxb.pm;

/**
 * The message of a lane that goes as fragments: they follow each other from offset 0 to its end,
 * with none of another long message between (PROTOCOL.md section 7). Owner: the application thread.
 */
final class FragmentOrder {
  private final int dst;
  private final int dstEndpoint;

  /** Of the message under way; behind its end, or another session's: none is. */
  private long messageBytes;

  private long doneBytes;
  private int epoch;

  /** What {@link PmEndpoint#sendLarge} is sending; -1: it is not. */
  private long waitingBytes = -1;

  FragmentOrder(int dst, int dstEndpoint) {
    this.dst = dst;
    this.dstEndpoint = dstEndpoint;
  }

  private boolean isUnderWay(int claimEpoch) {
    return epoch == claimEpoch && doneBytes < messageBytes;
  }

  /** A fragment is about to be sent. */
  void check(int claimEpoch, long ofBytes, long atBytes) {
    boolean underWay = isUnderWay(claimEpoch);
    boolean next = underWay ? ofBytes == messageBytes && atBytes == doneBytes : atBytes == 0;
    if (!next) {
      throw new IllegalStateException(
          "fragment at %d of a message of %d bytes to endpoint %d of node %d: %s"
              .formatted(
                  atBytes,
                  ofBytes,
                  dstEndpoint,
                  dst,
                  underWay
                      ? "one of %d bytes is under way, and goes on at %d"
                          .formatted(messageBytes, doneBytes)
                      : "a message begins at 0"));
    }
  }

  /** It was sent. */
  void sent(int claimEpoch, long ofBytes, long atBytes, int partBytes) {
    epoch = claimEpoch;
    messageBytes = ofBytes;
    doneBytes = atBytes + partBytes;
  }

  /** {@link PmEndpoint#sendLarge} begins: until {@link #endLarge} no other message may. */
  void beginLarge(long lengthBytes) {
    refuseWithinLarge(lengthBytes);
    waitingBytes = lengthBytes;
  }

  void endLarge() {
    waitingBytes = -1;
  }

  /** Another long message would get between the fragments of the one under way. */
  void refuseWithinLarge(long lengthBytes) {
    if (waitingBytes >= 0) {
      throw new IllegalStateException(
          ("message of %d bytes within sendLarge of one of %d bytes to the same endpoint %d"
                  + " of node %d: send it after the handler")
              .formatted(lengthBytes, waitingBytes, dstEndpoint, dst));
    }
  }
}
