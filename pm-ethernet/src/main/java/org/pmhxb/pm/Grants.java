package org.pmhxb.pm;

import java.util.ArrayList;
import java.util.List;

/**
 * What peers may send to this node: grants of credit out of the node's budget, and how they come
 * home (PROTOCOL.md section 6). Owner: the poll thread.
 */
final class Grants {
  /** Channels that one peer may have here: it names its endpoints itself, so they are bounded. */
  static final int LANES_MAX = 1_024;

  private final NodeCore core;
  private final Paths paths;
  private final Acknowledger acknowledger;

  Grants(NodeCore core, Paths paths, Acknowledger acknowledger) {
    this.core = core;
    this.paths = paths;
    this.acknowledger = acknowledger;
  }

  /**
   * Brings the grant of a lane home whose session ended and of which nothing waits any more, and
   * forgets the lane: who names other endpoints in each session may do so for ever.
   */
  void takeBackIfSpent(Peer peer, InLane lane) {
    if (lane.isSpent()) {
      if (lane.granted() > 0) {
        rest(lane);
        if (lane.isScant()) {
          core.retired(lane.dstEndpoint()).scantFrames--;
        }
        peer.grantedFrames -= lane.takeBack();
      }
      peer.laneCount--;
      core.removeInLane(peer, lane);
      peer.askForNews();
    }
  }

  private void rest(InLane lane) {
    if (!lane.isResting()) {
      core.ledger.takeBack(lane.granted());
      lane.rest(true);
    }
  }

  /**
   * Nothing of a lane whose endpoint is closed is kept for long: unless some of it waits for its
   * turn, others may have its buffers (PROTOCOL.md section 6).
   */
  void restIfIdle(Peer peer, InLane lane) {
    boolean mayRest = lane.granted() > 0 && !lane.isResting() && lane.waiting() == 0;
    if (mayRest && !peer.holdsOutOfOrder(lane, core.pool)) {
      rest(lane);
    }
  }

  /**
   * Keeps the buffers of a lane that rests for it again.
   *
   * @return false when others have them
   */
  boolean wake(InLane lane) {
    if (lane.isResting()) {
      if (!core.ledger.take(lane.granted())) {
        return false;
      }
      lane.rest(false);
    }
    return true;
  }

  /** {@link #restIfIdle} of all lanes to an endpoint that was closed. */
  void restLanesTo(int endpoint) {
    for (Peer peer : core.peers) {
      InLane lane = peer == null ? null : peer.lanes;
      for (; lane != null; lane = lane.next) {
        if (lane.isTo(endpoint)) {
          restIfIdle(peer, lane);
        }
      }
    }
  }

  /**
   * {@link #wake} of all lanes to an endpoint that opens. Those that have one frame, as they asked
   * when it was closed, get their share.
   *
   * @throws IllegalStateException others have their buffers; nothing was changed
   */
  void wakeLanesTo(int endpoint) {
    List<InLane> resting = new ArrayList<>();
    int frames = 0;
    for (Peer peer : core.peers) {
      InLane lane = peer == null ? null : peer.lanes;
      for (; lane != null; lane = lane.next) {
        if (lane.isTo(endpoint) && lane.isResting()) {
          resting.add(lane);
          frames += lane.granted();
        }
      }
    }
    if (frames > core.ledger.left()) {
      throw new IllegalStateException(
          ("peers may still send %d frames to endpoint %d, granted when it was open before; of the"
                  + " %d credit buffers %d are left: close other endpoints, or configure more")
              .formatted(frames, endpoint, core.ledger.budgetBuffers(), core.ledger.left()));
    }
    resting.forEach(this::wake);
    for (Peer peer : core.peers) {
      InLane lane = peer == null ? null : peer.lanes;
      for (; lane != null; lane = lane.next) {
        if (lane.isTo(endpoint) && lane.isScant()) {
          grantShare(peer, lane);
        }
      }
    }
  }

  /** The peer, which may never ask again while its one frame comes home each time, is told. */
  private void grantShare(Peer peer, InLane lane) {
    int before = lane.granted();
    core.ledger.takeBack(before);
    lane.grantShare(core.ledger.grant());
    peer.grantedFrames += lane.granted() - before;
    peer.ackAtOnce = true;
    acknowledger.note(peer);
  }

  /**
   * The peer asks for credit on a channel: a lane is granted its share once. To an endpoint that
   * was closed it is granted one frame, or whoever has a last word for the program that was there
   * could not get rid of it.
   */
  void onCreditRequest(Peer peer, int srcEndpoint, int dstEndpoint) {
    assert core.isOwner();
    PmEndpoint closed = core.retired(dstEndpoint);
    PmEndpoint open = core.endpoint(dstEndpoint);
    if (closed == null && open == null) {
      core.counters.drop(DropReason.NO_ENDPOINT);
      return;
    }
    if (open != null && open.owesPeerDown(peer.node)) {
      // What comes in this session belongs behind the last one's end. It is asked again.
      return;
    }
    InLane lane = peer.lane(srcEndpoint, dstEndpoint);
    if (lane == null) {
      if (peer.laneCount >= LANES_MAX) {
        core.counters.drop(DropReason.LANE_LIMIT);
        return;
      }
      peer.laneCount++;
      lane = core.addInLane(peer, srcEndpoint, dstEndpoint);
    }
    lane.openSession();
    if (lane.granted() == 0) {
      if (closed == null) {
        lane.grant(core.ledger.grant());
      } else {
        grantOne(peer, lane, closed);
      }
      peer.grantedFrames += lane.granted();
      if (lane.granted() == 0) {
        core.counters.drop(DropReason.CREDIT_EXHAUSTED);
      }
    } else {
      // Asked again: what told it the limit got lost.
      paths.doubt(peer);
    }
    // Say it again if it was said before: the answer may have been lost.
    lane.forgetAdvertised();
    peer.ackAtOnce = true;
    acknowledger.note(peer);
  }

  /**
   * One frame, if the budget has room for as many as the closed endpoint's lanes have got so: no
   * buffer is kept for them, but each needs one before the endpoint opens again.
   */
  private void grantOne(Peer peer, InLane lane, PmEndpoint closed) {
    if (closed.scantFrames < core.ledger.left() && core.ledger.take(1)) {
      closed.scantFrames++;
      lane.grantOne();
      restIfIdle(peer, lane);
    }
  }
}
