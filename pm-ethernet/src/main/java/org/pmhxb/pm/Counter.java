package org.pmhxb.pm;

/**
 * What a node counts: no frame is dropped without a documented counter. Written by the poll thread
 * alone; readers see values that may be a moment old.
 */
public enum Counter {
  FRAMES_RECEIVED("frames taken from the ports"),
  FRAMES_SENT("frames handed to the ports, resends and control frames included"),
  DATA_SENT("data frames sent for the first time"),
  MESSAGES_COALESCED("messages sent in a frame that they share with others"),
  DATA_DELIVERED("data frames handed to endpoints, in order"),
  BYTES_DELIVERED("payload bytes handed to endpoints"),
  RELAYED("transit frames forwarded"),
  RESENT("data frames sent again"),
  RESENT_FROM_COPY("resends that needed a copy because the port still held the frame"),
  ACKS_SENT("acknowledgement frames sent"),
  ACKS_RECEIVED("acknowledgement frames received"),
  PROBES_SENT("path probes sent"),
  PROBE_REPLIES("path probes answered by the peer"),
  PATHS_LATE("paths whose frames were late and went again by others"),
  PATHS_EVICTED("paths taken out of use because probes failed"),
  PATHS_RESTORED("paths taken back into use"),
  DETOURS_BEGUN("peers that were reached by another dimension order from then on"),
  DETOURS_ENDED("peers that were reached by the first dimension order again"),
  OUT_OF_ORDER("data frames that arrived before an earlier one"),
  DUPLICATES_REPORTED("duplicates that peers report: needless resends of ours"),
  SESSIONS_OPENED("sessions opened"),
  COLLECTIVES_SENT("frames of collective operations sent, of those to a line one each"),
  COLLECTIVES_RECEIVED("frames of collective operations handed to their handler"),
  PEERS_DOWN("sessions ended other than by a close"),
  FATE_UNKNOWN("messages accepted for sending whose session ended before they were acknowledged");

  private final String explanation;

  Counter(String explanation) {
    this.explanation = explanation;
  }

  public String explanation() {
    return explanation;
  }
}
