package org.pmhxb.pm;

import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.Memory;
import org.pmhxb.pm.flow.SendWindow;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * Reads acknowledgements that say what nearly all of them do: of the open session, all frames up to
 * a number have arrived and none beyond it, and one channel at most has more credit (PROTOCOL.md
 * sections 3 and 5.4). What another says, {@link Acknowledger#read} finds out.
 *
 * <p>A class of its own, so that the compiler makes one short piece of it: within the long method
 * that reads all control frames it gives up compiling the parts into one another, and looks at each
 * access to a frame as if it had never seen the pool's memory. Owner: the poll thread.
 */
final class UsualAcks {
  private static final int ACK_KIND_WORD = FrameHeader.ACK_KIND << 24;

  private final NodeCore core;
  private final Sender sender;
  private final Paths paths;
  private final BufferPool pool;
  private final Peer[] peers;

  /** Flags and destination, as they lie in the frame. */
  private final int wireFlagsDst;

  UsualAcks(NodeCore core, Sender sender, Paths paths) {
    this.core = core;
    this.sender = sender;
    this.paths = paths;
    this.pool = core.pool;
    this.peers = core.peers;
    this.wireFlagsDst = FrameHeader.wireInt(core.tagFlag << 24 | core.self);
  }

  /**
   * Reads and releases frames of a burst, as long as they are usual acknowledgements.
   *
   * @param from first frame
   * @param end behind the last one
   * @return the first frame that is something else. It is to be read as if nothing of it had been,
   *     though its credit may be taken, and some of what it settles be settled
   */
  int read(LocalBurst burst, int from, int end) {
    int i = from;
    while (i < end && readOne(burst.address(i))) {
      pool.releaseReceived(Burst.id(burst.descriptor(i)));
      i++;
    }
    if (i > from) {
      core.counters.add(Counter.ACKS_RECEIVED, i - from);
    }
    return i;
  }

  private boolean readOne(long address) {
    // Where this is compiled for itself it is not known any more.
    long at = Memory.known(address);
    int src = FrameHeader.kindSrc(Memory.ALL, at) - ACK_KIND_WORD;
    Peer peer = Integer.compareUnsigned(src, peers.length) < 0 ? peers[src] : null;
    if (peer == null
        || FrameHeader.wireInt(Memory.ALL, at, FrameHeader.FLAGS_DST) != wireFlagsDst
        || FrameHeader.wireKeySession(Memory.ALL, at) != peer.wireKeySession
        || peer.state != PeerState.UP) {
      return false;
    }
    int ack = FrameHeader.ack(Memory.ALL, at);
    long gapAndCounts = Acknowledger.gapAndCounts(Memory.ALL, at);
    int counts = (int) gapAndCounts;
    SendWindow window = peer.window;
    if (Integer.compareUnsigned(counts, 1) > 0
        || FrameHeader.length(Memory.ALL, at) < Acknowledger.bytes(counts)
        || Acknowledger.highestAndDuplicates(Memory.ALL, at)
            != ((long) ack << 32 | peer.duplicatesReported & 0xFFFF_FFFFL)
        || Integer.compareUnsigned(ack - window.unacknowledged(), window.inFlight()) > 0
        || counts != 0 && !takeCredit(peer, Acknowledger.firstCredit(Memory.ALL, at))
        || !sender.settleUpTo(peer, ack)) {
      return false;
    }
    peer.heardAt = core.patienceNs;
    peer.peerPollGapNs = Acknowledger.pollGapNs((int) (gapAndCounts >>> 32));
    paths.settle(peer);
    // New frames go at the end of the round: see Receiver.readBeside.
    if (!window.nothingLost()) {
      sender.pump(peer);
    }
    return true;
  }

  /** How many {@link #readAnswer} has read. */
  private long answers;

  /** For tests: whether frames take the short way. */
  long answers() {
    return answers;
  }

  /**
   * Reads what a data frame says beside its payload when it answers: that the only frame on the way
   * to its sender has arrived, and the limit of the channel back. All else of the frame is as
   * expected, its flags say that it tells of credit alone.
   *
   * @param lane the frame's
   * @return false when it says something else: nothing was changed
   */
  boolean readAnswer(Peer peer, InLane lane, long address) {
    long at = Memory.known(address);
    int ack = FrameHeader.ack(Memory.ALL, at);
    SendWindow window = peer.window;
    if (ack - window.unacknowledged() != 1 || window.inFlight() != 1 || peer.outLaneCount == 0) {
      return false;
    }
    Lane back = peer.outLanes[0];
    int limit = FrameHeader.credit(Memory.ALL, at);
    if (Integer.rotateLeft(lane.endpoints(), 16) != back.endpoints()
        || !Acknowledger.isHonest(back, limit)
        || !sender.settleUpTo(peer, ack)) {
      return false;
    }
    peer.ackRead(ack);
    paths.settle(peer);
    Acknowledger.takeLimit(back, limit);
    answers++;
    return true;
  }

  /**
   * Of the first channel to the peer, which is the only one as a rule.
   *
   * @return false for another channel, and for a limit that is not honest
   */
  private static boolean takeCredit(Peer peer, long credit) {
    if (peer.outLaneCount == 0) {
      return false;
    }
    Lane lane = peer.outLanes[0];
    return (int) (credit >>> 32) == lane.endpoints() && Acknowledger.takeLimit(lane, (int) credit);
  }
}
