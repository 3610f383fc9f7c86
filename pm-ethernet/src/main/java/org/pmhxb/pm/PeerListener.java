package org.pmhxb.pm;

/**
 * Hears of sessions. Called by the poll thread: be brief, never block. What it throws, the duty
 * cycle throws at its end. It is called amid a duty cycle and begins none itself, as whoever waits
 * for credit would: the node refuses that.
 */
public interface PeerListener {
  /** A session with {@code node} is open. */
  void onPeerUp(int node, int session);

  /**
   * A session ended. Frames after {@code lastAcknowledgedSeq} have an unknown fate: some may have
   * arrived. Which messages those are {@link PmEndpoint#fate} tells.
   */
  void onPeerDown(int node, int session, DownReason reason, int lastAcknowledgedSeq);
}
