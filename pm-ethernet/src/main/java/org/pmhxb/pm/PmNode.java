package org.pmhxb.pm;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.Descriptor;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.bufpool.SpscDescriptorRing;
import org.pmhxb.ffi.Hxb;
import org.pmhxb.pm.port.Port;
import org.pmhxb.pm.port.QueueBursts;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * One node of the machine: rails, peers, endpoints, and the duty cycle that moves frames between
 * them.
 *
 * <p>Owner: one poll thread, which calls {@link #doWork}: a thread of its own ({@link PollThread})
 * or, inline, the program's; one after the other where they take turns. Other threads may call
 * {@link #open}, {@link #counters}, {@link #ring} and the state queries.
 */
public final class PmNode implements PollWork, AutoCloseable {
  private static final long TIMER_INTERVAL_NS = 100_000L;
  private static final int COMMANDS_PER_ROUND = 64;
  private static final int SUPPLY_PER_ROUND = 32;
  private static final int LEAST_CLAIMS = 4;

  /** Who waits for the poll thread looks so often whether it has ended. */
  private static final long ENDED_LOOK_MS = 10;

  /** For tests that look inside. */
  final NodeCore core;

  final Sender sender;
  private final Paths paths;
  final Acknowledger acknowledger;
  private final Grants grants;
  private final Sessions sessions;
  final Receiver receiver;
  private final LinkFrames linkFrames;
  private final Deadlines deadlines;
  private final CollectiveFrames collectives;

  /** Of control frames. */
  private final Sealer sealer;

  /** {@link Sealer#inBurst}, where the ports can; else 0. */
  private final long sealing;

  /** The rails' send bursts of one round. */
  private final QueueBursts sends;

  private final boolean inline;
  private volatile Doorbell doorbell = Doorbell.NONE;
  private long timerDueNs;

  /**
   * Frames found no room when the rails were last offered theirs: the next round tries again. Poll
   * thread.
   */
  private boolean held;

  /** Buffers that an endpoint has at hand which has claimed none yet: of many most never do. */
  private int firstClaims = LEAST_CLAIMS;

  /** Buffers that endpoints have at hand or claimed. Poll thread; not in inline mode. */
  private int supplied;

  private boolean quit;
  private volatile boolean closed;

  /** Endpoints to add or remove, handed to the poll thread; guarded by itself, rarely used. */
  private final List<Runnable> commands = new java.util.ArrayList<>();

  private volatile boolean commandsWaiting;

  /**
   * @param ports one per rail, in the routing's order of rails; the node owns and closes them
   * @param inline the program's own thread polls; else a poll thread does
   */
  public PmNode(
      NodeConfig config,
      BufferPool pool,
      Routing routing,
      List<? extends Port> ports,
      boolean inline) {
    ListenerFaults faults = new ListenerFaults();
    Rail[] rails = new Rail[ports.size()];
    WaitingRails waits = new WaitingRails(rails.length);
    for (int i = 0; i < rails.length; i++) {
      rails[i] = new Rail(i, waits, ports.get(i), pool, faults);
      checkFrameFits(config, pool, ports.get(i));
    }
    this.core = new NodeCore(config, pool, routing, rails, waits, faults);
    this.paths = new Paths(core);
    this.sender = new Sender(core, paths);
    this.acknowledger = new Acknowledger(core, sender, paths);
    this.grants = new Grants(core, paths, acknowledger);
    this.sessions = new Sessions(core, sender, paths, grants);
    this.receiver = new Receiver(core, sender, paths, acknowledger, grants, sessions);
    this.linkFrames = new LinkFrames(core);
    this.deadlines = new Deadlines(core, paths, acknowledger);
    this.sealer = new Sealer(core);
    this.sends = new QueueBursts(ports, faults::keep);
    this.collectives = new CollectiveFrames(this, core, sessions);
    core.collectives = collectives;
    this.sealing = sends.areNative() ? sealer.inBurst() : 0;
    this.inline = inline;
  }

  private static void checkFrameFits(NodeConfig config, BufferPool pool, Port port) {
    int frameBytes = longestDataFrameBytes(config);
    int limit = Math.min(pool.frameCapacityBytes(), port.maxFrameBytes());
    if (frameBytes > limit) {
      throw new IllegalArgumentException(
          "maxPayloadBytes "
              + config.maxPayloadBytes()
              + " makes frames of "
              + frameBytes
              + " bytes; port "
              + port.name()
              + " and the pool carry at most "
              + limit);
    }
    int controlBytes = controlBytesMax(config);
    if (controlBytes > limit) {
      throw new IllegalArgumentException(
          "windowFrames "
              + config.windowFrames()
              + " makes acknowledgements of up to "
              + controlBytes
              + " bytes; port "
              + port.name()
              + " and the pool carry at most "
              + limit
              + ": choose a smaller window");
    }
  }

  private static int longestDataFrameBytes(NodeConfig config) {
    return FrameHeader.BYTES + config.maxPayloadBytes() + config.frameKey().trailerBytes();
  }

  /** Longest control frame, Ethernet header included: an acknowledgement of a whole window. */
  public static int controlBytesMax(NodeConfig config) {
    return controlBytesMax(config.windowFrames(), config.frameKey().trailerBytes());
  }

  /** The same of a window of so many frames, each with a trailer of so many bytes. */
  public static int controlBytesMax(int windowFrames, int trailerBytes) {
    return FrameHeader.BYTES
        + Paths.PROBE_BYTES
        + Acknowledger.bytesMax(windowFrames)
        + trailerBytes;
  }

  /** The longest frame that a node sends of its own, FCS excluded. */
  static int longestFrameBytes(NodeConfig config) {
    return Math.max(longestDataFrameBytes(config), controlBytesMax(config));
  }

  // --- the duty cycle -----------------------------------------------------------------------

  @Override
  public int doWork(long nowNs) {
    if (closed || core.telling) {
      refuseRound();
    }
    long gapNs = core.tick(nowNs);
    if (gapNs > Sender.RESTAMP_NS && sender.hasUnsealed()) {
      sender.restampUnsealed();
    }
    int work = commandsWaiting ? runCommands() : 0;
    if (closed) {
      return work; // by one of these: the ports are gone
    }
    if (core.endpointsAsk || core.polls > 0) {
      work += drainEndpoints();
    }
    int received = receiver.receive();
    work += received + collectives.doWork(nowNs);
    if (nowNs - timerDueNs >= 0) {
      timerDueNs = nowNs + TIMER_INTERVAL_NS;
      core.forgetSleeps();
      sessions.tick();
      Peer self = core.peers[core.self];
      if (self != null && self.lanesWait && core.ledger.left() > 0) {
        askAgainForOwn(self);
      }
      lookAtPorts();
      work += core.routing.linkWork(nowNs, linkFrames);
    }
    sender.pumpPending();
    work += acknowledger.flush(received == 0);
    if (core.waits.bits() != 0) {
      work += flush();
    }
    if (work == 0) {
      core.pool.flush();
    }
    core.faults.rethrow();
    return work;
  }

  /** The round that it is called in holds frames which are nowhere else. */
  private void refuseRound() {
    if (closed) {
      throw new IllegalStateException("node " + core.self + " is closed");
    }
    refuseWithinListener("a duty cycle");
  }

  @Override
  public void handOver() {
    core.pool.handOver();
  }

  /**
   * Hands to the ports what was sent since the last duty cycle, which the next one would do behind
   * its look at what arrived: an answer leaves before anything else is done. For programs that sent
   * a message or two right after a duty cycle. Does nothing while earlier frames wait for room in a
   * port; nor when the duty cycle began more than {@value Sender#RESTAMP_NS} ns ago, from which a
   * frame's way would count: the next one begins anew. Inline mode: the program's thread, outside
   * of handlers.
   *
   * @param nowNs on the clock of {@link #doWork}
   * @return frames that the ports took, acknowledgements and relayed frames included
   * @throws IllegalStateException not in inline mode: what was sent is with the program's thread;
   *     or within a {@link PeerListener}
   * @throws RuntimeException as {@link #doWork}: what a port or a listener threw
   */
  public int sendNow(long nowNs) {
    if (!inline) {
      throw new IllegalStateException("sendNow needs inline mode; a poll thread sends by itself");
    }
    assert core.isOwner();
    refuseWithinListener("sendNow");
    if (held || nowNs - core.nowNs > Sender.RESTAMP_NS) {
      return 0;
    }
    sender.pumpPending();
    int sent = flush();
    core.faults.rethrow();
    return sent;
  }

  /** Hands queued frames to the ports, ahead of the end of the round too. */
  int flush() {
    int only = sealing == 0 ? -1 : core.waits.only();
    int sent = only < 0 ? -1 : flushOnly(core.rails[only]);
    if (sent < 0) {
      sender.seal();
      sent = flushRails();
    }
    return sent;
  }

  /**
   * {@link #flushRails} where frames wait on one rail alone, and are few and of one kind.
   *
   * @return frames that the port took; -1: it is another case, and nothing was done
   */
  private int flushOnly(Rail rail) {
    int n = rail.offerUsual(sends);
    if (n == 0) {
      return -1;
    }
    long unsealed = rail.offeredUnsealed > 0 ? sealing : 0;
    int sent = sends.sendSealed(rail.index, rail.offered, rail.offeredFrom, n, unsealed);
    rail.takenUsual(sent);
    held = rail.isWaiting();
    core.passedOn = false;
    core.counters.addSent(sender.sealedInBurst(), sent);
    return sent;
  }

  private void lookAtPorts() {
    for (Rail rail : core.rails) {
      rail.lookAtPort(sends, core.nowNs, core.pollGapNs);
      int given = rail.giveUpBlocked(core.patienceNs);
      if (given > 0) {
        core.counters.drop(DropReason.PORT_BLOCKED, given);
      }
    }
  }

  private int flushRails() {
    QueueBursts bursts = sends;
    bursts.clear();
    sealer.begin();
    boolean left = false;
    Rail[] rails = core.rails;
    for (int bits = core.waits.bits(); bits != 0; bits &= bits - 1) {
      Rail rail = rails[Integer.numberOfTrailingZeros(bits)];
      int n = rail.offer(bursts, core.nowNs, core.pollGapNs);
      if (n > 0) {
        if (rail.offeredUnsealed > 0) {
          sealer.gather(rail.offered, rail.offeredFrom, rail.offeredUnsealed);
        }
        bursts.add(rail.index, rail.offered, rail.offeredFrom, n);
      } else {
        left |= rail.isWaiting();
      }
    }
    sealer.finish();
    held = left;
    int sent = bursts.count() == 0 ? 0 : sendOffered();
    // Last: what something thrown left in the receive bursts is to be kept before the next ones.
    core.passedOn = false;
    return sent;
  }

  private int sendOffered() {
    QueueBursts bursts = sends;
    bursts.send();
    Rail[] rails = core.rails;
    int n = bursts.count();
    int sent = 0;
    for (int i = 0; i < n; i++) {
      Rail rail = rails[bursts.port(i)];
      sent += rail.taken(bursts.moved(i));
      held |= rail.isWaiting();
    }
    core.counters.add(Counter.FRAMES_SENT, sent);
    return sent;
  }

  private int drainEndpoints() {
    int work = 0;
    boolean asks = !inline;
    for (int i = 0; i < core.openCount; i++) {
      PmEndpoint endpoint = core.open[i];
      work += endpoint.loans.drain(COMMANDS_PER_ROUND);
      endpoint.retryPeerDowns();
      if (inline && endpoint.isPolling()) {
        endpoint.settle();
      }
      if (!inline) {
        work += drain(endpoint) + supply(endpoint);
      }
      asks = asks || endpoint.isAsking();
    }
    for (int i = core.lendingCount - 1; i >= 0; i--) {
      PmEndpoint endpoint = core.lending[i];
      work += endpoint.loans.drain(COMMANDS_PER_ROUND);
      if (endpoint.loans.outstanding() == 0) {
        core.lending[i] = core.lending[--core.lendingCount];
        core.lending[core.lendingCount] = null;
        takeLoansBack(endpoint);
      } else {
        asks = true;
      }
    }
    core.endpointsAsk = asks;
    return work;
  }

  private int drain(PmEndpoint endpoint) {
    SpscDescriptorRing ring = endpoint.toNode;
    int n = 0;
    while (n < COMMANDS_PER_ROUND && ring.poll()) {
      command(endpoint, ring.lo(), ring.hi());
      n++;
    }
    return n;
  }

  private void command(PmEndpoint endpoint, long lo, long hi) {
    int id = Descriptor.bufferId(hi);
    switch (Descriptor.op(lo)) {
      case PmEndpoint.OP_SEND -> {
        takenOf(endpoint);
        Lane lane = endpoint.laneOf(Descriptor.tag(lo));
        int flags = Descriptor.flags(lo);
        if (!accept(endpoint, lane, id, Descriptor.length(hi), flags, Descriptor.endpoint(lo))) {
          core.pool.release(id, endpoint.claimOwner);
        }
      }
      case PmEndpoint.OP_CONSUMED -> {
        if (Descriptor.flags(lo) != PmEndpoint.FLAG_RETAINED) {
          core.pool.release(id, endpoint.inboxOwner);
        }
        consumed(endpoint, lo, hi);
      }
      case PmEndpoint.OP_ABORT -> {
        takenOf(endpoint);
        core.pool.release(id, endpoint.claimOwner);
      }
      case PmEndpoint.OP_ASK -> wantCredit(endpoint.laneOf(Descriptor.tag(lo)), hi);
      default -> throw new AssertionError("endpoint operation " + Descriptor.op(lo));
    }
  }

  /** An endpoint has a buffer less. */
  private void takenOf(PmEndpoint endpoint) {
    endpoint.supplied--;
    endpoint.claims = true;
    supplied--;
  }

  /** Keeps an endpoint's stock of free buffers up. */
  private int supply(PmEndpoint endpoint) {
    int n = 0;
    endpoint.claims = endpoint.claims || hasClaimed(endpoint);
    int stock = endpoint.claims ? endpoint.claimLimit : firstClaims;
    while (n < SUPPLY_PER_ROUND && endpoint.supplied < stock && maySupply(endpoint)) {
      int id = core.pool.allocate(endpoint.claimOwner);
      if (id == 0) {
        break;
      }
      endpoint.supply.offer(
          Descriptor.lo(PmEndpoint.OP_BUFFER, 0, 0, 0, 0), Descriptor.hi(id, 0, 0));
      endpoint.supplied++;
      supplied++;
      n++;
    }
    return n;
  }

  /** Something of its stock was taken. */
  private static boolean hasClaimed(PmEndpoint endpoint) {
    return endpoint.supply.room() > endpoint.supply.capacity() - endpoint.supplied;
  }

  /** What is at hand, and what was sent, leave the pool what all else needs: but for one each. */
  private boolean maySupply(PmEndpoint endpoint) {
    long most = 2L * core.config.heldFrames() + (endpoint.supplied == 0 ? core.openCount : 0);
    return sender.mayHoldMore() && sender.held() + supplied < most;
  }

  // --- from endpoints, on the poll thread ---------------------------------------------------

  /**
   * Accepts what a program sent: its place in the order is fixed.
   *
   * @return false when the message was copied into a frame that waits: the buffer stays the claim's
   */
  boolean accept(PmEndpoint endpoint, Lane lane, int id, int payloadBytes, int flags, int epoch) {
    Peer peer = lane.peer;
    if (peer == null
        || (lane.grantEpoch() ^ epoch) << 16 != 0
        || (flags & FrameHeader.FLAG_COALESCED) != 0) {
      return acceptOther(endpoint, lane, id, payloadBytes, flags, epoch);
    }
    core.pool.pass(id, endpoint.claimOwner, peer.windowOwner());
    sender.accept(peer, lane, id, payloadBytes, flags);
    return true;
  }

  private boolean acceptOther(
      PmEndpoint endpoint, Lane lane, int id, int payloadBytes, int flags, int epoch) {
    if ((lane.grantEpoch() & 0xFFFF) != (epoch & 0xFFFF)) {
      // Claimed under a session that ended since.
      core.pool.release(id, endpoint.claimOwner);
      sender.loseLate(lane);
      return true;
    }
    if (lane.dst == core.self) {
      loopBack(lane, endpoint, id, payloadBytes, flags & ~FrameHeader.FLAG_COALESCED);
      return true;
    }
    if ((flags & FrameHeader.FLAG_COALESCED) != 0 && sender.join(lane, id, payloadBytes)) {
      lane.returnCredit();
      return false;
    }
    Peer peer = core.peer(lane.dst);
    core.pool.transfer(id, endpoint.claimOwner, peer.windowOwner());
    sender.accept(peer, lane, id, payloadBytes, flags);
    return true;
  }

  /** See {@link Sender#invite}. */
  int invite(Lane lane, int messageBytes) {
    return sender.invite(lane, messageBytes);
  }

  /** See {@link Sender#open}. */
  void open(OpenFrame frame, Lane lane, int longestBytes, int claimEpoch) {
    sender.open(frame, lane, longestBytes, claimEpoch);
  }

  /** A message to this node itself: the same buffer, from the one endpoint to the other. */
  private void loopBack(Lane lane, PmEndpoint from, int id, int payloadBytes, int flags) {
    lane.acknowledge(1);
    PmEndpoint to = core.endpoint(lane.dstEndpoint);
    InLane in = core.peer(core.self).lane(from.number(), lane.dstEndpoint);
    boolean credited = in.receive();
    assert credited : "a claim took the credit";
    if (to == null) {
      core.counters.drop(DropReason.NO_ENDPOINT);
      core.pool.release(id, from.claimOwner);
      in.consume();
      lane.publishLimit(in.limit());
      return;
    }
    core.counters.increment(Counter.DATA_DELIVERED);
    core.counters.add(Counter.BYTES_DELIVERED, payloadBytes);
    core.pool.transfer(id, from.claimOwner, to.inboxOwner);
    to.deliver(core.self, from.number(), in.tag, id, flags, payloadBytes);
  }

  /**
   * The handler of a message returned; its buffer is released already, or on loan.
   *
   * @param lo the message's descriptor; what counts of it is the lane's tag and the source endpoint
   */
  void consumed(PmEndpoint endpoint, long lo, long hi) {
    if (inLane(endpoint, lo, hi).consume()) {
      creditReturned(endpoint, lo, hi);
    }
  }

  private InLane inLane(PmEndpoint endpoint, long lo, long hi) {
    int tag = Descriptor.tag(lo);
    return tag != 0
        ? core.inLanes[tag]
        : core.peer(Descriptor.node(hi)).lane(Descriptor.endpoint(lo), endpoint.number());
  }

  /** Of a message whose lane said, when it was consumed, that there may be something to do. */
  void creditReturned(PmEndpoint endpoint, long lo, long hi) {
    Peer peer = core.peer(Descriptor.node(hi));
    InLane lane = inLane(endpoint, lo, hi);
    grants.takeBackIfSpent(peer, lane);
    if (peer.node == core.self) {
      PmEndpoint from = core.endpoint(Descriptor.endpoint(lo));
      if (from != null) {
        selfLane(peer, from, endpoint.number()).publishLimit(lane.limit());
      }
    } else if (lane.worthTelling()) {
      if (lane.isPressing()) {
        peer.ackAtOnce = true;
      }
      acknowledger.note(peer);
    }
  }

  private static Lane selfLane(Peer self, PmEndpoint from, int to) {
    for (int i = 0; i < self.outLaneCount; i++) {
      Lane lane = self.outLanes[i];
      if (lane.endpoint == from && lane.dstEndpoint == to) {
        return lane;
      }
    }
    throw new AssertionError("no lane from endpoint " + from.number() + " to " + to);
  }

  /**
   * @param used {@link Lane#used} of who found no credit
   */
  void wantCredit(Lane lane, long used) {
    if (lane.dst == core.self) {
      grantOwn(lane);
    } else {
      sessions.wantCredit(lane, used);
    }
  }

  private void grantOwn(Lane lane) {
    Peer self = core.peer(core.self);
    InLane in = self.lane(lane.endpoint.number(), lane.dstEndpoint);
    if (in == null) {
      sessions.registerLane(lane);
      in = core.addInLane(self, lane.endpoint.number(), lane.dstEndpoint);
    }
    if (in.granted() == 0) {
      in.grant(core.ledger.grant());
      lane.creditWanted = in.granted() == 0;
      self.lanesWait |= lane.creditWanted;
      if (lane.creditWanted) {
        core.counters.drop(DropReason.CREDIT_EXHAUSTED);
      }
    }
    if (core.endpoint(lane.dstEndpoint) == null) {
      grants.restIfIdle(self, in);
    }
    lane.publishLimit(in.limit());
  }

  /** Channels to this node itself that were granted nothing, as nothing was left, ask again. */
  private void askAgainForOwn(Peer self) {
    self.lanesWait = false;
    for (int i = 0; i < self.outLaneCount; i++) {
      Lane lane = self.outLanes[i];
      if (lane.creditWanted) {
        grantOwn(lane);
      }
    }
  }

  /**
   * Opens a session with a peer unless there is one, so that the two watch each other although
   * nothing is sent. Until it is open the peer is asked for it, once a second in the end. Poll
   * thread.
   */
  public void connect(int node) {
    if (peerState(node) != PeerState.UP && node != core.self) {
      sessions.wantOpen(core.peer(node));
    }
  }

  /**
   * Says that the way to a peer and back takes longer than others of as many hops, as over a link
   * to another site: what the round trip is longer than those of near peers counts as a queue
   * otherwise, and the sender gives way to it. Poll thread, or before the first round.
   *
   * @param roundTripNs longer, 0 to 10 s; too little costs bandwidth, too much lets queues grow
   * @throws IllegalArgumentException there is no such node, or it is out of range
   */
  public void longWay(int node, long roundTripNs) {
    requireNode(node);
    if (roundTripNs < 0 || roundTripNs > 10_000_000_000L) {
      throw new IllegalArgumentException(
          "way to node " + node + " longer by " + roundTripNs + " ns: must be in 0..10000000000");
    }
    core.peer(node).longWayNs = roundTripNs;
  }

  /** What {@link #longWay} said of a peer; 0: nothing. Poll thread, or before the first round. */
  public long longWayNs(int node) {
    requireNode(node);
    return core.peer(node).longWayNs;
  }

  // --- endpoints ----------------------------------------------------------------------------

  /**
   * Opens an endpoint. Any thread; the endpoint belongs to the thread that uses it first.
   *
   * @param number 1 to 65,534
   * @throws IllegalStateException it is open already; it was open before, and others have the
   *     credit buffers of what peers may still send to it; the node is closed, or its poll thread
   *     has ended without closing it
   */
  public PmEndpoint open(int number) {
    if (number < 1 || number > 65_534) {
      throw new IllegalArgumentException("endpoint " + number + " is out of range 1..65534");
    }
    PmEndpoint endpoint = new PmEndpoint(this, core, number, inline);
    if (!onPollThread(() -> register(endpoint))) {
      throw new IllegalStateException("node " + core.self + " is closed");
    }
    return endpoint;
  }

  private void register(PmEndpoint endpoint) {
    int number = endpoint.number();
    if (number >= core.endpoints.length) {
      int length = Math.max(number + 1, Math.min(65_535, core.endpoints.length * 2));
      core.endpoints = Arrays.copyOf(core.endpoints, length);
      core.retired = Arrays.copyOf(core.retired, length);
    }
    if (core.endpoints[number] != null) {
      throw new IllegalStateException("endpoint " + number + " is open already");
    }
    grants.wakeLanesTo(number);
    if (core.retired[number] != null) {
      endpoint.adopt(core.retired[number]);
      core.retired[number] = null;
    }
    int lends = indexOf(core.lending, core.lendingCount, number);
    if (lends >= 0) {
      endpoint.lendOn(core.lending[lends]);
      core.lending[lends] = core.lending[--core.lendingCount];
      core.lending[core.lendingCount] = null;
    } else {
      int loans = Math.min(core.config.loanBuffers(), core.loansLeft);
      core.loansLeft -= loans;
      endpoint.lendUpTo(loans);
    }
    core.endpoints[number] = endpoint;
    core.open = add(core.open, core.openCount++, endpoint);
    shareClaims();
  }

  private void retire(PmEndpoint endpoint) {
    int i = indexOf(core.open, core.openCount, endpoint.number());
    core.open[i] = core.open[--core.openCount];
    core.open[core.openCount] = null;
    core.endpoints[endpoint.number()] = null;
    endpoint.forgetWishes();
    core.retired[endpoint.number()] = endpoint;
    if (endpoint.loans.outstanding() == 0) {
      takeLoansBack(endpoint);
    } else {
      core.lending = add(core.lending, core.lendingCount++, endpoint);
      core.endpointsAsk = true;
    }
    shareClaims();
  }

  /** Of a closed endpoint, none of which is out: the next one that opens may have them. */
  private void takeLoansBack(PmEndpoint endpoint) {
    core.loansLeft += endpoint.loans.loans();
    endpoint.lendNoMore();
  }

  private static PmEndpoint[] add(PmEndpoint[] list, int count, PmEndpoint endpoint) {
    PmEndpoint[] room = count == list.length ? Arrays.copyOf(list, count * 2) : list;
    room[count] = endpoint;
    return room;
  }

  private static int indexOf(PmEndpoint[] list, int count, int number) {
    for (int i = 0; i < count; i++) {
      if (list[i].number() == number) {
        return i;
      }
    }
    return -1;
  }

  /** All endpoints together keep to the claims that the pool was made for. */
  private void shareClaims() {
    int each = core.config.claimBuffers();
    int all = each * core.config.endpointsExpected();
    int limit = Math.clamp(all / Math.max(1, core.openCount), LEAST_CLAIMS, each);
    firstClaims = Math.clamp(all / Math.max(1, core.openCount), 1, LEAST_CLAIMS);
    for (int i = 0; i < core.openCount; i++) {
      core.open[i].claimLimit = limit;
    }
  }

  void closeEndpoint(PmEndpoint endpoint) {
    onPollThread(
        () -> {
          drainCommands(endpoint);
          drainInbox(endpoint);
          retire(endpoint);
          grants.restLanesTo(endpoint.number());
        });
  }

  private void drainCommands(PmEndpoint endpoint) {
    while (endpoint.toNode.poll()) {
      command(endpoint, endpoint.toNode.lo(), endpoint.toNode.hi());
    }
  }

  /** Takes back what an endpoint has not polled and not sent. Its program uses it no more. */
  private void drainInbox(PmEndpoint endpoint) {
    while (endpoint.inbox.poll()) {
      if (Descriptor.op(endpoint.inbox.lo()) == PmEndpoint.OP_MESSAGE) {
        long hi = endpoint.inbox.hi();
        core.pool.release(Descriptor.bufferId(hi), endpoint.inboxOwner);
        consumed(endpoint, endpoint.inbox.lo(), hi);
      }
    }
    endpoint.loans.drain(Integer.MAX_VALUE);
    endpoint.dropGuest();
    core.pool.reclaim(endpoint.claimOwner);
    supplied -= endpoint.supplied;
    endpoint.supplied = 0;
  }

  /**
   * Runs a control action in the poll thread's next round and waits for it, though the caller is
   * interrupted; now, if this is the poll thread or there is none.
   *
   * @return false when the node is closed: nothing was done
   * @throws IllegalStateException the poll thread has ended and left the node open: nothing was
   *     done
   */
  private boolean onPollThread(Runnable action) {
    FutureTask<Void> task = new FutureTask<>(action, null);
    Doorbell bell = doorbell;
    synchronized (commands) {
      if (closed) {
        return false;
      }
      if (bell == Doorbell.NONE || bell.isDrivenByCaller()) {
        task.run();
      } else {
        commands.add(task);
        commandsWaiting = true;
      }
    }
    bell.ring();
    awaitPollThread(task, bell);
    return true;
  }

  private void awaitPollThread(FutureTask<Void> task, Doorbell bell) {
    boolean interrupted = false;
    boolean done = false;
    try {
      while (!done) {
        try {
          task.get(ENDED_LOOK_MS, TimeUnit.MILLISECONDS);
          done = true;
        } catch (InterruptedException e) {
          // The action happens all the same: nobody but the caller could undo it.
          interrupted = true;
        } catch (TimeoutException e) {
          if (bell.hasEnded() && withdraw(task)) {
            throw new IllegalStateException(
                "the poll thread of node "
                    + core.self
                    + " has ended and left the node open: see PollThread.failure(), close the node",
                e);
          }
        }
      }
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException(e.getCause());
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * @return false when the command is no longer there: it is done, or about to be
   */
  private boolean withdraw(Runnable command) {
    synchronized (commands) {
      return commands.remove(command);
    }
  }

  private int runCommands() {
    List<Runnable> due;
    synchronized (commands) {
      due = List.copyOf(commands);
      commands.clear();
      commandsWaiting = false;
    }
    due.forEach(Runnable::run);
    return due.size();
  }

  // --- state --------------------------------------------------------------------------------

  /** This node's number, 0 to {@link #nodes} - 1. */
  public int self() {
    return core.self;
  }

  /** Nodes of the machine, this one included. */
  public int nodes() {
    return core.routing.nodes();
  }

  /** Where frames go; its own documentation says on which thread. */
  public Routing routing() {
    return core.routing;
  }

  /** Largest message that one frame carries. */
  public int maxFramePayloadBytes() {
    return core.config.maxPayloadBytes();
  }

  /** What happened since the start, counted. */
  public NodeCounters counters() {
    return core.counters;
  }

  /** What the node was made with. */
  public NodeConfig config() {
    return core.config;
  }

  /** The buffers of all frames that this node sends and receives; whoever made it closes it. */
  public BufferPool pool() {
    return core.pool;
  }

  /** Sessions as of a moment ago. Control path; any thread. */
  public List<PeerStatus> peerStatus() {
    return java.util.Arrays.stream(core.peers)
        .filter(p -> p != null && p.node != core.self)
        .map(PeerStatus::of)
        .toList();
  }

  /**
   * The session with a node as of a moment ago.
   *
   * @throws IllegalArgumentException there is no such node
   */
  public PeerState peerState(int node) {
    requireNode(node);
    Peer peer = core.peers[node];
    return peer == null ? PeerState.IDLE : peer.state;
  }

  private void requireNode(int node) {
    if (node < 0 || node >= core.peers.length) {
      throw new IllegalArgumentException(
          "node " + node + " is unknown: nodes are 0.." + (core.peers.length - 1));
    }
  }

  /**
   * Which start of a peer the session that is up, or the last one, is or was with: its incarnation;
   * 0 before the first. Poll thread.
   */
  public long peerIncarnation(int node) {
    return peerState(node) == PeerState.IDLE ? 0 : core.peers[node].peerIncarnation;
  }

  /** Frames of collective operations: barriers. */
  public CollectiveFrames collectives() {
    return core.collectives;
  }

  /**
   * Whether program and poll thread are one: what belongs to the poll thread is then the program's.
   */
  public boolean isInline() {
    return inline;
  }

  /**
   * Runs a control action on the poll thread and waits for it, though the caller is interrupted; at
   * once where the calling thread drives the node. Any thread.
   *
   * @return false when the node is closed: nothing was done
   * @throws IllegalStateException the poll thread has ended without closing the node: nothing was
   *     done
   */
  public boolean control(Runnable action) {
    return onPollThread(action);
  }

  /**
   * Who hears of sessions from now on; {@link #peerStatus} tells of those before. Any thread.
   *
   * @param listener in place of the one before
   */
  public void peerListener(PeerListener listener) {
    core.listener = listener;
  }

  /**
   * What is out of bounds of this node's windows and credits, or null when all is well: for
   * simulations. Only while program and poll thread are one, or stand still.
   */
  public String brokenBound() {
    return Bounds.broken(core, sender.held());
  }

  /** For tests and captures: sees each received frame before it is checked. */
  public void tap(FrameTap tap) {
    receiver.tap = tap;
  }

  /**
   * How this node's poll thread is woken; set by whoever runs it, before it runs. From then on
   * control actions of other threads wait for its rounds, in inline mode too.
   */
  public void doorbell(Doorbell bell) {
    doorbell = bell;
  }

  /** Nothing of this node works any more. Any thread. */
  public boolean isClosed() {
    return closed;
  }

  /** Wakes the poll thread. Any thread. */
  public void ring() {
    doorbell.ring();
  }

  /**
   * Descriptors that become readable when a frame arrives; empty where a port has none. Of
   * shared-memory lines only between {@link #fallAsleep} and {@link #wakeUp}. A program that drives
   * the node and waits for them itself calls the first, then {@link #doWork} once more; if the one
   * said true, the other 0, and {@link #rests} true, it waits, until {@link #nextDeadlineNs} at the
   * latest; and then, in any case, it calls the second. Before it works for a millisecond without a
   * sleep it calls {@link #stayAwake}, which spares those who send to this node a fence a burst.
   */
  public int[] wakeFds() {
    int[] fds = new int[core.rails.length];
    for (int i = 0; i < fds.length; i++) {
      fds[i] = core.rails[i].port.wakeFd();
      if (fds[i] < 0) {
        return new int[0];
      }
    }
    return fds;
  }

  /** The ports of this node's rails, in order. Control path. */
  public List<Port> ports() {
    return Arrays.stream(core.rails).map(rail -> rail.port).toList();
  }

  @Override
  public long nextDeadlineNs(long nowNs) {
    return deadlines.next(nowNs, timerDueNs);
  }

  @Override
  public boolean fallAsleep() {
    boolean heard = true;
    boolean barrier = false;
    for (Rail rail : core.rails) {
      heard &= rail.port.wakeFd() >= 0;
      barrier |= rail.port.fallAsleep();
    }
    if (barrier && Hxb.barrier() < 0) {
      stayAwake();
      return false;
    }
    return heard;
  }

  @Override
  public void wakeUp(boolean rung) {
    for (Rail rail : core.rails) {
      rail.port.wakeUp(rung);
    }
  }

  @Override
  public void stayAwake() {
    for (Rail rail : core.rails) {
      rail.port.stayAwake();
    }
  }

  @Override
  public boolean rests(long untilNs) {
    for (Rail rail : core.rails) {
      if (rail.port.missedFrames()) {
        return false;
      }
    }
    core.rests(untilNs);
    return true;
  }

  /** Frames sent and not acknowledged, over all peers. Poll thread. */
  public int inFlight() {
    int n = 0;
    for (int i = 0; i < core.activeCount; i++) {
      Peer peer = core.active[i];
      n += peer.pendingCount + (peer.state == PeerState.UP ? peer.window.inFlight() : 0);
    }
    return n;
  }

  /**
   * Ends every session with a word to the peer; none begins any more. Rounds that follow repeat
   * that word to who did not answer (PROTOCOL.md section 4.4). What a listener throws at that,
   * {@link #close} throws at its end. Poll thread.
   *
   * @throws IllegalStateException within the listener; nothing is done
   */
  public void quit() {
    refuseWithinListener("quit");
    if (!quit) {
      quit = true;
      sessions.closeAll();
      for (int i = 0; i < 64 && flush() > 0; i++) {
        Thread.onSpinWait();
      }
    }
  }

  /** After {@link #quit}: every peer knows that its session ended. Poll thread. */
  public boolean isQuitAnswered() {
    return quit && sessions.closesAnswered();
  }

  /**
   * Throws when a handler or the listener of this node is what makes the call: what it came from
   * goes on behind it. Inline mode: the program's thread; else the poll thread.
   *
   * @param call for the message
   */
  public void refuseWithinHandler(String call) {
    for (int i = 0; inline && i < core.openCount; i++) {
      if (core.open[i].isPolling()) {
        throw new IllegalStateException(
            call + " within a handler of endpoint " + core.open[i].number());
      }
    }
    refuseWithinListener(call);
  }

  private void refuseWithinListener(String call) {
    if (core.telling) {
      throw new IllegalStateException(
          call + " within the listener of node " + core.self + ": call it after the duty cycle");
    }
  }

  /**
   * Ends every session with a word to the peer, and closes the ports. Call after the poll thread
   * has stopped, or from it. The pool stays open, for its owner to close. Loans that are out now do
   * not come home any more when they are closed: the pool's memory stays mapped for them.
   *
   * <p>Close the endpoints before: what a program's thread still uses is not taken from it, so that
   * the pool's memory stays mapped.
   *
   * @throws IllegalStateException within a handler or the listener; nothing is done
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    refuseWithinHandler("close");
    quit();
    runCommands();
    synchronized (commands) {
      closed = true;
    }
    for (int i = 0; i < core.openCount; i++) {
      core.open[i].nodeClosed();
    }
    runCommands();
    for (int i = 0; i < core.openCount; i++) {
      drainCommands(core.open[i]);
    }
    // Another thread may be using what it has not closed: that stays as it is, and keeps the pool.
    for (int i = 0; inline && i < core.openCount; i++) {
      core.open[i].voidClaims();
      drainInbox(core.open[i]);
    }
    for (int i = 0; i < core.lendingCount; i++) {
      core.lending[i].loans.drain(Integer.MAX_VALUE);
    }
    for (Rail rail : core.rails) {
      try {
        rail.close();
      } catch (RuntimeException e) {
        core.faults.keep(e); // the others are closed all the same
      }
    }
    core.pool.reclaim(Owner.NODE);
    core.pool.flush();
    core.faults.rethrow();
  }
}
