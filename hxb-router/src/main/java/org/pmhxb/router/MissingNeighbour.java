package org.pmhxb.router;

/**
 * A neighbour that the shape promises and that is not there on a rail.
 *
 * @param rail the own rail
 * @param railName dimension and index, as in {@code x0}
 * @param device the own device of that rail
 * @param node the neighbour's number
 * @param coordinates the neighbour's place
 * @param how what is heard of it instead
 * @param silentNs for how long nothing was heard of it; 0 unless it is {@link How#SILENT}
 */
public record MissingNeighbour(
    int rail,
    String railName,
    String device,
    int node,
    Coordinates coordinates,
    How how,
    long silentNs) {

  /** In which way a neighbour is missing. */
  public enum How {
    /** Not since this node started. */
    NEVER_HEARD,

    /** It was heard before, and is not for several announcements: the path is taken for dead. */
    SILENT,

    /** No frame of full length, so that none is sent there: see {@link PairingFault.Kind}. */
    SHORT_FRAMES_ONLY
  }

  /** For people. */
  @Override
  public String toString() {
    String what =
        switch (how) {
          case NEVER_HEARD -> "not heard";
          case SILENT -> "silent for " + silentNs / 1_000_000_000L + " s";
          case SHORT_FRAMES_ONLY -> "heard by short frames only";
        };
    return "node "
        + node
        + " at "
        + coordinates
        + " "
        + what
        + " on rail "
        + railName
        + " ("
        + device
        + ")";
  }
}
