package org.pmhxb.cost;

/** The paths through a node whose cost per packet is budgeted ({@link Budget}). */
public enum Path {
  /** Burst, parse, validate, order, acknowledge, deliver, handler, credit and buffer return. */
  RECEIVE,
  /**
   * Claim, payload, send, header, CRC, hold for resend, burst. Beside it {@link #withAcks} with the
   * peers' acknowledgements and the release of what they settle.
   */
  SEND,
  /** Burst, checks, route, hop part rewritten, burst. */
  RELAY,
  /** Acknowledgement frames that settle one held frame each and bring credit. */
  ACK;

  /**
   * The name of what is measured beside the path in the same rounds: the path together with the
   * acknowledgements of what it sent. Null: it sends nothing that is acknowledged.
   */
  public String withAcks() {
    return this == SEND ? "send+acks" : null;
  }

  @Override
  public String toString() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }
}
