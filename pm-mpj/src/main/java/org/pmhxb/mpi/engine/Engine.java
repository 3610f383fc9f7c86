package org.pmhxb.mpi.engine;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import org.pmhxb.pm.Message;
import org.pmhxb.pm.MessageHandler;
import org.pmhxb.pm.PeerStatus;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.PmNode;
import org.pmhxb.pm.PollThread;
import org.pmhxb.pm.PollWork;

/**
 * One rank's messages: sends, receives and probes over an endpoint of its node. Progress is made on
 * the node's poll thread, so that a transfer goes on while the program computes; while it waits, by
 * its own thread, if {@link #drivenBy} allows that.
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
  private static final int COMMANDS_PER_ROUND = 256;

  /** Credit, buffers and acknowledgements come with frames, which wake who sleeps: to be sure. */
  private static final long RETRY_NS = 1_000_000L;

  private static final long IDLE_NS = 10_000_000L;

  private final PmNode node;
  private final PmEndpoint endpoint;
  private final int rank;
  private final PeerChannel[] channels;
  private final PeerChannel[] channelOfNode;
  private final ConcurrentLinkedQueue<Operation> commands = new ConcurrentLinkedQueue<>();
  private final EngineCounters counters = new EngineCounters();
  private volatile String ended;

  /** Every rank of the job has been there: one that cannot be reached from now on is gone. */
  private volatile boolean started;

  /** Whose rounds a waiting program's thread may drive; null: it waits only. */
  private volatile PollThread poller;

  // --- poll thread ---
  private final Transmitter transmitter;
  private final Reception reception;
  private final List<FlushOperation> flushes = new ArrayList<>();

  /** A receive from any rank cannot know whether it would have come from this one. */
  private PeerChannel firstDown;

  /** A receive from any rank has been begun: the ends of all of them are heard of. */
  private boolean watchesAll;

  private int epoch;

  /**
   * @param node in inline mode
   * @param endpoint number {@link #ENDPOINT} of that node
   * @param nodeOfRank where each rank is; one rank per node
   */
  public Engine(PmNode node, PmEndpoint endpoint, int[] nodeOfRank, EngineLimits limits) {
    this.node = node;
    this.endpoint = endpoint;
    this.channels = new PeerChannel[nodeOfRank.length];
    this.channelOfNode = new PeerChannel[node.nodes()];
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
    int frameBytes = node.maxFramePayloadBytes();
    if (frameBytes < Envelope.FIRST_BYTES + 8) {
      throw new IllegalArgumentException(
          "frames of " + frameBytes + " bytes are too short for MPI");
    }
    transmitter = new Transmitter(endpoint, limits, counters, frameBytes, channels.length);
    reception = new Reception(limits, counters, transmitter);
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

  /** Threads that wait for operations may drive the rounds of this poll thread. Before any post. */
  public void drivenBy(PollThread thread) {
    poller = thread;
  }

  /**
   * Makes progress on the calling thread until something is done, if it may and nobody else does.
   *
   * @return false: the caller has to wait
   */
  public boolean driveUntil(BooleanSupplier done, long limitNs) {
    PollThread thread = poller;
    return thread != null && thread.driveUntil(done, limitNs);
  }

  /** Hands an operation over to the poll thread. Any thread; order per thread is kept. */
  public void post(Operation op) {
    op.engine = this;
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
   * Every rank has been heard of, if only through others. Until then one that answers nothing may
   * be late. Any thread.
   */
  public void started() {
    started = true;
  }

  /** {@link #started} was called. Any thread. */
  public boolean isStarted() {
    return started;
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
    reception.failWaiting(source -> true, reason);
    flushes.forEach(op -> op.fail(reason));
    reception.releaseAll();
  }

  // --- the duty cycle -----------------------------------------------------------------------

  @Override
  public int doWork(long nowNs) {
    int work = obey();
    work += endpoint.poll(this, MESSAGES_PER_ROUND);
    work += transmitter.sendAll();
    if (!flushes.isEmpty()) {
      work += flushed();
    }
    return work;
  }

  @Override
  public long nextDeadlineNs(long nowNs) {
    return nowNs + (transmitter.isBusy() || !flushes.isEmpty() ? RETRY_NS : IDLE_NS);
  }

  @Override
  public void handOver() {
    endpoint.handOver();
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
    if (to.down == null) {
      transmitter.begin(to, op);
    } else {
      op.fail(downMessage("send to", to));
    }
  }

  void beginReceive(ReceiveOperation op) {
    watch(op.source);
    reception.begin(op, downOf(op.source));
  }

  void beginProbe(ProbeOperation op) {
    watch(op.source);
    reception.begin(op, downOf(op.source));
  }

  /** Who only waits for a rank has no session with it, and would not hear of its end. */
  private void watch(int source) {
    if (source != ANY_SOURCE) {
      watch(channels[source]);
    } else if (!watchesAll) {
      watchesAll = true;
      for (PeerChannel channel : channels) {
        watch(channel);
      }
    }
  }

  private void watch(PeerChannel channel) {
    if (!channel.watched && channel.down == null) {
      channel.watched = true;
      node.connect(channel.node);
    }
  }

  void beginFlush(FlushOperation op) {
    flushes.add(op);
  }

  /** All that was sent is stored at its destination, or its destination is down. */
  private int flushed() {
    for (PeerChannel channel : channels) {
      if (channel.down == null && !transmitter.isStored(channel)) {
        return 0;
      }
    }
    int n = flushes.size();
    for (FlushOperation op : flushes) {
      if (op.nextEpoch) {
        epoch = epoch + 1 & 0xFFFF;
        reception.nextEpoch(epoch);
        transmitter.nextEpoch(epoch);
      }
      op.complete();
    }
    flushes.clear();
    return n;
  }

  /** Why a receive from a rank cannot be fulfilled; null when it can. */
  private String downOf(int source) {
    if (source != ANY_SOURCE) {
      return channels[source].down == null ? null : downMessage("receive from", channels[source]);
    }
    return firstDown == null ? null : downMessage("receive from any rank, perhaps", firstDown);
  }

  private static String downMessage(String what, PeerChannel channel) {
    return what + " rank " + channel.rank + " (node " + channel.node + ") failed: " + channel.down;
  }

  // --- receiving ------------------------------------------------------------------------------

  @Override
  public void onMessage(Message m) {
    PeerChannel from = channelOfNode[m.source()];
    // After the end of a session comes what was sent in another: what came between is lost.
    boolean ours =
        from != null && from.down == null && m.sourceEndpoint() == ENDPOINT && !m.isFragment();
    if (!ours || m.lengthBytes() < Envelope.NEXT_BYTES || !dispatch(from, m)) {
      counters.malformed++;
    }
  }

  /** False when the frame makes no sense; nothing was changed then. */
  private boolean dispatch(PeerChannel from, Message m) {
    MemorySegment frame = m.memory();
    long at = m.offset();
    return switch (Envelope.kind(frame, at)) {
      case Envelope.EAGER, Envelope.RENDEZVOUS -> reception.onFirst(from, m, frame, at);
      case Envelope.HEAD -> reception.onHead(from, frame, at, m.lengthBytes());
      case Envelope.DATA -> reception.onData(from, frame, at, m.lengthBytes());
      case Envelope.GRANT, Envelope.MATCHED, Envelope.FREED ->
          m.lengthBytes() == Envelope.CONTROL_BYTES && transmitter.onAnswer(from, frame, at);
      default -> false;
    };
  }

  // --- a peer is gone -----------------------------------------------------------------------

  @Override
  public void onPeerDown(int peerNode, int session) {
    PeerChannel channel = channelOfNode[peerNode];
    boolean late = session == 0 && !started; // unreachable so far, and tried on
    if (channel == null || channel.down != null || late) {
      return;
    }
    channel.down = reason(peerNode, session);
    firstDown = firstDown == null ? channel : firstDown;
    failAll(channel, downMessage("communication with", channel));
    reception.failWaiting(
        source -> source == channel.rank || source == ANY_SOURCE,
        downMessage("receive from", channel));
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
    transmitter.failAll(channel, reason);
    reception.failAll(channel, reason);
  }

  /** Receives that wait and messages that nobody asked for. Poll thread. */
  public String queues() {
    return reception.postedReceives()
        + " receives posted, "
        + reception.unexpectedMessages()
        + " messages unexpected";
  }
}
