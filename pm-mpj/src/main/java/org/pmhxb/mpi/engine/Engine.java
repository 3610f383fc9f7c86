package org.pmhxb.mpi.engine;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.pmhxb.pm.Message;
import org.pmhxb.pm.MessageHandler;
import org.pmhxb.pm.PeerStatus;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.PmNode;
import org.pmhxb.pm.PollWork;
import org.pmhxb.pm.SendBuffer;

/**
 * One rank's messages: sends, receives and probes over an endpoint of its node. Progress is made on
 * the node's poll thread, so that a transfer goes on while the program computes.
 *
 * <p>Owner: the poll thread, of a node in inline mode. {@link #post}, {@link #end} and the queries
 * that say so may be called by any thread.
 */
public final class Engine implements PollWork, MessageHandler {
  public static final int ANY_SOURCE = -2;
  public static final int ANY_TAG = -2;

  /** The endpoint that the MPI layer uses at every node. */
  public static final int ENDPOINT = 7;

  private static final int MESSAGES_PER_ROUND = 64;
  private static final int FRAMES_PER_ROUND = 64;
  private static final int COMMANDS_PER_ROUND = 256;

  /** Shorter ones are copied when nobody has asked for them: a frame's buffer is worth more. */
  private static final int COPY_BYTES_MAX = 1_024;

  private static final long RETRY_NS = 50_000L;
  private static final long IDLE_NS = 10_000_000L;

  private final PmNode node;
  private final PmEndpoint endpoint;
  private final EngineLimits limits;
  private final int frameBytes;
  private final int rank;
  private final PeerChannel[] channels;
  private final PeerChannel[] channelOfNode;
  private final ConcurrentLinkedQueue<Operation> commands = new ConcurrentLinkedQueue<>();
  private final EngineCounters counters = new EngineCounters();
  private volatile String ended;

  // --- poll thread ---
  private final PostedReceives posted = new PostedReceives();
  private final UnexpectedMessages unexpected = new UnexpectedMessages();
  private final HandleTable<SendOperation> sends = new HandleTable<>();
  private final HandleTable<ReceiveOperation> receives = new HandleTable<>();
  private final List<ProbeOperation> probes = new ArrayList<>();
  private final List<FlushOperation> flushes = new ArrayList<>();
  private final PeerChannel[] active;
  private int activeCount;
  private int epoch;

  /**
   * @param node in inline mode
   * @param endpoint number {@link #ENDPOINT} of that node
   * @param nodeOfRank where each rank is; one rank per node
   */
  public Engine(PmNode node, PmEndpoint endpoint, int[] nodeOfRank, EngineLimits limits) {
    this.node = node;
    this.endpoint = endpoint;
    this.limits = limits;
    this.frameBytes = node.maxFramePayloadBytes();
    this.channels = new PeerChannel[nodeOfRank.length];
    this.channelOfNode = new PeerChannel[node.nodes()];
    this.active = new PeerChannel[nodeOfRank.length];
    int self = -1;
    for (int r = 0; r < nodeOfRank.length; r++) {
      channels[r] = new PeerChannel(r, nodeOfRank[r]);
      if (channelOfNode[nodeOfRank[r]] != null) {
        throw new IllegalArgumentException(
            "ranks "
                + channelOfNode[nodeOfRank[r]].rank
                + " and "
                + r
                + " are both at node "
                + nodeOfRank[r]
                + "; one rank per node");
      }
      channelOfNode[nodeOfRank[r]] = channels[r];
      self = nodeOfRank[r] == node.self() ? r : self;
    }
    if (self < 0) {
      throw new IllegalArgumentException("no rank is placed at this node, " + node.self());
    }
    this.rank = self;
    if (frameBytes < Envelope.FIRST_BYTES + 8) {
      throw new IllegalArgumentException(
          "frames of " + frameBytes + " bytes are too short for MPI");
    }
  }

  // --- any thread ---------------------------------------------------------------------------

  public int rank() {
    return rank;
  }

  public int size() {
    return channels.length;
  }

  /** Counts of this engine; any thread. */
  public EngineCounters counters() {
    return counters;
  }

  /** Hands an operation over to the poll thread. Any thread; order per thread is kept. */
  public void post(Operation op) {
    commands.add(op);
    String why = ended;
    if (why != null) {
      // The poll thread may have looked for the last time.
      op.fail(why);
      return;
    }
    node.ring();
  }

  /**
   * Nothing moves any more: everything that is posted, and everything that will be, fails. Any
   * thread that is the poll thread, or after it has ended.
   */
  public void end(String reason) {
    ended = reason;
    for (Operation op = commands.poll(); op != null; op = commands.poll()) {
      op.fail(reason);
    }
    for (PeerChannel channel : channels) {
      failAll(channel, reason);
    }
    posted.removeIf(op -> true).forEach(op -> op.fail(reason));
    probes.forEach(op -> op.fail(reason));
    flushes.forEach(op -> op.fail(reason));
    for (Incoming m : unexpected.all()) {
      unexpected.remove(m);
      m.release();
    }
  }

  // --- the duty cycle -----------------------------------------------------------------------

  @Override
  public int doWork(long nowNs) {
    int work = obey();
    work += endpoint.poll(this, MESSAGES_PER_ROUND);
    work += sendAll();
    if (!flushes.isEmpty()) {
      work += flushed();
    }
    return work;
  }

  @Override
  public long nextDeadlineNs(long nowNs) {
    return nowNs + (activeCount > 0 || !flushes.isEmpty() ? RETRY_NS : IDLE_NS);
  }

  private int obey() {
    int n = 0;
    for (Operation op; n < COMMANDS_PER_ROUND && (op = commands.poll()) != null; n++) {
      op.begin(this);
    }
    return n;
  }

  // --- operations ---------------------------------------------------------------------------

  void beginSend(SendOperation op) {
    PeerChannel to = channels[op.dst];
    if (to.down != null) {
      op.fail(downMessage("send to", to));
      return;
    }
    to.starting.add(op);
    activate(to);
  }

  void beginReceive(ReceiveOperation op) {
    Incoming m = unexpected.find(epoch, op.context, op.source, op.tag);
    if (m != null) {
      unexpected.remove(m);
      bind(m, op);
    } else if (op.immediate) {
      op.complete();
    } else {
      String down = downOf(op.source);
      if (down == null) {
        posted.add(epoch, op);
      } else {
        op.fail(down);
      }
    }
  }

  void beginProbe(ProbeOperation op) {
    Incoming m = unexpected.find(epoch, op.context, op.source, op.tag);
    if (m != null || !op.waits) {
      op.arrival = m == null ? null : m.arrival;
      op.complete();
      return;
    }
    String down = downOf(op.source);
    if (down == null) {
      probes.add(op);
    } else {
      op.fail(down);
    }
  }

  void beginFlush(FlushOperation op) {
    flushes.add(op);
  }

  /** All that was sent is stored at its destination, or its destination is down. */
  private int flushed() {
    for (PeerChannel channel : channels) {
      boolean open =
          channel.hasOutput()
              || channel.lastTicket > 0
                  && endpoint.acknowledged(channel.node, ENDPOINT) < channel.lastTicket;
      if (channel.down == null && open) {
        return 0;
      }
    }
    int n = flushes.size();
    for (FlushOperation op : flushes) {
      if (op.nextEpoch) {
        nextEpoch();
      }
      op.complete();
    }
    flushes.clear();
    return n;
  }

  /** Messages that nobody received are gone; those of a job that others have begun wait. */
  private void nextEpoch() {
    String reason = "MPI was finalized before this operation completed";
    posted.removeIf(op -> true).forEach(op -> op.fail(reason));
    probes.forEach(op -> op.fail(reason));
    probes.clear();
    int old = epoch;
    epoch = epoch + 1 & 0xFFFF;
    for (Incoming m : unexpected.all()) {
      if (m.epoch == old) {
        unexpected.remove(m);
        discard(m);
      }
    }
  }

  /** Why a receive from a rank cannot be fulfilled; null when it can. */
  private String downOf(int source) {
    if (source != ANY_SOURCE) {
      return channels[source].down == null ? null : downMessage("receive from", channels[source]);
    }
    for (PeerChannel channel : channels) {
      if (channel.down != null) {
        return downMessage("receive from any rank, perhaps", channel);
      }
    }
    return null;
  }

  private static String downMessage(String what, PeerChannel channel) {
    return what + " rank " + channel.rank + " (node " + channel.node + ") failed: " + channel.down;
  }

  // --- sending ------------------------------------------------------------------------------

  private void activate(PeerChannel channel) {
    if (!channel.active) {
      channel.active = true;
      active[activeCount++] = channel;
    }
  }

  private int sendAll() {
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
    SendBuffer b = endpoint.claim(to.node, ENDPOINT, Envelope.CONTROL_BYTES);
    if (b == null) {
      return false;
    }
    PeerChannel.Answer a = to.answers.poll();
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
    SendBuffer b = endpoint.claim(to.node, ENDPOINT, header + part);
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
    boolean shortEnough = bytes <= limits.eagerBytes();
    long head = shortEnough ? bytes : Math.min(bytes, limits.headBytes());
    boolean room = to.headsSent - to.headsFreed + cost((int) head) <= limits.unexpectedBytes();
    op.headBytes = room ? (int) head : 0;
    op.rendezvous = !shortEnough || !room;
    if (op.rendezvous || op.synchronous) {
      op.handle = sends.add(op);
      if (op.handle == 0) {
        to.starting.poll();
        op.fail("too many sends wait for an answer (1048575)");
        return false;
      }
    }
    return true;
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
    SendBuffer b = endpoint.claim(to.node, ENDPOINT, Envelope.NEXT_BYTES + part);
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
    } else if (to.granted.size() > 1) {
      to.granted.add(to.granted.poll()); // Transfers to one rank share the way.
    }
    return true;
  }

  /** What a head counts for at its receiver until it is matched. Nothing waits of an empty one. */
  private static long cost(int headBytes) {
    return headBytes + EngineLimits.ENVELOPE_COST_BYTES;
  }

  // --- receiving ----------------------------------------------------------------------------

  @Override
  public void onMessage(Message m) {
    PeerChannel from = channelOfNode[m.source()];
    boolean ours = from != null && m.sourceEndpoint() == ENDPOINT && !m.isFragment();
    if (!ours || m.lengthBytes() < Envelope.NEXT_BYTES || !dispatch(from, m)) {
      counters.malformed++;
    }
  }

  /** False when the frame makes no sense; nothing was changed then. */
  private boolean dispatch(PeerChannel from, Message m) {
    MemorySegment frame = m.memory();
    long at = m.offset();
    return switch (Envelope.kind(frame, at)) {
      case Envelope.EAGER, Envelope.RENDEZVOUS -> onFirst(from, m, frame, at);
      case Envelope.HEAD -> onHead(from, frame, at, m.lengthBytes());
      case Envelope.DATA -> onData(from, frame, at, m.lengthBytes());
      case Envelope.GRANT, Envelope.MATCHED, Envelope.FREED ->
          m.lengthBytes() == Envelope.CONTROL_BYTES && onAnswer(from, frame, at);
      default -> false;
    };
  }

  private boolean onFirst(PeerChannel from, Message m, MemorySegment frame, long at) {
    int part = m.lengthBytes() - Envelope.FIRST_BYTES;
    Incoming in = part < 0 || from.current != null ? null : incoming(from, frame, at, part);
    if (in == null || !heardFreed(from, Envelope.freedByFirst(frame, at))) {
      return false;
    }
    from.stored += cost(in.headBytes);
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
        head == 0
            || from.stored + cost(head) <= limits.unexpectedBytes() + EngineLimits.HEAD_BYTES_MAX;
    if (!lengthsFit || !withinLimits || Envelope.tag(frame, at) < 0) {
      return null;
    }
    Arrival arrival =
        new Arrival(
            from.rank,
            Envelope.tag(frame, at),
            Envelope.type(frame, at),
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
        (flags & Envelope.FLAG_SYNCHRONOUS) != 0);
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

  private boolean onHead(PeerChannel from, MemorySegment frame, long at, int length) {
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

  private boolean onData(PeerChannel from, MemorySegment frame, long at, int length) {
    ReceiveOperation op = receives.get(Envelope.handle(frame, at));
    int part = length - Envelope.NEXT_BYTES;
    if (op == null
        || op.from != from
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
      answer(in.from, Envelope.MATCHED, 0, in.senderHandle, 0);
    }
    boolean whole = in.headBytes == op.payload.bytes();
    if (in.rendezvous && !whole) {
      op.handle = receives.add(op);
      if (op.handle == 0) {
        op.fail("too many receives are under way (1048575)");
        discard(in);
        return;
      }
    }
    if (in.rendezvous) {
      answer(in.from, Envelope.GRANT, 0, in.senderHandle, op.handle);
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
      answer(in.from, Envelope.GRANT, Envelope.FLAG_DISCARD, in.senderHandle, 0);
    } else if (in.synchronous) {
      answer(in.from, Envelope.MATCHED, 0, in.senderHandle, 0);
    }
  }

  /** The head needs no room here any more. */
  private void free(Incoming in) {
    if (in.freed) {
      return;
    }
    in.freed = true;
    PeerChannel from = in.from;
    long cost = cost(in.headBytes);
    from.stored -= cost;
    from.freedHere += cost;
    if (from.freedHere - from.freedTold >= limits.unexpectedBytes() / 4) {
      answer(from, Envelope.FREED, 0, 0, 0);
      from.freedTold = from.freedHere;
    }
  }

  private void answer(PeerChannel to, int kind, int flags, int handle, int toHandle) {
    if (to.down == null) {
      to.answers.add(new PeerChannel.Answer(kind, flags, handle, toHandle));
      activate(to);
    }
  }

  private boolean onAnswer(PeerChannel from, MemorySegment frame, long at) {
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
  private static boolean heardFreed(PeerChannel from, long freed) {
    if (freed < from.headsFreed || freed > from.headsSent) {
      return false;
    }
    from.headsFreed = freed;
    return true;
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

  // --- a peer is gone -----------------------------------------------------------------------

  @Override
  public void onPeerDown(int peerNode, int session) {
    PeerChannel channel = channelOfNode[peerNode];
    if (channel == null || channel.down != null) {
      return;
    }
    channel.down = reason(peerNode, session);
    String message = downMessage("communication with", channel);
    failAll(channel, message);
    posted
        .removeIf(op -> op.source == channel.rank || op.source == ANY_SOURCE)
        .forEach(op -> op.fail(downMessage("receive from", channel)));
    probes.removeIf(
        op -> {
          boolean hopeless = op.source == channel.rank || op.source == ANY_SOURCE;
          if (hopeless) {
            op.fail(message);
          }
          return hopeless;
        });
  }

  private String reason(int peerNode, int session) {
    for (PeerStatus status : node.peerStatus()) {
      if (status.node() == peerNode && status.reason() != null) {
        return status.reason().explanation();
      }
    }
    return String.format("session %08x ended", session);
  }

  /** Everything that needs this peer to go on. */
  private void failAll(PeerChannel channel, String reason) {
    channel.starting.forEach(op -> op.fail(reason));
    channel.starting.clear();
    channel.granted.forEach(op -> op.fail(reason));
    channel.granted.clear();
    channel.answers.clear();
    sends.forEach(
        op -> {
          if (op.dst == channel.rank) {
            sends.remove(op.handle);
            op.fail(reason);
          }
        });
    receives.forEach(
        op -> {
          if (op.from == channel) {
            receives.remove(op.handle);
            op.fail(reason);
          }
        });
    Incoming current = channel.current;
    if (current != null) {
      channel.current = null;
      if (current.op != null) {
        current.op.fail(reason);
      } else if (current.waiting) {
        unexpected.remove(current);
        current.release();
      }
    }
    // A message that was announced and whose rest will never come is no message.
    for (Incoming m : unexpected.all()) {
      if (m.from == channel
          && m.headBytes < (long) m.arrival.staticBytes() + m.arrival.dynamicBytes()) {
        unexpected.remove(m);
        m.release();
      }
    }
  }

  /** Receives that wait and messages that nobody asked for. Poll thread. */
  public String queues() {
    return posted.size() + " receives posted, " + unexpected.size() + " messages unexpected";
  }
}
