package org.pmhxb.mpi.engine;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.pmhxb.pm.Message;

/**
 * The receiving half of an {@link Engine}: brings messages and receives together and moves the
 * bytes. Owner: the poll thread.
 */
final class Reception {
  /** Shorter ones are copied when nobody has asked for them: a frame's buffer is worth more. */
  private static final int COPY_BYTES_MAX = 1_024;

  private final EngineLimits limits;
  private final EngineCounters counters;
  private final Transmitter transmitter;
  private final PostedReceives posted = new PostedReceives();
  private final UnexpectedMessages unexpected = new UnexpectedMessages();

  /** Receives whose message is on its way after a GRANT. */
  private final HandleTable<ReceiveOperation> receives = new HandleTable<>();

  private final List<ProbeOperation> probes = new ArrayList<>();
  private int epoch;

  Reception(EngineLimits limits, EngineCounters counters, Transmitter transmitter) {
    this.limits = limits;
    this.counters = counters;
    this.transmitter = transmitter;
  }

  // --- operations ---------------------------------------------------------------------------

  /**
   * @param down why nothing can come any more from where the receive looks; null when it can
   */
  void begin(ReceiveOperation op, String down) {
    Incoming m = unexpected.find(epoch, op.context, op.source, op.tag);
    if (m != null) {
      unexpected.remove(m);
      bind(m, op);
    } else if (down != null) {
      op.fail(down);
    } else if (op.immediate) {
      op.complete();
    } else {
      posted.add(epoch, op);
    }
  }

  /**
   * @param down as for a receive
   */
  void begin(ProbeOperation op, String down) {
    Incoming m = unexpected.find(epoch, op.context, op.source, op.tag);
    if (m != null) {
      op.arrival = m.arrival;
      op.complete();
    } else if (down != null) {
      op.fail(down); // also of one that asks again and again
    } else if (op.waits) {
      probes.add(op);
    } else {
      op.complete();
    }
  }

  /** Messages that nobody received are gone; those of a job that others have begun wait. */
  void nextEpoch(int next) {
    failWaiting(source -> true, "MPI was finalized before this operation completed");
    int old = epoch;
    epoch = next;
    for (Incoming m : unexpected.all()) {
      if (m.epoch == old) {
        unexpected.remove(m);
        discard(m);
      }
    }
  }

  /** Receives and probes that look at such a source and have found nothing. */
  void failWaiting(Predicate<Integer> source, String reason) {
    posted.removeIf(op -> source.test(op.source)).forEach(op -> op.fail(reason));
    probes.removeIf(
        op -> {
          boolean hopeless = source.test(op.source);
          if (hopeless) {
            op.fail(reason);
          }
          return hopeless;
        });
  }

  /** Nothing comes from there any more: what is on its way, and what was announced only. */
  void failAll(PeerChannel from, String reason) {
    receives.forEach(
        op -> {
          if (op.from == from) {
            receives.remove(op.handle);
            op.fail(reason);
          }
        });
    Incoming current = from.current;
    if (current != null) {
      from.current = null;
      if (current.op != null) {
        current.op.fail(reason);
      } else if (current.waiting) {
        unexpected.remove(current);
        current.release();
      }
    }
    for (Incoming m : unexpected.all()) {
      long bytes = (long) m.arrival.staticBytes() + m.arrival.dynamicBytes();
      if (m.from == from && m.headBytes < bytes) {
        unexpected.remove(m);
        m.release();
      }
    }
  }

  /** Gives back every frame that a waiting message holds. */
  void releaseAll() {
    for (Incoming m : unexpected.all()) {
      unexpected.remove(m);
      m.release();
    }
  }

  int postedReceives() {
    return posted.size();
  }

  int unexpectedMessages() {
    return unexpected.size();
  }

  // --- frames -------------------------------------------------------------------------------

  /** An envelope came; false when the frame makes no sense: nothing was changed then. */
  boolean onFirst(PeerChannel from, Message m, MemorySegment frame, long at) {
    int part = m.lengthBytes() - Envelope.FIRST_BYTES;
    Incoming in = part < 0 || from.current != null ? null : incoming(from, frame, at, part);
    if (in == null || !Transmitter.heardFreed(from, Envelope.freedByFirst(frame, at))) {
      return false;
    }
    from.stored += Transmitter.cost(in.headBytes);
    from.unanswered += in.rendezvous || in.synchronous ? 1 : 0;
    ReceiveOperation op = null;
    if (in.epoch != epoch && (short) (in.epoch - epoch) < 0) {
      discard(in);
    } else if (in.epoch == epoch) {
      op = posted.match(epoch, in.context, from.rank, in.arrival.tag());
    }
    long dataAt = at + Envelope.FIRST_BYTES;
    if (op != null) {
      bind(in, op);
      if (part > 0) {
        arrive(in, frame, dataAt, part);
      }
    } else if (in.discarded) {
      in.arrived += part;
    } else {
      keep(in, m, frame, dataAt, part);
      unexpected.add(in);
      counters.unexpected++;
      tellProbes(in);
    }
    from.current = in.headComplete() ? null : in;
    return true;
  }

  /** The message that an envelope announces; null when the envelope contradicts itself. */
  private Incoming incoming(PeerChannel from, MemorySegment frame, long at, int part) {
    int flags = Envelope.flags(frame, at);
    int staticBytes = Envelope.staticBytes(frame, at);
    int dynamicBytes = Envelope.dynamicBytes(frame, at);
    int head = Envelope.headBytes(frame, at);
    boolean rendezvous = Envelope.kind(frame, at) == Envelope.RENDEZVOUS;
    boolean synchronous = (flags & Envelope.FLAG_SYNCHRONOUS) != 0;
    long bytes = (long) staticBytes + dynamicBytes;
    boolean lengthsFit =
        staticBytes >= 0
            && dynamicBytes >= 0
            && bytes <= Integer.MAX_VALUE
            && head >= 0
            && head <= Math.min(bytes, EngineLimits.HEAD_BYTES_MAX)
            && part <= head
            && (part > 0 || head == 0)
            && (rendezvous || head == bytes);
    boolean withinLimits =
        rendezvous && head == 0
            || from.stored + Transmitter.cost(head)
                <= limits.unexpectedBytes() + EngineLimits.HEAD_BYTES_MAX;
    boolean hasHandle = !rendezvous && !synchronous || from.unanswered < HandleTable.MOST;
    int type = Envelope.type(frame, at);
    boolean numbersFit =
        type >= 0
            && type < Envelope.TYPES
            && Envelope.elements(frame, at) >= 0
            && Envelope.tag(frame, at) >= 0;
    if (!lengthsFit || !withinLimits || !hasHandle || !numbersFit) {
      return null;
    }
    Arrival arrival =
        new Arrival(
            from.rank,
            Envelope.tag(frame, at),
            type,
            Envelope.elements(frame, at),
            staticBytes,
            dynamicBytes);
    return new Incoming(
        from,
        arrival,
        Envelope.epoch(frame, at),
        Envelope.context(frame, at),
        head,
        Envelope.handle(frame, at),
        rendezvous,
        synchronous);
  }

  /** A message that nobody has asked for: its frame goes on loan, or its bytes are copied. */
  private void keep(Incoming in, Message m, MemorySegment frame, long at, int part) {
    in.arrived += part;
    if (part == 0) {
      return;
    }
    var loan = part == in.headBytes && part > COPY_BYTES_MAX ? m.retain() : null;
    if (loan != null) {
      in.store(loan, Envelope.FIRST_BYTES);
      counters.bytesCopiedUnexpected += loan.isCopy() ? part : 0;
    } else {
      in.store(frame, at, 0, part);
      counters.bytesCopiedUnexpected += part;
    }
  }

  /** More of the head of the last envelope. */
  boolean onHead(PeerChannel from, MemorySegment frame, long at, int length) {
    Incoming in = from.current;
    int part = length - Envelope.NEXT_BYTES;
    if (in == null
        || Envelope.offset(frame, at) != in.arrived
        || part <= 0
        || part > in.headBytes - in.arrived) {
      return false;
    }
    long dataAt = at + Envelope.NEXT_BYTES;
    if (in.op != null) {
      arrive(in, frame, dataAt, part);
    } else {
      if (!in.discarded) {
        in.store(frame, dataAt, in.arrived, part);
        counters.bytesCopiedUnexpected += part;
      }
      in.arrived += part;
    }
    if (in.headComplete()) {
      from.current = null;
    }
    return true;
  }

  /** The rest of a message that was granted. */
  boolean onData(PeerChannel from, MemorySegment frame, long at, int length) {
    ReceiveOperation op = receives.get(Envelope.handle(frame, at));
    int part = length - Envelope.NEXT_BYTES;
    if (op == null
        || op.from != from
        || from.current != null && from.current.op == op // The head comes first.
        || Envelope.offset(frame, at) != op.arrived
        || part <= 0
        || part > op.payload.bytes() - op.arrived) {
      return false;
    }
    op.payload.write(op.arrived, frame, at + Envelope.NEXT_BYTES, part);
    op.arrived += part;
    counters.bytesReceived += part;
    if (op.arrived == op.payload.bytes()) {
      receives.remove(op.handle);
      op.complete();
    }
    return true;
  }

  /** A message has met its receive. */
  private void bind(Incoming in, ReceiveOperation op) {
    op.from = in.from;
    op.arrival = in.arrival;
    String problem = op.prepare(in.arrival.staticBytes(), in.arrival.dynamicBytes());
    if (problem != null) {
      op.fail(problem);
      discard(in);
      return;
    }
    in.op = op;
    free(in);
    in.unload(op.payload);
    op.arrived = in.arrived;
    counters.bytesReceived += in.arrived;
    if (in.synchronous && !in.rendezvous) {
      transmitter.answer(in.from, Envelope.MATCHED, 0, in.senderHandle, 0);
    }
    boolean whole = in.headBytes == op.payload.bytes();
    if (in.rendezvous && !whole) {
      op.handle = receives.add(op);
      if (op.handle == 0) {
        op.fail("too many receives are under way (" + HandleTable.MOST + ")");
        discard(in);
        return;
      }
    }
    if (in.rendezvous) {
      transmitter.answer(in.from, Envelope.GRANT, 0, in.senderHandle, op.handle);
    }
    if (whole && in.headComplete()) {
      op.complete();
    }
  }

  /** Bytes of a head go to where they are wanted. */
  private void arrive(Incoming in, MemorySegment frame, long at, int part) {
    if (in.op == null) {
      in.arrived += part; // It was refused as too long.
      return;
    }
    ReceiveOperation op = in.op;
    op.payload.write(in.arrived, frame, at, part);
    in.arrived += part;
    op.arrived += part;
    counters.bytesReceived += part;
    if (op.handle == 0 && op.arrived == op.payload.bytes()) {
      op.complete();
    }
  }

  /** Nobody gets this message; its sender must not wait for that. */
  private void discard(Incoming in) {
    in.discarded = true;
    in.op = null;
    free(in);
    in.release();
    if (in.rendezvous) {
      transmitter.answer(in.from, Envelope.GRANT, Envelope.FLAG_DISCARD, in.senderHandle, 0);
    } else if (in.synchronous) {
      transmitter.answer(in.from, Envelope.MATCHED, 0, in.senderHandle, 0);
    }
  }

  /** The head needs no room here any more. */
  private void free(Incoming in) {
    if (in.freed) {
      return;
    }
    in.freed = true;
    PeerChannel from = in.from;
    long cost = Transmitter.cost(in.headBytes);
    from.stored -= cost;
    from.freedHere += cost;
    // An answer that still waits for credit tells it too.
    boolean due = from.freedHere - from.freedTold >= limits.unexpectedBytes() / 4;
    if (due && from.answers.isEmpty()) {
      transmitter.answer(from, Envelope.FREED, 0, 0, 0);
      from.freedTold = from.freedHere;
    }
  }

  private void tellProbes(Incoming in) {
    if (probes.isEmpty()) {
      return;
    }
    probes.removeIf(
        op -> {
          boolean found = unexpected.find(epoch, op.context, op.source, op.tag) == in;
          if (found) {
            op.arrival = in.arrival;
            op.complete();
          }
          return found;
        });
  }
}
