package org.pmhxb.cost;

import java.lang.foreign.MemorySegment;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.PmNode;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * All peers of the node under test, played frame by frame as PROTOCOL.md sections 4.1 and 6 have
 * it: they open sessions and exchange credit, so that thousands of them cost no memory. The node
 * under test has number 0, so it is the one that opens. Owner: the benchmark's thread.
 */
final class FarPeers {
  /** Data frames of both directions count from here. */
  static final int FIRST_SEQ = 0;

  /** A duty cycle of the handshake; the poll gap that acknowledgements tell of later. */
  static final long ROUND_NS = 1_000;

  private static final int AT_ONCE = 64;
  private static final int ROUNDS_MAX = 10_000;
  private static final int OPENING_BYTES = 24;
  private static final int REPLY_BYTES = OPENING_BYTES + 16;
  private static final int PROBE_BYTES = 16;
  private static final int ACK_FIXED_BYTES = 16;

  private final Lab lab;
  private final PmNode node;
  private final int peers;
  private final int limit;
  private final int endpoint;
  private final int[] session;
  private final int[] granted;
  private long nowNs;

  /**
   * @param limit credit that each peer gives the node
   */
  FarPeers(Lab lab, PmNode node, int peers, int limit, int endpoint) {
    this.lab = lab;
    this.node = node;
    this.peers = peers;
    this.limit = limit;
    this.endpoint = endpoint;
    this.session = new int[peers + 1];
    this.granted = new int[peers + 1];
  }

  /**
   * Opens all sessions.
   *
   * @return the time after the last duty cycle
   */
  long open(PmEndpoint own, long startNs) {
    nowNs = startNs;
    for (int from = 1; from <= peers; from += AT_ONCE) {
      int to = Math.min(peers, from + AT_ONCE - 1);
      for (int peer = from; peer <= to; peer++) {
        // Nothing to be had yet: this asks for a session and for credit.
        if (own.claim(peer, 0) != null) {
          throw new IllegalStateException("credit without a session");
        }
      }
      for (int i = 0; !settled(own, from, to); i++) {
        if (i == ROUNDS_MAX) {
          throw new IllegalStateException("no session with nodes " + from + ".." + to);
        }
        round();
      }
    }
    return nowNs;
  }

  private boolean settled(PmEndpoint own, int from, int to) {
    for (int peer = from; peer <= to; peer++) {
      if (session[peer] == 0 || granted[peer] == 0) {
        return false;
      }
    }
    for (int peer = from; peer <= to; peer++) {
      var claim = own.claim(peer, 0);
      if (claim == null) {
        return false;
      }
      claim.abort();
    }
    return true;
  }

  private void round() {
    nowNs += ROUND_NS;
    node.doWork(nowNs);
    for (int r = 0; r < lab.rails(); r++) {
      for (int n = lab.fromNode(r); n > 0; n = lab.fromNode(r)) {
        long[] arrived = new long[n];
        for (int i = 0; i < n; i++) {
          arrived[i] = lab.burst.get(i);
        }
        for (long d : arrived) {
          answer(lab.pool.frameAt(Burst.id(d)), r);
          lab.release(d);
        }
      }
    }
  }

  private void answer(long at, int rail) {
    MemorySegment frames = lab.frames;
    int peer = FrameHeader.dst(frames, at);
    switch (FrameHeader.kind(frames, at)) {
      case FrameHeader.OPEN -> openReply(at, peer, rail);
      case FrameHeader.OPEN_CONFIRM -> {
        session[peer] = FrameHeader.session(frames, at);
        send(FrameHeader.CREDIT_REQUEST, peer, rail, begin(), 0);
      }
      case FrameHeader.CREDIT_REQUEST -> grant(peer, rail);
      case FrameHeader.ACK_KIND -> {
        if ((FrameHeader.payloadInt(frames, at, 12) & 0xFFFF) == 1) {
          granted[peer] = FrameHeader.payloadInt(frames, at, ACK_FIXED_BYTES + 4);
        }
      }
      case FrameHeader.PROBE -> probeReply(at, peer, rail);
      case FrameHeader.DISCOVER -> {
        // Addresses on a line are given.
      }
      default ->
          throw new IllegalStateException(
              "frame of kind " + FrameHeader.kind(frames, at) + " in a handshake");
    }
  }

  private long begin() {
    lab.allocate(1);
    return lab.id(0);
  }

  private void openReply(long open, int peer, int rail) {
    long id = begin();
    long at = lab.pool.frameAt((int) id);
    MemorySegment frames = lab.frames;
    FrameHeader.payloadLong(frames, at, 0, incarnation(peer));
    FrameHeader.payloadLong(frames, at, 8, ~incarnation(peer));
    FrameHeader.payloadInt(frames, at, 16, FIRST_SEQ);
    FrameHeader.payloadInt(frames, at, 20, Lab.WINDOW_FRAMES);
    FrameHeader.payloadLong(frames, at, 24, FrameHeader.payloadLong(frames, open, 8));
    FrameHeader.payloadLong(frames, at, 32, FrameHeader.payloadLong(frames, open, 0));
    session[peer] = 0;
    send(FrameHeader.OPEN_REPLY, peer, rail, id, REPLY_BYTES);
  }

  /** A session begins with a probe of every path; nothing has arrived yet. */
  private void probeReply(long probe, int peer, int rail) {
    long id = begin();
    long at = lab.pool.frameAt((int) id);
    MemorySegment frames = lab.frames;
    FrameHeader.payloadLong(frames, at, 0, FrameHeader.payloadLong(frames, probe, 0));
    FrameHeader.payloadLong(frames, at, 8, FrameHeader.payloadLong(frames, probe, 8));
    FrameHeader.payloadInt(frames, at, 16, FIRST_SEQ);
    FrameHeader.payloadInt(frames, at, 20, 0);
    FrameHeader.payloadInt(frames, at, 24, 0);
    FrameHeader.payloadInt(frames, at, 28, 0);
    send(FrameHeader.PROBE_REPLY, peer, rail, id, PROBE_BYTES + ACK_FIXED_BYTES);
  }

  private static long incarnation(int peer) {
    return peer + 1L;
  }

  private void grant(int peer, int rail) {
    long id = begin();
    long at = lab.pool.frameAt((int) id);
    MemorySegment frames = lab.frames;
    FrameHeader.payloadInt(frames, at, 0, FIRST_SEQ);
    FrameHeader.payloadInt(frames, at, 4, 0);
    FrameHeader.payloadInt(frames, at, 8, 0);
    FrameHeader.payloadInt(frames, at, 12, 1);
    FrameHeader.payloadInt(frames, at, 16, endpoint << 16 | endpoint);
    FrameHeader.payloadInt(frames, at, 20, limit);
    send(FrameHeader.ACK_KIND, peer, rail, id, ACK_FIXED_BYTES + 8);
  }

  private void send(int kind, int peer, int rail, long id, int payloadBytes) {
    long at = lab.pool.frameAt((int) id);
    header(lab, at, kind, peer, session[peer], rail, payloadBytes);
    if (kind == FrameHeader.CREDIT_REQUEST) {
      FrameHeader.endpointsLengthBeyond(lab.frames, at, endpoint, endpoint, payloadBytes, 0);
    }
    FrameHeader.crc(lab.frames, at, lab.crc.of(at, payloadBytes));
    lab.burst.set(0, Burst.descriptor((int) id, FrameHeader.BYTES + payloadBytes));
    lab.toNode(rail, 1);
  }

  /** All of a peer's frame to the node but payload and CRC. */
  static void header(
      Lab lab, long at, int kind, int peer, int session, int rail, int payloadBytes) {
    FrameHeader.front(
        lab.frames, at, lab.port(rail).macAddress(), Lab.mac(peer, rail), 1, 0, rail << 8);
    FrameHeader.kindSrc(lab.frames, at, kind, peer);
    FrameHeader.flagsDst(lab.frames, at, 0, 0);
    FrameHeader.keySession(lab.frames, at, Lab.KEY, session);
    FrameHeader.seqAck(lab.frames, at, 0, FIRST_SEQ);
    FrameHeader.credit(lab.frames, at, 0);
    FrameHeader.endpointsLengthBeyond(lab.frames, at, 0, 0, payloadBytes, 0);
  }

  int session(int peer) {
    return session[peer];
  }

  /** Credit that a peer has at the node. */
  int granted(int peer) {
    return granted[peer];
  }
}
