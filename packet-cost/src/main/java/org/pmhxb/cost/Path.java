package org.pmhxb.cost;

/** The paths through a node whose cost per packet is budgeted (DESIGN section 4). */
public enum Path {
  /** Burst, parse, validate, order, acknowledge, deliver, handler, credit and buffer return. */
  RECEIVE,
  /** Claim, payload, send, header, CRC, hold for resend, burst, acknowledgement and release. */
  SEND,
  /** Burst, checks, route, hop part rewritten, burst. */
  RELAY,
  /** Acknowledgement frames that settle one held frame each and bring credit. */
  ACK;

  @Override
  public String toString() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }
}
