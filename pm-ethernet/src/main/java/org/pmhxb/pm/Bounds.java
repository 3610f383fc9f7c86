package org.pmhxb.pm;

import org.pmhxb.pm.flow.SequenceArray;

/**
 * The bounds that hold after every duty cycle (PROTOCOL.md sections 5.1, 5.2 and 6): what is in
 * flight fits the window, what waits out of order fits the sequence array, no channel is used
 * beyond its credit, the sum of all grants never exceeds the budget, and no more frames count as
 * held than are. Walks over all peers: for simulations.
 */
final class Bounds {
  private Bounds() {}

  /**
   * The first bound that is broken, in words, or null.
   *
   * @param held {@link Sender#held}
   */
  static String broken(NodeCore core, int held) {
    int granted = 0;
    int sent = 0;
    for (Peer peer : core.peers) {
      if (peer != null) {
        String broken = peer.state == PeerState.UP ? ofSession(peer) : null;
        broken = broken == null ? ofCredit(core, peer) : broken;
        if (broken != null) {
          return "peer " + peer.node + ": " + broken;
        }
        granted += kept(peer);
        sent += peer.pendingCount;
        sent += peer.state == PeerState.UP ? peer.window.inFlight() : 0;
      }
    }
    if (granted != core.ledger.outstanding() || granted > core.ledger.budgetBuffers()) {
      return "grants of "
          + granted
          + " frames, the ledger says "
          + core.ledger.outstanding()
          + " of "
          + core.ledger.budgetBuffers();
    }
    // Of those in flight some may be acknowledged out of order.
    if (held < 0 || held > sent) {
      return held + " frames count as held, " + sent + " wait or are in flight";
    }
    return null;
  }

  private static String ofSession(Peer peer) {
    SequenceArray order = peer.order();
    int size = order.size();
    int inFlight = peer.window.inFlight();
    if (inFlight < 0 || inFlight > size) {
      return inFlight + " frames in flight, the window has " + size;
    }
    int beyond = peer.highest() - order.next();
    if (beyond < 0 || beyond > size) {
      return "highest is " + beyond + " beyond the next in order, the array has " + size;
    }
    int kept = order.waiting();
    if (kept != peer.keptOutOfOrder) {
      return kept + " frames wait for their turn, counted are " + peer.keptOutOfOrder;
    }
    int left = peer.leftWith(null);
    if (kept > left) {
      return kept + " frames wait for their turn, " + left + " may arrive";
    }
    if (peer.quietNews >= 0 && (peer.state != PeerState.UP || order.holds(order.next()))) {
      return "frames pass as usual, and one waits, or the session has ended";
    }
    return null;
  }

  private static String ofCredit(NodeCore core, Peer peer) {
    for (InLane in = peer.lanes; in != null; in = in.next) {
      if (in.waiting() < 0 || in.waiting() > in.granted()) {
        return "%d frames from endpoint %d wait at endpoint %d, which granted %d"
            .formatted(in.waiting(), in.endpoints() >>> 16, in.endpoints() & 0xFFFF, in.granted());
      }
      int to = in.endpoints() & 0xFFFF;
      if (in.isResting() && (in.waiting() > 0 || core.endpoint(to) != null)) {
        return "no buffer is kept for %d frames that wait at endpoint %d, open or not"
            .formatted(in.waiting(), to);
      }
      if (in.isResting() && peer.holdsOutOfOrder(in, core.pool)) {
        return "no buffer is kept for frames to endpoint " + to + " that wait for their turn";
      }
    }
    for (int i = 0; i < peer.outLaneCount; i++) {
      if (!peer.outLanes[i].isWithinCredit()) {
        return "more sent to endpoint " + peer.outLanes[i].dstEndpoint + " than was granted";
      }
    }
    return null;
  }

  private static int kept(Peer peer) {
    int sum = 0;
    for (InLane in = peer.lanes; in != null; in = in.next) {
      sum += in.kept();
    }
    return sum;
  }
}
