package org.pmhxb.pm;

/**
 * What is known of one peer, for people.
 *
 * @param session the session that is up, or the last one
 * @param reason why the last session ended; null if none did
 * @param lastAcknowledgedSeq last sequence number acknowledged in the session named
 * @param pathsEvicted paths out of use
 */
public record PeerStatus(
    int node,
    PeerState state,
    int session,
    DownReason reason,
    int lastAcknowledgedSeq,
    int paths,
    int pathsEvicted) {

  /** Any thread. */
  static PeerStatus of(Peer peer) {
    // Pairs with the writes of the state: what a session is made of is written before its UP, why
    // it ended before its DOWN.
    PeerStatus status;
    do {
      status = of(peer, peer.state);
    } while (status.state != peer.state);
    return status;
  }

  private static PeerStatus of(Peer peer, PeerState state) {
    boolean up = state == PeerState.UP;
    int evicted = 0;
    PathState[] paths = peer.paths;
    int count = paths == null ? 0 : paths.length;
    for (int i = 0; i < count; i++) {
      evicted += paths[i].evicted ? 1 : 0;
    }
    return new PeerStatus(
        peer.node,
        state,
        up ? peer.session : peer.lastDownSession,
        peer.lastDown,
        up ? peer.window.unacknowledged() - 1 : peer.lastAcknowledgedAtDown,
        count,
        evicted);
  }
}
