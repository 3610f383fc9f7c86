package org.pmhxb.router;

/**
 * Two NICs that hear each other and should not, or not whole, or two nodes that disagree: named by
 * both ends.
 *
 * @param id counts up per node, so that a reader can tell new ones
 * @param kind what is wrong
 * @param rail the own rail on which it was heard
 * @param here this node's end; of two neighbours that contradict each other, the one known first
 * @param there the other end
 * @param detail what each side says, and the mend
 * @param firstSeenNs when it was first heard, on the node's clock
 */
public record PairingFault(
    long id, Kind kind, int rail, End here, End there, String detail, long firstSeenNs) {

  /** What can be wrong between two ends. */
  public enum Kind {
    WRONG_DIMENSION("cable in the wrong dimension"),
    WRONG_RAIL_INDEX("cable on the wrong rail index"),
    WRONG_LINE("cable between two lines of the same dimension"),
    DUPLICATE_COORDINATES("two nodes with the same coordinates"),
    DIFFERENT_SHAPE("different shapes"),
    DIFFERENT_RAILS("different numbers of rails per dimension"),
    DIFFERENT_KEY("different cluster keys"),
    SHORT_FRAMES_ONLY("frames of full length do not arrive"),
    DIFFERENT_MAJOR_VERSION("different major protocol versions");

    private final String explanation;

    Kind(String explanation) {
      this.explanation = explanation;
    }

    public String explanation() {
      return explanation;
    }
  }

  /**
   * One end.
   *
   * @param device its name on its host; empty where the frame does not tell
   * @param node node number, or -1 where the frame does not tell
   * @param coordinates null where the frame does not tell
   * @param mac Ethernet address in the low 48 bits
   */
  public record End(String device, int node, Coordinates coordinates, long mac) {
    /** For people. */
    @Override
    public String toString() {
      String name = device.isEmpty() ? "a NIC" : device;
      String place = node < 0 ? "unknown node" : "node " + node + " at " + coordinates;
      return name + " of " + place + " [" + MacAddress.format(mac) + "]";
    }
  }

  /** One line for people: what, both ends, what each says, the mend. */
  @Override
  public String toString() {
    return kind.explanation() + ": " + here + " and " + there + ": " + detail;
  }
}
