package org.pmhxb.pm;

/** Why a session ended (PROTOCOL.md section 4.4). */
public enum DownReason {
  SILENCE("nothing was heard from the peer within the peer timeout"),
  RESTARTED("the peer runs with another incarnation"),
  RESET("the peer does not know the session"),
  CLOSED("the peer closed the session"),
  CREDIT_VIOLATED("the peer sent beyond its credit"),
  UNREACHABLE("the peer answered no opening within the peer timeout; it is tried on"),
  LOCAL_CLOSE("this node closed the session");

  private final String explanation;

  DownReason(String explanation) {
    this.explanation = explanation;
  }

  public String explanation() {
    return explanation;
  }
}
