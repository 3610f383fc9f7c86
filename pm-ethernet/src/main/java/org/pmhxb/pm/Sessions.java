package org.pmhxb.pm;

import java.util.Arrays;
import org.pmhxb.pm.flow.SendWindow;
import org.pmhxb.pm.flow.SequenceArray;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * Opens, watches and ends sessions (PROTOCOL.md section 4; payloads: section 3). The lower node
 * number initiates; an OPEN from the higher one asks it to. Owner: the poll thread.
 *
 * <pre>
 *   lower  -> higher  OPEN         incarnation, fresh nonce, first sequence number, window
 *   higher -> lower   OPEN_REPLY   the same of its own, and both of the lower echoed
 *   lower  -> higher  OPEN_CONFIRM or any frame of the session: its number proves the nonce
 * </pre>
 */
final class Sessions {
  /** OPEN payload: incarnation:64 | nonce:64 | firstSeq:32 | window:32. */
  static final int OPEN_BYTES = 24;

  /** OPEN_REPLY payload: as OPEN, then the echoed nonce:64 | incarnation:64. */
  static final int REPLY_BYTES = OPEN_BYTES + 16;

  private static final long OPEN_INTERVAL_NS = 2_000_000L;
  private static final long OPEN_INTERVAL_MAX_NS = 200_000_000L;

  /** Openings repeated up to this interval go over one path each. */
  private static final long OPEN_ALONE_NS = 16_000_000L;

  /** Later ones, and the last word of a session, go over so many paths each. */
  private static final int WIDE_PATHS = 8;

  /** What a candidate stays at least, and as much longer as the way to the peer takes. */
  private static final long CANDIDATE_NS = 20_000_000L;

  /** Once the peer counts as unreachable. */
  private static final long OPEN_INTERVAL_LATER_NS = 1_000_000_000L;

  private static final long CREDIT_INTERVAL_NS = 2_000_000L;
  private static final long CREDIT_INTERVAL_MAX_NS = 50_000_000L;
  private static final long RESET_INTERVAL_NS = 10_000_000L;
  private static final long CLOSE_INTERVAL_NS = 5_000_000L;

  /**
   * Of many peers the timers look after one part in each round, a power of two: what they read of
   * all of them took a fifth of the time of a node that receives from 2,560.
   */
  private static final int PARTS_OF_MANY = 8;

  private final NodeCore core;
  private final Sender sender;
  private final Paths paths;
  private final Grants grants;

  /** The node stops: no session begins any more. */
  private boolean closing;

  private long closesSentNs;

  /** Of the timers. */
  private int round;

  /** On the patience clock: when they were looked at last. */
  private long lookedAt;

  Sessions(NodeCore core, Sender sender, Paths paths, Grants grants) {
    this.core = core;
    this.sender = sender;
    this.paths = paths;
    this.grants = grants;
  }

  // --- opening ------------------------------------------------------------------------------

  /** Something is to be sent to a peer: make a session unless there is one. */
  void want(Peer peer) {
    assert core.isOwner();
    if (!closing && (peer.state == PeerState.IDLE || peer.state == PeerState.DOWN)) {
      beginOpening(peer);
      sendOpen(peer);
    }
  }

  /** The session itself is wanted, whether or not anything is to be sent: until it is open. */
  void wantOpen(Peer peer) {
    if (!closing && peer.state != PeerState.UP) {
      Handshake mine = peer.handshake();
      if (!mine.wanted) { // else who asks may be who has heard
        mine.wanted = true;
        waitAnew(peer);
      }
      want(peer);
    }
  }

  /**
   * That a peer does not answer is told once to who waits for it. Who begins to wait behind that
   * waits for as long, and is told then.
   */
  private void waitAnew(Peer peer) {
    if (peer.state == PeerState.OPENING && peer.handshake.unreachable) {
      peer.handshake.unreachable = false;
      peer.handshake.openIntervalNs = OPEN_INTERVAL_NS;
      peer.heardAt = core.patienceNs;
    }
  }

  private void beginOpening(Peer peer) {
    peer.state = PeerState.OPENING;
    peer.heardAt = core.patienceNs;
    Handshake mine = peer.handshake();
    mine.unreachable = false;
    freshNonce(mine);
    mine.openIntervalNs = OPEN_INTERVAL_NS;
    mine.openSentNs = core.nowNs;
    core.activate(peer);
  }

  private void freshNonce(Handshake mine) {
    mine.myNonce = core.random();
    mine.myFirstSeq = firstSeq();
  }

  private int firstSeq() {
    long fixed = core.config.firstSeq();
    return fixed >= 0 ? (int) fixed : (int) core.random();
  }

  /** The first ones go out alone; then a dead way must not be what keeps the two apart. */
  private void sendOpen(Peer peer) {
    Handshake mine = peer.handshake;
    mine.openSentNs = core.nowNs;
    int id = sealedOpen(peer);
    if (id != 0 && mine.openIntervalNs <= OPEN_ALONE_NS) {
      core.sendControl(id, peer, OPEN_BYTES);
    } else if (id != 0) {
      core.sendControlWidely(id, peer, OPEN_BYTES, WIDE_PATHS);
    }
  }

  private int sealedOpen(Peer peer) {
    int id = core.controlBuffer();
    if (id != 0) {
      writeOpen(core.pool.frameAt(id), peer.handshake.myNonce, peer.handshake.myFirstSeq);
      core.sealControl(id, FrameHeader.OPEN, peer, 0, OPEN_BYTES);
    }
    return id;
  }

  private void writeOpen(long at, long nonce, int firstSeq) {
    FrameHeader.payloadLong(core.frames, at, 0, core.config.incarnation());
    FrameHeader.payloadLong(core.frames, at, 8, nonce);
    FrameHeader.payloadInt(core.frames, at, 16, firstSeq);
    FrameHeader.payloadInt(core.frames, at, 20, core.config.windowFrames());
  }

  /** An OPEN arrived: from the lower node the first step, from the higher one a request. */
  void onOpen(Peer peer, long at, int length) {
    if (length < OPEN_BYTES || badWindow(at)) {
      core.counters.drop(DropReason.MALFORMED);
      return;
    }
    if (closing) {
      return;
    }
    long incarnation = FrameHeader.payloadLong(core.frames, at, 0);
    if (core.self < peer.node) {
      onRequestToOpen(peer, at, incarnation);
      return;
    }
    if (peer.state == PeerState.UP
        && peer.peerIncarnation == incarnation
        && peer.peerNonce == FrameHeader.payloadLong(core.frames, at, 8)) {
      // A repeated OPEN of the session that is up: our reply was seen, this is late.
      return;
    }
    long nonce = FrameHeader.payloadLong(core.frames, at, 8);
    Candidate offer = peer.handshake().candidateOf(incarnation, nonce);
    if (offer == null) {
      offer = peer.handshake.another(core.nowNs, CANDIDATE_NS + peer.longWayNs);
      if (offer == null) {
        return; // if it is no late one, it comes again
      }
      offer.peerIncarnation = incarnation;
      offer.peerNonce = nonce;
      offer.myNonce = core.random();
      offer.peerFirstSeq = FrameHeader.payloadInt(core.frames, at, 16);
      offer.peerWindow = FrameHeader.payloadInt(core.frames, at, 20);
      offer.myFirstSeq = firstSeq();
      offer.session = sessionOf(incarnation, nonce, core.config.incarnation(), offer.myNonce);
    }
    int id = core.controlBuffer();
    if (id != 0) {
      long reply = core.pool.frameAt(id);
      writeOpen(reply, offer.myNonce, offer.myFirstSeq);
      FrameHeader.payloadLong(core.frames, reply, 24, nonce);
      FrameHeader.payloadLong(core.frames, reply, 32, incarnation);
      core.sealControl(id, FrameHeader.OPEN_REPLY, peer, 0, REPLY_BYTES);
      core.answer(id, peer, REPLY_BYTES, at);
    }
  }

  private void onRequestToOpen(Peer peer, long at, long incarnation) {
    if (peer.state == PeerState.UP && peer.peerIncarnation == incarnation) {
      sendConfirm(peer, at);
      return;
    }
    Handshake mine = peer.handshake();
    if (peer.state == PeerState.UP && !mine.reopening) {
      // Perhaps the peer restarted. The old session stays until a fresh nonce comes back.
      mine.reopening = true;
      freshNonce(mine);
    } else if (peer.state == PeerState.IDLE || peer.state == PeerState.DOWN) {
      beginOpening(peer);
    }
    mine.wantedByPeer = true;
    mine.askedByPeerAt = core.patienceNs;
    int id = sealedOpen(peer);
    if (id != 0) {
      core.answer(id, peer, OPEN_BYTES, at);
    }
  }

  void onOpenReply(Peer peer, long at, int length) {
    if (length < REPLY_BYTES || core.self > peer.node || badWindow(at)) {
      core.counters.drop(DropReason.MALFORMED);
      return;
    }
    Handshake mine = peer.handshake;
    boolean expected =
        mine != null && !closing && (peer.state == PeerState.OPENING || mine.reopening);
    if (!expected
        || FrameHeader.payloadLong(core.frames, at, 24) != mine.myNonce
        || FrameHeader.payloadLong(core.frames, at, 32) != core.config.incarnation()) {
      // Late or repeated; if the session is up, the confirmation may have been lost.
      if (peer.state == PeerState.UP) {
        sendConfirm(peer, at);
      }
      return;
    }
    long incarnation = FrameHeader.payloadLong(core.frames, at, 0);
    if (peer.state == PeerState.UP && incarnation == peer.peerIncarnation) {
      // The peer did not restart: what asked for a new session was late or forged.
      mine.reopening = false;
      sendConfirm(peer, at);
      return;
    }
    long nonce = FrameHeader.payloadLong(core.frames, at, 8);
    int session = sessionOf(core.config.incarnation(), mine.myNonce, incarnation, nonce);
    int window = FrameHeader.payloadInt(core.frames, at, 20);
    int firstSeq = FrameHeader.payloadInt(core.frames, at, 16);
    open(peer, session, incarnation, nonce, mine.myFirstSeq, firstSeq, window);
    sendConfirm(peer, at);
  }

  private boolean badWindow(long at) {
    int window = FrameHeader.payloadInt(core.frames, at, 20);
    return window < 4 || window > 32_768 || Integer.bitCount(window) != 1;
  }

  private void sendConfirm(Peer peer, long question) {
    int id = core.controlBuffer();
    if (id != 0) {
      core.sealControl(id, FrameHeader.OPEN_CONFIRM, peer, peer.session, 0);
      core.answer(id, peer, 0, question);
    }
  }

  /**
   * A frame carries a number that is not that of the session. If one of the last two OPEN_REPLYs
   * offered it, it is open now.
   *
   * @return false when none did
   */
  boolean confirm(Peer peer, int session) {
    Candidate offer = closing ? null : peer.candidateNamed(session);
    if (offer == null) {
      return false;
    }
    open(
        peer,
        offer.session,
        offer.peerIncarnation,
        offer.peerNonce,
        offer.myFirstSeq,
        offer.peerFirstSeq,
        offer.peerWindow);
    peer.handshake.confirmed(offer);
    return true;
  }

  /** The session's number (PROTOCOL.md section 4.1). */
  static int sessionOf(long lowInc, long lowNonce, long highInc, long highNonce) {
    long mixed = NodeCore.mix(lowInc + NodeCore.mix(lowNonce + NodeCore.mix(highInc ^ ~highNonce)));
    int session = (int) (mixed >>> 32);
    return session == 0 ? 1 : session;
  }

  private void open(
      Peer peer,
      int session,
      long incarnation,
      long peerNonce,
      int myFirstSeq,
      int peerFirstSeq,
      int peerWindow) {
    if (peer.state == PeerState.UP) {
      end(peer, peer.peerIncarnation == incarnation ? DownReason.RESET : DownReason.RESTARTED);
    }
    int size = Math.min(core.config.windowFrames(), peerWindow);
    peer.handshake.reopening = false;
    peer.handshake.wanted = false;
    peer.handshake.wantedByPeer = false;
    peer.session = session;
    peer.peerIncarnation = incarnation;
    peer.peerNonce = peerNonce;
    peer.paths = paths.create(peer);
    SendWindow window = new SendWindow(size, peer.paths.length, myFirstSeq, peer.windowOwner());
    peer.window = window;
    for (int i = 0; i < peer.outLaneCount; i++) {
      peer.outLanes[i].window = window;
    }
    peer.order(new SequenceArray(size, peerFirstSeq));
    peer.wireKeySession = FrameHeader.wireKeySession(core.config.key(), session);
    peer.ackRead(myFirstSeq);
    if (core.replay) {
      peer.stamps().startWraps(myFirstSeq, peerFirstSeq);
    }
    peer.news = 0;
    peer.duplicates = 0;
    peer.duplicatesReported = 0;
    peer.gapKnown = false;
    peer.gapAtOnce = false;
    peer.ackAtOnce = false;
    peer.heardAt = core.patienceNs;
    peer.keepaliveAt = core.patienceNs;
    peer.state = PeerState.UP;
    peer.askForNews();
    core.activate(peer);
    core.counters.increment(Counter.SESSIONS_OPENED);
    paths.begin(peer);
    core.tellPeerUp(peer.node, session);
    for (int i = 0; i < peer.outLaneCount; i++) {
      if (peer.outLanes[i].creditWanted) {
        askForCredit(peer, peer.outLanes[i]);
      }
    }
    sender.pump(peer);
  }

  // --- credit for a new lane ----------------------------------------------------------------

  /**
   * An endpoint wants to send on a lane that has no credit.
   *
   * @param used {@link Lane#used} when it found none
   */
  void wantCredit(Lane lane, long used) {
    assert core.isOwner();
    registerLane(lane);
    if (lane.grantsBeyond(used)) {
      return; // It came meanwhile: nothing else would end the asking.
    }
    Peer peer = core.peer(lane.dst);
    lane.creditWanted = true;
    peer.lanesWait = true;
    lane.creditAskIntervalNs = CREDIT_INTERVAL_NS;
    lane.creditAskedNs = core.nowNs;
    if (peer.state != PeerState.UP) {
      waitAnew(peer);
      want(peer);
    } else if (lane.limit == 0) {
      askForCredit(peer, lane);
    }
    // Else credit comes back by itself as the peer consumes; the timer asks if that word got lost.
  }

  /** Makes a lane known to the poll thread; lanes are never forgotten. */
  void registerLane(Lane lane) {
    if (lane.id < 0) {
      if (core.laneCount == core.lanes.length) {
        core.lanes = Arrays.copyOf(core.lanes, core.laneCount * 2);
      }
      lane.id = core.laneCount;
      core.lanes[core.laneCount++] = lane;
      Peer peer = core.peer(lane.dst);
      peer.addOutLane(lane);
      if (lane.dst != core.self) {
        lane.peer = peer;
        lane.window = peer.window;
      }
    }
  }

  private void askForCredit(Peer peer, Lane lane) {
    lane.creditAskedNs = core.nowNs;
    int id = core.controlBuffer();
    if (id == 0) {
      return;
    }
    core.sealCreditRequest(id, peer, lane.endpoint.number(), lane.dstEndpoint);
    core.sendControl(id, peer, 0);
  }

  // --- watching -----------------------------------------------------------------------------

  /** Looks after every active peer; called by the node's timer. */
  void tick() {
    assert core.isOwner();
    if (closing) {
      repeatCloses();
      return;
    }
    int step = core.hasManyPeers() ? PARTS_OF_MANY : 1;
    paths.roundBegins((core.patienceNs - lookedAt) * step);
    lookedAt = core.patienceNs;
    int last = core.activeCount - 1;
    // By place: counted from the end, a part would wait while one peer came with each round.
    for (int i = last - (last - round & step - 1); i >= 0; i -= step) {
      Peer peer = core.active[i];
      switch (peer.state) {
        case OPENING -> tickOpening(peer);
        case UP -> tickUp(peer);
        default -> core.deactivate(i);
      }
    }
    round++;
  }

  private void tickOpening(Peer peer) {
    Handshake mine = peer.handshake;
    if (core.patienceNs - mine.askedByPeerAt >= core.config.peerTimeoutNs()) {
      mine.wantedByPeer = false;
    }
    if (!isWanted(peer)) {
      peer.state = peer.lastDown == null ? PeerState.IDLE : PeerState.DOWN;
      return;
    }
    if (!mine.unreachable && core.patienceNs - peer.heardAt >= core.config.peerTimeoutNs()) {
      if (isWantedHere(peer) || peer.lastDown != DownReason.UNREACHABLE) {
        tellUnreachable(peer);
      } else {
        mine.wantedByPeer = false; // nobody waits, and all have heard: it may ask for ever
      }
    }
    if (core.nowNs - mine.openSentNs >= mine.openIntervalNs) {
      long mostNs = mine.unreachable ? OPEN_INTERVAL_LATER_NS : OPEN_INTERVAL_MAX_NS;
      mine.openIntervalNs = Math.min(mine.openIntervalNs * 2, mostNs);
      sendOpen(peer);
    }
  }

  private static boolean isWanted(Peer peer) {
    return peer.handshake.wantedByPeer || isWantedHere(peer);
  }

  private static boolean isWantedHere(Peer peer) {
    boolean wanted = peer.handshake.wanted;
    for (int i = 0; !wanted && i < peer.outLaneCount; i++) {
      wanted = peer.outLanes[i].creditWanted;
    }
    return wanted;
  }

  /** Those who wait for the peer hear so, once; it is tried on at a low rate. */
  private void tellUnreachable(Peer peer) {
    peer.handshake.unreachable = true;
    // It asks again when it is there.
    peer.handshake.wantedByPeer = false;
    peer.lastDown = DownReason.UNREACHABLE;
    peer.lastDownSession = 0;
    core.counters.increment(Counter.PEERS_DOWN);
    for (int i = 0; i < peer.outLaneCount; i++) {
      Lane lane = peer.outLanes[i];
      boolean wanted = lane.creditWanted;
      lane.closeSession();
      lane.creditWanted = wanted;
    }
    for (int i = 0; i < core.openCount; i++) {
      core.open[i].deliverPeerDown(peer.node, 0);
    }
    core.tellPeerDown(peer.node, 0, DownReason.UNREACHABLE, peer.lastAcknowledgedAtDown);
  }

  private void tickUp(Peer peer) {
    long timeoutNs = core.config.peerTimeoutNs();
    long silentNs = core.patienceNs - peer.heardAt;
    if (silentNs >= timeoutNs) {
      // Where only the way here is dead, the peer need not wait for as long again.
      peer.resetSentNs = core.nowNs;
      int id = sealedWord(FrameHeader.RESET, peer, peer.session);
      if (id != 0) {
        core.sendControlWidely(id, peer, 0, WIDE_PATHS);
      }
      end(peer, DownReason.SILENCE);
      return;
    }
    if (silentNs >= timeoutNs / 5 && core.patienceNs - peer.keepaliveAt >= timeoutNs / 20) {
      peer.keepaliveAt = core.patienceNs;
      paths.askForLife(peer, silentNs >= 2 * (timeoutNs / 5));
    }
    paths.tick(peer);
    if (peer.watchedPaths != 0 || peer.pendingHead != 0) {
      sender.pump(peer);
    }
    if (peer.lanesWait) {
      tickLanes(peer);
    }
    assert peer.watchedPaths != 0 || peer.window.nothingLost() : "lost frames, and no path watched";
    assert peer.lanesWait || !anyLaneWaits(peer) : "a lane waits, and its peer does not say so";
  }

  /** Whether the peer sends so little that its next question may be whether we live. */
  boolean isSilent(Peer peer) {
    return core.patienceNs - peer.heardAt >= core.config.peerTimeoutNs() / 10;
  }

  private void tickLanes(Peer peer) {
    for (int i = 0; i < peer.outLaneCount; i++) {
      Lane lane = peer.outLanes[i];
      lane.passLost();
      if (lane.creditWanted && core.nowNs - lane.creditAskedNs >= lane.creditAskIntervalNs) {
        lane.creditAskIntervalNs = Math.min(lane.creditAskIntervalNs * 2, CREDIT_INTERVAL_MAX_NS);
        askForCredit(peer, lane);
      }
    }
    peer.lanesWait = anyLaneWaits(peer);
  }

  private static boolean anyLaneWaits(Peer peer) {
    boolean waits = false;
    for (int i = 0; !waits && i < peer.outLaneCount; i++) {
      waits = peer.outLanes[i].waits();
    }
    return waits;
  }

  // --- ending -------------------------------------------------------------------------------

  /** Ends an UP session: releases what is held, tells listener and endpoints. */
  void end(Peer peer, DownReason reason) {
    assert core.isOwner();
    int lastAcknowledged = peer.window.unacknowledged() - 1;
    int session = peer.session;
    sender.discard(peer);
    paths.end(peer);
    SequenceArray order = peer.order();
    for (int slot = 0; slot < order.size(); slot++) {
      int id = order.clear(slot);
      if (id != 0) {
        core.pool.release(id, peer.reorderOwner());
      }
    }
    for (InLane lane = peer.lanes; lane != null; lane = lane.next) {
      lane.closeSession();
      grants.takeBackIfSpent(peer, lane);
    }
    for (int i = 0; i < peer.outLaneCount; i++) {
      peer.outLanes[i].closeSession();
    }
    peer.lastDown = reason;
    peer.lastDownSession = session;
    peer.lastAcknowledgedAtDown = lastAcknowledged;
    peer.state = PeerState.DOWN;
    peer.askForNews();
    peer.session = 0;
    peer.handshake.reopening = false;
    if (reason != DownReason.CLOSED && reason != DownReason.LOCAL_CLOSE) {
      core.counters.increment(Counter.PEERS_DOWN);
    }
    for (int i = 0; i < core.openCount; i++) {
      core.open[i].deliverPeerDown(peer.node, session);
    }
    core.tellPeerDown(peer.node, session, reason, lastAcknowledged);
  }

  /** Ends an UP session with a word to the peer. */
  void close(Peer peer, DownReason reason) {
    int session = peer.session;
    int id = sealedWord(FrameHeader.CLOSE, peer, session);
    if (id != 0) {
      core.sendControl(id, peer, 0);
    }
    end(peer, reason);
    if (closing) {
      peer.handshake.closedSession = session;
    }
  }

  /** Answers a frame of a session that does not exist here, at a limited rate. */
  void onUnknownSession(Peer peer, int session, long at) {
    core.counters.drop(DropReason.NO_SESSION);
    boolean closed = session != 0 && session == closedSession(peer);
    boolean alsoClosed = closed && FrameHeader.kind(core.frames, at) == FrameHeader.CLOSE;
    if (alsoClosed) {
      peer.handshake.closedSession = 0;
    }
    if (session == 0 || !alsoClosed && core.nowNs - peer.resetSentNs < RESET_INTERVAL_NS) {
      return;
    }
    // What was under way when this node closed must not make the peer take the end for a fault.
    answerEnd(closed && !alsoClosed ? FrameHeader.CLOSE : FrameHeader.RESET, peer, session, at);
  }

  private void answerEnd(int kind, Peer peer, int session, long at) {
    peer.resetSentNs = core.nowNs;
    int id = sealedWord(kind, peer, session);
    if (id != 0) {
      core.answer(id, peer, 0, at);
    }
  }

  private int sealedWord(int kind, Peer peer, int session) {
    int id = core.controlBuffer();
    if (id != 0) {
      core.sealControl(id, kind, peer, session, 0);
    }
    return id;
  }

  /** The peer does not know a session; it counts only for the one that is up, or was closed. */
  void onReset(Peer peer, int session) {
    if (peer.state == PeerState.UP && session == peer.session) {
      end(peer, DownReason.RESET);
    } else if (session != 0 && session == closedSession(peer)) {
      peer.handshake.closedSession = 0;
    }
  }

  /** The answer lets the peer go: it asks again until it has one. */
  void onClose(Peer peer, long at) {
    int session = peer.session;
    end(peer, DownReason.CLOSED);
    answerEnd(FrameHeader.RESET, peer, session, at);
  }

  private static int closedSession(Peer peer) {
    return peer.handshake == null ? 0 : peer.handshake.closedSession;
  }

  /** This node stops: says so to every peer. */
  void closeAll() {
    assert core.isOwner();
    closing = true;
    closesSentNs = core.nowNs;
    for (int i = core.activeCount - 1; i >= 0; i--) {
      Peer peer = core.active[i];
      if (peer.state == PeerState.UP) {
        close(peer, DownReason.LOCAL_CLOSE);
      } else {
        sender.discardPending(peer);
      }
    }
  }

  /** Every peer that was told of the end has answered. */
  boolean closesAnswered() {
    for (int i = 0; i < core.activeCount; i++) {
      if (closedSession(core.active[i]) != 0) {
        return false;
      }
    }
    return true;
  }

  private void repeatCloses() {
    if (core.nowNs - closesSentNs < CLOSE_INTERVAL_NS) {
      return;
    }
    closesSentNs = core.nowNs;
    for (int i = 0; i < core.activeCount; i++) {
      Peer peer = core.active[i];
      int id =
          closedSession(peer) == 0
              ? 0
              : sealedWord(FrameHeader.CLOSE, peer, peer.handshake.closedSession);
      if (id != 0) {
        core.sendControlWidely(id, peer, 0, WIDE_PATHS);
      }
    }
  }
}
