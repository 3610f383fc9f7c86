package org.pmhxb.sim;

/**
 * Something that must not happen.
 *
 * @param src node at one end of the flow concerned, or -1
 * @param dst node at its other end, or -1
 */
public record Violation(Kind kind, long atNs, int src, int dst, String text) {
  /** What went wrong. */
  public enum Kind {
    DUPLICATED,
    MISORDERED,
    CORRUPT,
    AFTER_PEER_DOWN,
    PEER_DOWN_WITHOUT_CAUSE,
    PEER_DOWN_MISSING,
    PEER_DOWN_NOT_TOLD,
    BOUND_BROKEN,
    FRAME_REWRITTEN,
    EXCEPTION,
    STUCK,
    STILL,
    LEAK
  }

  @Override
  public String toString() {
    return "%s at %.6f s: %s".formatted(kind, atNs / 1e9, text);
  }
}
