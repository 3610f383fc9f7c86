package org.pmhxb.mpi.engine;

import java.lang.foreign.MemorySegment;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.SendBuffer;

/**
 * The sending half of an {@link Engine}: envelopes and heads in the order of the program, the rest
 * of granted messages, answers. Never waits: what finds no credit is tried in a later round. Owner:
 * the poll thread.
 */
final class Transmitter {
  private static final int FRAMES_PER_ROUND = 64;

  /**
   * What a transfer sends before the next to the same rank has its turn. Transfers that went side
   * by side would end side by side, and the links idle until the program has posted the next ones.
   */
  private static final int TURN_BYTES = 4 << 20;

  private final PmEndpoint endpoint;
  private final EngineLimits limits;
  private final EngineCounters counters;
  private final int frameBytes;

  /** Sends that wait for an answer. */
  private final HandleTable<SendOperation> sends = new HandleTable<>();

  /** Channels that have something to send. */
  private final PeerChannel[] active;

  private int activeCount;
  private int epoch;

  Transmitter(
      PmEndpoint endpoint,
      EngineLimits limits,
      EngineCounters counters,
      int frameBytes,
      int ranks) {
    this.endpoint = endpoint;
    this.limits = limits;
    this.counters = counters;
    this.frameBytes = frameBytes;
    this.active = new PeerChannel[ranks];
  }

  void nextEpoch(int next) {
    epoch = next;
  }

  /** Something waits to be sent. */
  boolean isBusy() {
    return activeCount > 0;
  }

  /** All that was ever sent there is stored by its node. */
  boolean isStored(PeerChannel to) {
    return !to.hasOutput()
        && (to.lastTicket == 0 || endpoint.acknowledged(to.node, Engine.ENDPOINT) >= to.lastTicket);
  }

  void begin(PeerChannel to, SendOperation op) {
    to.starting.add(op);
    activate(to);
  }

  /** Nothing can be sent there any more. */
  void failAll(PeerChannel to, String reason) {
    to.starting.forEach(op -> op.fail(reason));
    to.starting.clear();
    to.granted.forEach(op -> op.fail(reason));
    to.granted.clear();
    to.answers.clear();
    sends.forEach(
        op -> {
          if (op.dst == to.rank) {
            sends.remove(op.handle);
            op.fail(reason);
          }
        });
  }

  private void activate(PeerChannel channel) {
    if (!channel.active) {
      channel.active = true;
      active[activeCount++] = channel;
    }
  }

  /** One bounded round over all channels. */
  int sendAll() {
    int work = 0;
    for (int i = activeCount - 1; i >= 0; i--) {
      PeerChannel channel = active[i];
      work += sendSome(channel);
      if (!channel.hasOutput()) {
        channel.active = false;
        active[i] = active[--activeCount];
        active[activeCount] = null;
      }
    }
    return work;
  }

  /** Answers first, then new messages and granted ones by turns. */
  private int sendSome(PeerChannel to) {
    int n = 0;
    while (n < FRAMES_PER_ROUND && to.hasOutput()) {
      int before = n;
      if (!to.answers.isEmpty()) {
        n += sendAnswer(to) ? 1 : 0;
      } else {
        if (!to.starting.isEmpty()) {
          n += sendHead(to) ? 1 : 0;
        }
        if (!to.granted.isEmpty()) {
          n += sendData(to) ? 1 : 0;
        }
      }
      if (n == before) {
        break; // No credit or no buffer: again in a later round.
      }
    }
    return n;
  }

  private boolean sendAnswer(PeerChannel to) {
    SendBuffer b = endpoint.claim(to.node, Engine.ENDPOINT, Envelope.CONTROL_BYTES);
    if (b == null) {
      return false;
    }
    PeerChannel.Answer a = to.answers.poll();
    to.unanswered -= a.kind() == Envelope.FREED ? 0 : 1;
    to.freedTold = to.freedHere;
    Envelope.common(b.memory(), b.offset(), a.kind(), a.flags(), epoch, a.handle());
    Envelope.control(b.memory(), b.offset(), to.freedHere, a.toHandle());
    to.lastTicket = endpoint.send(b);
    return true;
  }

  private boolean sendHead(PeerChannel to) {
    SendOperation op = to.starting.peek();
    boolean first = op.sent < 0;
    if (first && !begun(to, op)) {
      return true;
    }
    int header = first ? Envelope.FIRST_BYTES : Envelope.NEXT_BYTES;
    long done = Math.max(0, op.sent);
    int part = (int) Math.min(frameBytes - header, op.headBytes - done);
    SendBuffer b = endpoint.claim(to.node, Engine.ENDPOINT, header + part);
    if (b == null) {
      return false;
    }
    MemorySegment m = b.memory();
    long at = b.offset();
    if (first) {
      int flags = op.synchronous ? Envelope.FLAG_SYNCHRONOUS : 0;
      int kind = op.rendezvous ? Envelope.RENDEZVOUS : Envelope.EAGER;
      Envelope.common(m, at, kind, flags, epoch, op.handle);
      Envelope.first(m, at, op, to.freedHere);
      to.freedTold = to.freedHere;
      to.headsSent += cost(op.headBytes);
    } else {
      Envelope.common(m, at, Envelope.HEAD, 0, epoch, 0);
      Envelope.next(m, at, done);
    }
    op.payload.read(done, m, at + header, part);
    to.lastTicket = endpoint.send(b);
    counters.bytesSent += part;
    op.sent = done + part;
    if (op.sent == op.headBytes) {
      to.starting.poll();
      headSent(to, op);
    }
    return true;
  }

  /** Decides how a message travels, once, when its turn has come. */
  private boolean begun(PeerChannel to, SendOperation op) {
    if (op.decided) {
      return true; // In a round that found no credit.
    }
    op.decided = true;
    long bytes = op.payload.bytes();
    long room = limits.unexpectedBytes() - (to.headsSent - to.headsFreed);
    int head = (int) Math.min(bytes, bytes <= limits.eagerBytes() ? bytes : headBytesMax(room));
    boolean fits = cost(head) <= room;
    op.headBytes = fits ? head : 0;
    op.rendezvous = !fits || head < bytes;
    if (op.rendezvous || op.synchronous) {
      op.handle = sends.add(op);
      if (op.handle == 0) {
        to.starting.poll();
        op.fail("too many sends wait for an answer (" + HandleTable.MOST + ")");
        return false;
      }
    }
    return true;
  }

  /** How much of a long message may go ahead: a part of what the receiver has room for. */
  private long headBytesMax(long room) {
    int least = limits.headBytes();
    return least == 0
        ? 0
        : Math.clamp(room / 4, least, Math.max(least, EngineLimits.HEAD_BYTES_MAX));
  }

  private void headSent(PeerChannel to, SendOperation op) {
    if (op.rendezvous) {
      counters.rendezvousSent++;
    } else {
      counters.eagerSent++;
    }
    if (op.handle == 0) {
      goOn(to, op);
    }
  }

  /** The head is out, and no answer is awaited. */
  private void goOn(PeerChannel to, SendOperation op) {
    if (op.wanted && op.sent < op.payload.bytes()) {
      to.granted.add(op);
      activate(to);
    } else {
      op.complete();
    }
  }

  private boolean sendData(PeerChannel to) {
    SendOperation op = to.granted.peek();
    long left = op.payload.bytes() - op.sent;
    int part = (int) Math.min(frameBytes - Envelope.NEXT_BYTES, left);
    SendBuffer b = endpoint.claim(to.node, Engine.ENDPOINT, Envelope.NEXT_BYTES + part);
    if (b == null) {
      return false;
    }
    Envelope.common(b.memory(), b.offset(), Envelope.DATA, 0, epoch, op.toHandle);
    Envelope.next(b.memory(), b.offset(), op.sent);
    op.payload.read(op.sent, b.memory(), b.offset() + Envelope.NEXT_BYTES, part);
    to.lastTicket = endpoint.send(b);
    counters.bytesSent += part;
    op.sent += part;
    if (part == left) {
      to.granted.poll();
      op.complete();
      to.turnBytes = 0;
    } else if ((to.turnBytes += part) >= TURN_BYTES) {
      to.granted.add(to.granted.poll());
      to.turnBytes = 0;
    }
    return true;
  }

  /** What a head counts for at its receiver until it is matched. Nothing waits of an empty one. */
  static long cost(int headBytes) {
    return headBytes + EngineLimits.ENVELOPE_COST_BYTES;
  }

  /** Queues a short answer. */
  void answer(PeerChannel to, int kind, int flags, int handle, int toHandle) {
    if (to.down == null) {
      to.answers.add(new PeerChannel.Answer(kind, flags, handle, toHandle));
      activate(to);
    }
  }

  /** A GRANT, MATCHED or FREED came; false when it makes no sense. */
  boolean onAnswer(PeerChannel from, MemorySegment frame, long at) {
    int kind = Envelope.kind(frame, at);
    SendOperation op = sends.get(Envelope.handle(frame, at));
    boolean expected =
        kind == Envelope.FREED
            || op != null
                && op.dst == from.rank
                && op.sent >= 0
                && op.rendezvous == (kind == Envelope.GRANT);
    if (!expected || !heardFreed(from, Envelope.freedByControl(frame, at))) {
      return false;
    }
    if (kind == Envelope.FREED) {
      return true;
    }
    sends.remove(op.handle);
    op.handle = 0;
    op.toHandle = Envelope.toHandle(frame, at);
    op.wanted = kind == Envelope.GRANT && (Envelope.flags(frame, at) & Envelope.FLAG_DISCARD) == 0;
    if (op.sent == op.headBytes) {
      goOn(from, op);
    } // Else the answer overtook the rest of the head.
    return true;
  }

  /** Room that the peer says it has again: never more than was used. */
  static boolean heardFreed(PeerChannel from, long freed) {
    if (freed < from.headsFreed || freed > from.headsSent) {
      return false;
    }
    from.headsFreed = freed;
    return true;
  }
}
