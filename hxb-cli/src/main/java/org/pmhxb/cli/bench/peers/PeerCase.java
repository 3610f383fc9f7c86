package org.pmhxb.cli.bench.peers;

/**
 * One thing that is measured of each peer.
 *
 * @param ping a ping-pong, else a stream as fast as it goes
 * @param links between the two sides; 1 for shared memory
 * @param sizeBytes of each message
 * @param both whether both sides stream at once
 */
public record PeerCase(Medium medium, boolean ping, int links, int sizeBytes, boolean both) {
  /** What joins the two sides. */
  public enum Medium {
    /** Veth links with a token bucket each. */
    SHAPED,
    /** One veth link as fast as it goes. */
    VETH,
    /** Memory of this machine. */
    SHARED_MEMORY
  }

  /** The same over another number of links. */
  PeerCase over(int count) {
    return new PeerCase(medium, ping, count, sizeBytes, both);
  }

  /** Names it in a journal and on the screen. */
  String key() {
    String what = ping ? "half round trip" : both ? "both ways" : "one way";
    String over =
        switch (medium) {
          case SHAPED -> links + " shaped";
          case VETH -> "unshaped veth";
          case SHARED_MEMORY -> "shared memory";
        };
    return what + ", " + sizeBytes + " B, " + over;
  }
}
