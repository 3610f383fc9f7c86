package org.pmhxb.pm;

import java.lang.foreign.MemorySegment;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.flow.SequenceArray;
import org.pmhxb.pm.flow.Serial;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.wire.FrameCrc;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * From the receive burst to the inbox: validate, relay, order, deliver (PROTOCOL.md sections 2.4
 * and 5.2). The order of the checks is the order of PROTOCOL.md. Owner: the poll thread.
 */
final class Receiver {
  private static final int BURST = 32;

  /** The frame's buffer went on: to an egress queue, the sequence array or an inbox. */
  private static final int KEPT = 0;

  /** The frame was a control frame and has done its work. */
  private static final int DONE = 1;

  private final NodeCore core;
  private final Sender sender;
  private final Paths paths;
  private final Acknowledger acknowledger;
  private final Sessions sessions;

  private final BufferPool pool;
  private final MemorySegment frames;
  private final FrameCrc crc;
  private final int key;

  // What this round has done, until it is counted.
  private int delivered;
  private long deliveredBytes;
  private int relayed;

  /** For tests: sees each frame between burst and checks; null in production. */
  FrameTap tap;

  Receiver(
      NodeCore core, Sender sender, Paths paths, Acknowledger acknowledger, Sessions sessions) {
    this.core = core;
    this.pool = core.pool;
    this.frames = core.frames;
    this.crc = core.crc;
    this.key = core.config.key();
    this.sender = sender;
    this.paths = paths;
    this.acknowledger = acknowledger;
    this.sessions = sessions;
  }

  /** One burst from every rail; returns frames received. */
  int receive() {
    int total = 0;
    for (Rail rail : core.rails) {
      int n = rail.port.rxBurst(rail.rx, BURST);
      for (int i = 0; i < n; i++) {
        receive(rail.index, rail.rx.get(i));
      }
      total += n;
    }
    if (total > 0) {
      count(total);
    }
    return total;
  }

  /** Once for all rails: a counter's store is ordered, so one a frame would cost. */
  private void count(int received) {
    core.counters.add(Counter.FRAMES_RECEIVED, received);
    if (delivered > 0) {
      core.counters.add(Counter.DATA_DELIVERED, delivered);
      core.counters.add(Counter.BYTES_DELIVERED, deliveredBytes);
      delivered = 0;
      deliveredBytes = 0;
    }
    if (relayed > 0) {
      core.counters.add(Counter.RELAYED, relayed);
      relayed = 0;
    }
  }

  private void receive(int rail, long descriptor) {
    int id = Burst.id(descriptor);
    int frameBytes = Burst.lengthBytes(descriptor);
    long at = pool.frameAt(id);
    pool.transfer(id, Owner.PORT, Owner.NODE);
    if (tap != null) {
      tap.onFrame(rail, id, frames, at, frameBytes);
    }
    int verdict = accept(rail, id, at, frameBytes);
    if (verdict != KEPT) {
      if (verdict < 0) {
        core.counters.dropCode(verdict);
      }
      pool.release(id, Owner.NODE);
    }
  }

  /** KEPT, DONE, or why the frame is dropped. */
  private int accept(int rail, int id, long at, int frameBytes) {
    if (frameBytes < FrameHeader.BYTES) {
      return DropReason.TOO_SHORT.code();
    }
    long etherWord = FrameHeader.etherWord(frames, at);
    if (FrameHeader.etherTypeOf(etherWord) != FrameHeader.ETHER_TYPE) {
      return DropReason.NOT_OURS.code();
    }
    if (FrameHeader.versionOf(etherWord) >>> 4 != FrameHeader.VERSION_MAJOR) {
      return otherMajor(rail, at, frameBytes);
    }
    if (!FrameHeader.hopCheckHolds(etherWord, FrameHeader.pathWord(frames, at))) {
      return DropReason.HOP_CHECK.code();
    }
    long endpointWord = FrameHeader.endpointWord(frames, at);
    int length = FrameHeader.lengthOf(endpointWord);
    if (FrameHeader.BYTES + length > frameBytes) {
      return DropReason.TOO_SHORT.code();
    }
    long dstWord = FrameHeader.dstWord(frames, at);
    int dst = (int) (dstWord >>> 32) & 0xFF_FFFF;
    if (dst != core.self) {
      return dst == FrameHeader.EVERY_NODE
          ? linkFrame(rail, at, length, frameBytes)
          : relay(rail, id, at, frameBytes);
    }
    long crcWord = FrameHeader.crcWord(frames, at);
    if ((int) (crcWord >>> 32) != crc.of(at, length)) {
      return DropReason.CRC.code();
    }
    if ((int) dstWord != key) {
      return DropReason.KEY.code();
    }
    int src = (int) crcWord & 0xFF_FFFF;
    if (src >= core.peers.length || src == core.self) {
      return DropReason.UNKNOWN_NODE.code();
    }
    Peer peer = core.peer(src);
    int kind = (int) crcWord >>> 24;
    long sessionWord = FrameHeader.sessionWord(frames, at);
    int session = (int) (sessionWord >>> 32);
    if (kind == FrameHeader.DATA && session == peer.session && session != 0) {
      // Nine of ten frames: what follows of inSession() for them.
      peer.heardAt = core.patienceNs;
      return data(peer, id, at, (int) (dstWord >>> 56), (int) sessionWord, endpointWord);
    }
    return local(peer, kind, session, id, at, length);
  }

  /** Counted, and named where it announces itself; nothing but version and source MAC is read. */
  private int otherMajor(int rail, long at, int frameBytes) {
    if (FrameHeader.dstMac(frames, at) == FrameHeader.BROADCAST_MAC) {
      core.routing.onLinkFrame(rail, frames, at, frameBytes, core.nowNs);
    }
    return DropReason.MAJOR_VERSION.code();
  }

  private int linkFrame(int rail, long at, int length, int frameBytes) {
    if (FrameHeader.kind(frames, at) != FrameHeader.DISCOVER) {
      return DropReason.UNKNOWN_KIND.code();
    }
    if (FrameHeader.crc(frames, at) != crc.of(at, length)) {
      return DropReason.CRC.code();
    }
    core.routing.onLinkFrame(rail, frames, at, frameBytes, core.nowNs);
    return DONE;
  }

  /** The very buffer that was received goes on, its hop part rewritten (DESIGN rule 2). */
  private int relay(int rail, int id, long at, int frameBytes) {
    if (FrameHeader.key(frames, at) != key) {
      return DropReason.KEY.code();
    }
    int egress = core.routing.transit(frames, at, frameBytes, rail);
    if (egress < 0) {
      return egress;
    }
    if (!core.rails[egress].putTransit(id, frameBytes)) {
      return DropReason.RELAY_QUEUE_FULL.code();
    }
    relayed++;
    return KEPT;
  }

  private int local(Peer peer, int kind, int session, int id, long at, int length) {
    switch (kind) {
      case FrameHeader.OPEN -> sessions.onOpen(peer, at, length);
      case FrameHeader.OPEN_REPLY -> sessions.onOpenReply(peer, at, length);
      case FrameHeader.RESET -> sessions.onReset(peer, session);
      default -> {
        return inSession(peer, kind, session, id, at, length);
      }
    }
    return DONE;
  }

  private int inSession(Peer peer, int kind, int session, int id, long at, int length) {
    if (session != peer.session || session == 0) {
      if (session == 0 || session != peer.candidateSession) {
        sessions.onUnknownSession(peer, session);
        return DONE;
      }
      sessions.confirmCandidate(peer);
    }
    peer.heardAt = core.patienceNs;
    if (kind == FrameHeader.DATA) {
      int flags = FrameHeader.flags(frames, at);
      int seq = FrameHeader.seq(frames, at);
      return data(peer, id, at, flags, seq, FrameHeader.endpointWord(frames, at));
    }
    return control(peer, kind, at, length);
  }

  private int control(Peer peer, int kind, long at, int length) {
    switch (kind) {
      case FrameHeader.ACK_KIND -> {
        core.counters.increment(Counter.ACKS_RECEIVED);
        if (!acknowledger.read(peer, at, 0, length, FrameHeader.ack(frames, at))) {
          return DropReason.MALFORMED.code();
        }
      }
      case FrameHeader.PROBE -> {
        return answerProbe(peer, at, length);
      }
      case FrameHeader.PROBE_REPLY -> {
        return probeReply(peer, at, length);
      }
      case FrameHeader.CREDIT_REQUEST ->
          acknowledger.onCreditRequest(
              peer, FrameHeader.srcEndpoint(frames, at), FrameHeader.dstEndpoint(frames, at));
      case FrameHeader.CLOSE -> sessions.onClose(peer);
      case FrameHeader.OPEN_CONFIRM -> {
        // Its session number was all it had to say.
      }
      default -> {
        return DropReason.UNKNOWN_KIND.code();
      }
    }
    return DONE;
  }

  /** Echoes the probe, with all that has arrived so far in front of the echo's meaning. */
  private int answerProbe(Peer peer, long at, int length) {
    if (length < Paths.PROBE_BYTES) {
      return DropReason.MALFORMED.code();
    }
    int reply = core.controlBuffer();
    if (reply == 0) {
      return DONE;
    }
    long to = pool.frameAt(reply);
    MemorySegment.copy(
        frames, at + FrameHeader.BYTES, frames, to + FrameHeader.BYTES, Paths.PROBE_BYTES);
    int bytes = Paths.PROBE_BYTES + acknowledger.write(peer, to, Paths.PROBE_BYTES);
    core.sealControl(reply, FrameHeader.PROBE_REPLY, peer, peer.session, bytes);
    core.sendControl(reply, peer, bytes);
    return DONE;
  }

  private int probeReply(Peer peer, long at, int length) {
    int rest = length - Paths.PROBE_BYTES;
    int ack = FrameHeader.ack(frames, at);
    if (rest < 0 || !acknowledger.read(peer, at, Paths.PROBE_BYTES, rest, ack)) {
      return DropReason.MALFORMED.code();
    }
    paths.onProbeReply(
        peer,
        FrameHeader.payloadInt(frames, at, 0),
        FrameHeader.payloadInt(frames, at, 4),
        FrameHeader.payloadLong(frames, at, 8));
    paths.detectLoss(peer);
    sender.pump(peer);
    return DONE;
  }

  private int data(Peer peer, int id, long at, int flags, int seq, long endpointWord) {
    int ack = FrameHeader.ack(frames, at);
    if ((flags & (FrameHeader.FLAG_COALESCED | FrameHeader.FLAG_TAG)) != 0) {
      return DropReason.UNKNOWN_KIND.code();
    }
    if ((flags & FrameHeader.FLAG_FRAGMENT) != 0
        && !isFragment(at, FrameHeader.lengthOf(endpointWord))) {
      return DropReason.MALFORMED.code();
    }
    if (ack != peer.window.unacknowledged()) {
      if (!sender.acknowledgeUpTo(peer, ack)) {
        return DropReason.MALFORMED.code();
      }
      paths.detectLoss(peer);
      sender.pump(peer);
    }
    if ((flags & FrameHeader.FLAG_CREDIT) != 0) {
      acknowledger.credit(
          peer,
          FrameHeader.dstEndpointOf(endpointWord),
          FrameHeader.srcEndpointOf(endpointWord),
          FrameHeader.credit(frames, at));
    }
    return order(peer, id, seq, flags, endpointWord);
  }

  /** Whether the fragment header is complete and the fragment lies within its message. */
  private boolean isFragment(long at, int length) {
    if (length < SendBuffer.FRAGMENT_HEADER_BYTES) {
      return false;
    }
    long messageBytes = FrameHeader.payloadInt(frames, at, 0) & 0xFFFF_FFFFL;
    long offset = FrameHeader.payloadInt(frames, at, 4) & 0xFFFF_FFFFL;
    return offset + length - SendBuffer.FRAGMENT_HEADER_BYTES <= messageBytes;
  }

  private int order(Peer peer, int id, int seq, int flags, long endpointWord) {
    SequenceArray order = peer.order;
    if (order.passOwned(seq)) {
      countNews(peer, seq);
      deliver(peer, id, Owner.NODE, flags, endpointWord);
      if (peer.state == PeerState.UP) {
        deliverNext(peer);
      }
      return KEPT;
    }
    int result = order.insertOwned(seq, id);
    if (result != SequenceArray.INSERTED) {
      if (result == SequenceArray.OUT_OF_WINDOW) {
        return DropReason.OUT_OF_WINDOW.code();
      }
      peer.duplicates++;
      peer.ackAtOnce = true;
      acknowledger.note(peer);
      return DropReason.DUPLICATE.code();
    }
    pool.transfer(id, Owner.NODE, peer.reorderOwner);
    countNews(peer, seq);
    core.counters.increment(Counter.OUT_OF_ORDER);
    if (!peer.gapKnown) {
      peer.gapKnown = true;
      peer.ackAtOnce = true;
    }
    acknowledger.note(peer);
    return KEPT;
  }

  private void countNews(Peer peer, int seq) {
    if (peer.news++ == 0) {
      peer.firstNewsNs = core.nowNs;
    }
    if (!Serial.before(seq, peer.highest)) {
      peer.highest = seq + 1;
    }
  }

  /** A frame went to its endpoint: those that waited for it follow. */
  private void deliverNext(Peer peer) {
    SequenceArray order = peer.order;
    if (peer.highest != order.next()) {
      for (int id = order.take(); id != 0; id = order.take()) {
        long at = pool.frameAt(id);
        int flags = FrameHeader.flags(frames, at);
        deliver(peer, id, peer.reorderOwner, flags, FrameHeader.endpointWord(frames, at));
        if (peer.state != PeerState.UP) {
          return;
        }
      }
    }
    if (peer.highest == order.next()) {
      peer.gapKnown = false;
    }
    acknowledger.note(peer);
  }

  private void deliver(Peer peer, int id, int owner, int flags, long endpointWord) {
    int srcEndpoint = FrameHeader.srcEndpointOf(endpointWord);
    int dstEndpoint = FrameHeader.dstEndpointOf(endpointWord);
    PmEndpoint endpoint = core.endpoint(dstEndpoint);
    InLane lane = peer.lane(srcEndpoint, dstEndpoint);
    if (lane == null || Serial.after(lane.received + 1, lane.limit())) {
      core.counters.drop(DropReason.NO_CREDIT);
      pool.release(id, owner);
      sessions.end(peer, DownReason.CREDIT_VIOLATED);
      return;
    }
    lane.received++;
    if (endpoint == null) {
      core.counters.drop(DropReason.NO_ENDPOINT);
      pool.release(id, owner);
      lane.consume();
      return;
    }
    int length = FrameHeader.lengthOf(endpointWord);
    delivered++;
    deliveredBytes += length;
    pool.transfer(id, owner, endpoint.inboxOwner);
    endpoint.deliver(peer.node, srcEndpoint, id, flags, length);
  }
}
