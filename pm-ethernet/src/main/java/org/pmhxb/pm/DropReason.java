package org.pmhxb.pm;

/** Why a frame was dropped. Each reason is a counter (PROTOCOL.md section 2.4 has the checks). */
public enum DropReason {
  TOO_SHORT("shorter than its header or than the length it states"),
  NOT_OURS("EtherType is not PM/Ethernet-HXB"),
  MAJOR_VERSION("another major protocol version"),
  HOP_CHECK("hop part damaged"),
  CRC("header or payload damaged"),
  KEY("another cluster or job key"),
  TAG("keyed tag missing or wrong, or there though this node has no key"),
  REPLAY("keyed tag right, but the frame was seen before"),
  UNKNOWN_NODE("source or destination is not a node of this shape"),
  UNKNOWN_KIND("frame kind not known"),
  MALFORMED("fields contradict each other"),
  HOP_LIMIT("hop limit used up"),
  NO_ROUTE("path names a rail or dimension order that is not here, or the next hop is unknown"),
  RELAY_QUEUE_FULL("relay's transmit queue is full"),
  NO_SESSION("no such session; answered with RESET at a limited rate"),
  DUPLICATE("sequence number was received already"),
  OUT_OF_WINDOW("sequence number lies beyond the granted window"),
  NO_CREDIT("sent beyond the channel's credit"),
  LANE_LIMIT("credit asked for more channels than one peer may have"),
  CREDIT_EXHAUSTED("request for credit found the budget used up; who asked asks again"),
  NO_ENDPOINT("destination endpoint is not open, or no program takes part in collectives"),
  NO_BUFFER("no buffer for a control frame"),
  TRANSMIT_QUEUE_FULL("rail's transmit queue is full"),
  PORT_BLOCKED(
      "waited for a port that takes nothing: its line's other end is gone, or has stalled");

  private final String explanation;

  DropReason(String explanation) {
    this.explanation = explanation;
  }

  public String explanation() {
    return explanation;
  }

  /** Negative, never 0, for return values that share an int with a rail. */
  public int code() {
    return -1 - ordinal();
  }

  private static final DropReason[] VALUES = values();

  public static DropReason ofCode(int code) {
    return VALUES[-1 - code];
  }
}
