package org.pmhxb.pm;

import java.lang.foreign.MemorySegment;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.flow.SequenceArray;
import org.pmhxb.pm.flow.Serial;
import org.pmhxb.pm.port.Burst;
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
  private final Acknowledger acknowledger;
  private final Sessions sessions;

  /** For tests: sees each frame between burst and checks; null in production. */
  FrameTap tap;

  Receiver(NodeCore core, Sender sender, Acknowledger acknowledger, Sessions sessions) {
    this.core = core;
    this.sender = sender;
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
      core.counters.add(Counter.FRAMES_RECEIVED, total);
    }
    return total;
  }

  private void receive(int rail, long descriptor) {
    int id = Burst.id(descriptor);
    int frameBytes = Burst.lengthBytes(descriptor);
    long at = core.pool.frameAt(id);
    core.pool.transfer(id, Owner.PORT, Owner.NODE);
    if (tap != null) {
      tap.onFrame(rail, id, core.frames, at, frameBytes);
    }
    int verdict = accept(rail, id, at, frameBytes);
    if (verdict != KEPT) {
      if (verdict < 0) {
        core.counters.dropCode(verdict);
      }
      core.pool.release(id, Owner.NODE);
    }
  }

  /** KEPT, DONE, or why the frame is dropped. */
  private int accept(int rail, int id, long at, int frameBytes) {
    MemorySegment frames = core.frames;
    if (frameBytes < FrameHeader.BYTES) {
      return DropReason.TOO_SHORT.code();
    }
    if (FrameHeader.etherType(frames, at) != FrameHeader.ETHER_TYPE) {
      return DropReason.NOT_OURS.code();
    }
    if (FrameHeader.version(frames, at) >>> 4 != FrameHeader.VERSION_MAJOR) {
      return otherMajor(rail, at, frameBytes);
    }
    if (FrameHeader.hopCheckField(frames, at) != FrameHeader.hopCheck(frames, at)) {
      return DropReason.HOP_CHECK.code();
    }
    int length = FrameHeader.length(frames, at);
    if (FrameHeader.BYTES + length > frameBytes) {
      return DropReason.TOO_SHORT.code();
    }
    int dst = FrameHeader.dst(frames, at);
    if (dst != core.self) {
      return dst == FrameHeader.EVERY_NODE
          ? linkFrame(rail, at, length, frameBytes)
          : relay(rail, id, at, frameBytes);
    }
    if (FrameHeader.crc(frames, at) != core.crc.of(at, length)) {
      return DropReason.CRC.code();
    }
    if (FrameHeader.key(frames, at) != core.config.key()) {
      return DropReason.KEY.code();
    }
    int src = FrameHeader.src(frames, at);
    if (src >= core.peers.length || src == core.self) {
      return DropReason.UNKNOWN_NODE.code();
    }
    return local(core.peer(src), id, at, length);
  }

  /** Counted, and named where it announces itself; nothing but version and source MAC is read. */
  private int otherMajor(int rail, long at, int frameBytes) {
    if (FrameHeader.dstMac(core.frames, at) == FrameHeader.BROADCAST_MAC) {
      core.routing.onLinkFrame(rail, core.frames, at, frameBytes, core.nowNs);
    }
    return DropReason.MAJOR_VERSION.code();
  }

  private int linkFrame(int rail, long at, int length, int frameBytes) {
    if (FrameHeader.kind(core.frames, at) != FrameHeader.DISCOVER) {
      return DropReason.UNKNOWN_KIND.code();
    }
    if (FrameHeader.crc(core.frames, at) != core.crc.of(at, length)) {
      return DropReason.CRC.code();
    }
    core.routing.onLinkFrame(rail, core.frames, at, frameBytes, core.nowNs);
    return DONE;
  }

  /** The very buffer that was received goes on, its hop part rewritten (DESIGN rule 2). */
  private int relay(int rail, int id, long at, int frameBytes) {
    if (FrameHeader.key(core.frames, at) != core.config.key()) {
      return DropReason.KEY.code();
    }
    int egress = core.routing.transit(core.frames, at, frameBytes, rail);
    if (egress < 0) {
      return egress;
    }
    if (!core.rails[egress].putTransit(id, frameBytes)) {
      return DropReason.RELAY_QUEUE_FULL.code();
    }
    core.counters.increment(Counter.RELAYED);
    return KEPT;
  }

  private int local(Peer peer, int id, long at, int length) {
    int kind = FrameHeader.kind(core.frames, at);
    int session = FrameHeader.session(core.frames, at);
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
      return data(peer, id, at, length);
    }
    return control(peer, kind, at, length);
  }

  private int control(Peer peer, int kind, long at, int length) {
    MemorySegment frames = core.frames;
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
    if (length < Sender.PROBE_BYTES) {
      return DropReason.MALFORMED.code();
    }
    int reply = core.controlBuffer();
    if (reply == 0) {
      return DONE;
    }
    long to = core.pool.frameAt(reply);
    MemorySegment.copy(
        core.frames,
        at + FrameHeader.BYTES,
        core.frames,
        to + FrameHeader.BYTES,
        Sender.PROBE_BYTES);
    int bytes = Sender.PROBE_BYTES + acknowledger.write(peer, to, Sender.PROBE_BYTES);
    core.sealControl(reply, FrameHeader.PROBE_REPLY, peer, peer.session, bytes);
    core.sendControl(reply, peer, bytes);
    return DONE;
  }

  private int probeReply(Peer peer, long at, int length) {
    MemorySegment frames = core.frames;
    int rest = length - Sender.PROBE_BYTES;
    int ack = FrameHeader.ack(frames, at);
    if (rest < 0 || !acknowledger.read(peer, at, Sender.PROBE_BYTES, rest, ack)) {
      return DropReason.MALFORMED.code();
    }
    sender.onProbeReply(
        peer,
        FrameHeader.payloadInt(frames, at, 0),
        FrameHeader.payloadInt(frames, at, 4),
        FrameHeader.payloadLong(frames, at, 8));
    sender.detectLoss(peer);
    sender.pump(peer);
    return DONE;
  }

  private int data(Peer peer, int id, long at, int length) {
    MemorySegment frames = core.frames;
    int ack = FrameHeader.ack(frames, at);
    int flags = FrameHeader.flags(frames, at);
    if ((flags & (FrameHeader.FLAG_COALESCED | FrameHeader.FLAG_TAG)) != 0) {
      return DropReason.UNKNOWN_KIND.code();
    }
    if ((flags & FrameHeader.FLAG_FRAGMENT) != 0 && !isFragment(at, length)) {
      return DropReason.MALFORMED.code();
    }
    if (ack != peer.window.unacknowledged()) {
      if (!sender.acknowledgeUpTo(peer, ack)) {
        return DropReason.MALFORMED.code();
      }
      sender.detectLoss(peer);
      sender.pump(peer);
    }
    if ((flags & FrameHeader.FLAG_CREDIT) != 0) {
      acknowledger.credit(
          peer,
          FrameHeader.dstEndpoint(frames, at),
          FrameHeader.srcEndpoint(frames, at),
          FrameHeader.credit(frames, at));
    }
    return order(peer, id, FrameHeader.seq(frames, at));
  }

  /** Whether the fragment header is complete and the fragment lies within its message. */
  private boolean isFragment(long at, int length) {
    if (length < SendBuffer.FRAGMENT_HEADER_BYTES) {
      return false;
    }
    long messageBytes = FrameHeader.payloadInt(core.frames, at, 0) & 0xFFFF_FFFFL;
    long offset = FrameHeader.payloadInt(core.frames, at, 4) & 0xFFFF_FFFFL;
    return offset + length - SendBuffer.FRAGMENT_HEADER_BYTES <= messageBytes;
  }

  private int order(Peer peer, int id, int seq) {
    SequenceArray order = peer.order;
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
    core.pool.transfer(id, Owner.NODE, peer.reorderOwner);
    if (peer.news++ == 0) {
      peer.firstNewsNs = core.nowNs;
    }
    acknowledger.note(peer);
    if (!Serial.before(seq, peer.highest)) {
      peer.highest = seq + 1;
    }
    if (seq != order.next()) {
      core.counters.increment(Counter.OUT_OF_ORDER);
      if (!peer.gapKnown) {
        peer.gapKnown = true;
        peer.ackAtOnce = true;
      }
      return KEPT;
    }
    for (int next = order.take(); next != 0; next = order.take()) {
      deliver(peer, next);
      if (peer.state != PeerState.UP) {
        return KEPT;
      }
    }
    if (peer.highest == order.next()) {
      peer.gapKnown = false;
    }
    return KEPT;
  }

  private void deliver(Peer peer, int id) {
    MemorySegment frames = core.frames;
    long at = core.pool.frameAt(id);
    int srcEndpoint = FrameHeader.srcEndpoint(frames, at);
    int dstEndpoint = FrameHeader.dstEndpoint(frames, at);
    PmEndpoint endpoint = core.endpoint(dstEndpoint);
    InLane lane = peer.lane(srcEndpoint, dstEndpoint);
    if (lane == null || Serial.after(lane.received + 1, lane.limit())) {
      core.counters.drop(DropReason.NO_CREDIT);
      core.pool.release(id, peer.reorderOwner);
      sessions.end(peer, DownReason.CREDIT_VIOLATED);
      return;
    }
    lane.received++;
    if (endpoint == null) {
      core.counters.drop(DropReason.NO_ENDPOINT);
      core.pool.release(id, peer.reorderOwner);
      lane.consume();
      return;
    }
    int length = FrameHeader.length(frames, at);
    core.counters.increment(Counter.DATA_DELIVERED);
    core.counters.add(Counter.BYTES_DELIVERED, length);
    core.pool.transfer(id, peer.reorderOwner, endpoint.inboxOwner);
    endpoint.deliver(peer.node, srcEndpoint, id, FrameHeader.flags(frames, at), length);
  }
}
