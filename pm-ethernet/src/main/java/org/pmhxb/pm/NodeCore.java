package org.pmhxb.pm;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Arrays;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.Memory;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.flow.CreditLedger;
import org.pmhxb.pm.flow.PendingFrames;
import org.pmhxb.pm.flow.SendWindow;
import org.pmhxb.pm.wire.FrameCrc;
import org.pmhxb.pm.wire.FrameHeader;
import org.pmhxb.pm.wire.FrameTag;

/** What the parts of one node's protocol share. Owner of everything here: the poll thread. */
final class NodeCore {
  final NodeConfig config;
  final BufferPool pool;
  final MemorySegment frames;

  /** Address of {@link #frames}: where a frame lies in {@code Memory.ALL}. */
  final long framesAddress;

  final FrameCrc crc;
  final Routing routing;
  final Rail[] rails;

  /** Those of {@link #rails} that have frames to offer. */
  final WaitingRails waits;

  /** Theirs, by rail. */
  final LocalQueue[] localQueues;

  final int self;
  final NodeCounters counters = new NodeCounters();
  final CreditLedger ledger;

  /** Makes and checks tags; null without a key. */
  final FrameTag tag;

  /** {@link FrameHeader#FLAG_TAG} with a key, else 0: what every frame of the cluster carries. */
  final int tagFlag;

  /** Bytes behind each payload. */
  final int tagBytes;

  /** Tags count once: stamps are made and looked at. */
  final boolean replay;

  /** Of the DISCOVER frames; those to one peer are numbered there. */
  private long lineStamp;

  /** By node number; null until there was something to do with that node. */
  final Peer[] peers;

  /**
   * {@link Peer#lanes} by the peer's number: so that what a frame needs of both is on its way into
   * the cache at once.
   */
  final InLane[] firstLanes;

  /** Peers that timers look after: those with a session, or that want one. */
  Peer[] active = new Peer[8];

  int activeCount;

  /** More peers than this do not fit the processor's own caches with all that frames need. */
  private static final int MANY_PEERS = 1_024;

  /** Written so that the compiler does not leave out reads ahead of time. */
  int fetched;

  /** By endpoint number, for frames; null = not open. */
  PmEndpoint[] endpoints = new PmEndpoint[8];

  /** The same without gaps, for duty cycles. */
  PmEndpoint[] open = new PmEndpoint[4];

  int openCount;

  /** By endpoint number, closed endpoints: the next of that number takes over its lanes. */
  PmEndpoint[] retired = new PmEndpoint[8];

  /** Those of which loans are out still: the next of that number takes these over too. */
  PmEndpoint[] lending = new PmEndpoint[4];

  int lendingCount;

  /**
   * Whether the next duty cycle has to look after the endpoints: loans are out, or events found no
   * room. Always, where a poll thread serves them.
   */
  boolean endpointsAsk = true;

  /** Rails offer frames that lie in the present receive bursts: {@link Rail#passOn}. */
  boolean passedOn;

  /** Polls under way whose messages a duty cycle in a handler has to settle. Inline mode. */
  int polls;

  /** Of all endpoints together, what is not lent to one yet. */
  int loansLeft;

  /** Whether some port may have a queue that does not show. */
  final boolean hidesQueues;

  /** By lane ID; lanes live as long as the node. */
  Lane[] lanes = new Lane[16];

  int laneCount;

  /** By {@link InLane#tag}, from 1. */
  InLane[] inLanes = new InLane[16];

  /** Of lanes that are forgotten. */
  private final ArrayDeque<Integer> freeTags = new ArrayDeque<>();

  private int inLaneCount;

  /** Frames that wait for their number (see Peer.pendingHead). */
  final PendingFrames pending;

  /** Read once per duty cycle. */
  long nowNs;

  /** What a send window notes of a frame that is sent now with one message. */
  long stampOfOne;

  /**
   * Advances with the clock, but at most {@link #PATIENCE_STEP_NS} a cycle: own stalls excluded.
   */
  long patienceNs;

  /** By how much a poll came late of late, at worst; decays. */
  long pollGapNs;

  /**
   * Longest time between two duty cycles of late that were a sleep apart: decays with each sleep,
   * and at the timer while there are none, to nothing within some 30 ms.
   */
  private long sleepGapNs;

  /** Set when the node is complete. */
  CollectiveFrames collectives;

  /** Hears of sessions; never null. Written by any thread. */
  volatile PeerListener listener = Silent.LISTENER;

  /** The listener is being called. */
  boolean telling;

  final ListenerFaults faults;

  private static final long PATIENCE_STEP_NS = 20_000_000L;

  /** What counts of a sleep at most, unless it lasts longer than it should. */
  private static final long REST_GAP_NS = 500_000L;

  /** A descriptor's tag has 16 bits. */
  private static final int TAGS_MAX = 0xFFFF;

  private long randomState;
  private boolean started;

  /** The next duty cycle is the first one, or comes behind a sleep. */
  private boolean begunAnew = true;

  /** Since the last {@link #forgetSleeps}. */
  private boolean slept;

  private long restUntilNs;

  NodeCore(
      NodeConfig config,
      BufferPool pool,
      Routing routing,
      Rail[] rails,
      WaitingRails waits,
      ListenerFaults faults) {
    this.config = config;
    this.pool = pool;
    this.loansLeft = config.loanBuffers() * config.endpointsExpected();
    this.frames = pool.memory();
    this.framesAddress = frames.address();
    this.crc = new FrameCrc(frames);
    this.routing = routing;
    this.rails = rails;
    this.waits = waits;
    this.hidesQueues = Arrays.stream(rails).anyMatch(rail -> rail.port.hidesQueue());
    this.localQueues = new LocalQueue[rails.length];
    Arrays.setAll(localQueues, i -> rails[i].local);
    this.faults = faults;
    this.self = routing.self();
    this.peers = new Peer[routing.nodes()];
    this.firstLanes = new InLane[peers.length];
    this.randomState = config.seed();
    FrameKey secret = config.frameKey();
    this.tag = secret.isOn() ? new FrameTag(secret.k0(), secret.k1()) : null;
    this.tagFlag = secret.isOn() ? FrameHeader.FLAG_TAG : 0;
    this.tagBytes = secret.trailerBytes();
    this.replay = secret.mode() == FrameKey.Mode.REPLAY;
    this.lineStamp = secret.firstStamp();
    // Every node, this one included: messages to oneself take credit too.
    int lanesExpected = routing.nodes() * config.endpointsExpected();
    this.ledger =
        new CreditLedger(config.creditBuffers(), lanesExpected, config.largestGrantFrames());
    this.pending = new PendingFrames(pool.capacity());
  }

  /** Takes the time of a new duty cycle; returns what passed since the last one. */
  long tick(long now) {
    assert isOwner();
    long gap = now - nowNs;
    return begunAnew ? tickAnew(now, gap) : tick(now, gap, gap);
  }

  /**
   * @param lateNs what of the gap was not meant
   */
  private long tick(long now, long gap, long lateNs) {
    setNow(now);
    patienceNs += Math.min(gap, PATIENCE_STEP_NS);
    pollGapNs = Math.max(lateNs, pollGapNs - (pollGapNs >> 10));
    return gap;
  }

  /** {@link #tick} of the first duty cycle, or behind a sleep. */
  private long tickAnew(long now, long gap) {
    begunAnew = false;
    if (!started) {
      started = true;
      setNow(now);
      return 0;
    }
    slept = true;
    sleepGapNs = Math.max(gap, sleepGapNs - (sleepGapNs >> 10));
    // What arrives ends a sleep, so most of it is no gap. But who oversleeps is late, and nobody
    // can tell how long after its end a thread found a processor.
    return tick(now, gap, Math.max(now - restUntilNs, Math.min(gap, REST_GAP_NS)));
  }

  /** Longest time between two duty cycles of late, with the sleeps that were meant. */
  long cycleGapNs() {
    return Math.max(pollGapNs, sleepGapNs);
  }

  /** At the timer: the sleeps of a node that no longer sleeps are forgotten. */
  void forgetSleeps() {
    if (!slept) {
      sleepGapNs -= sleepGapNs >> 6;
    }
    slept = false;
  }

  private void setNow(long now) {
    nowNs = now;
    stampOfOne = SendWindow.stamp(now, 1);
  }

  /** The next duty cycle comes when something arrives, or at this moment. */
  void rests(long untilNs) {
    begunAnew = true;
    restUntilNs = untilNs;
  }

  /** For assertions: this thread is the poll thread, the pool's as well as the protocol's. */
  boolean isOwner() {
    return pool.onPollThread();
  }

  /** Whether it pays to read peers' state ahead of time, several of them at once. */
  boolean hasManyPeers() {
    return activeCount > MANY_PEERS;
  }

  /** The peer's state, made on first use. {@code node} is in range. */
  Peer peer(int node) {
    Peer peer = peers[node];
    if (peer == null) {
      peer = new Peer(node);
      peers[node] = peer;
    }
    return peer;
  }

  /**
   * The peer's new receiving lane. Beyond {@value #TAGS_MAX} lanes it gets no tag: its messages
   * find it by their source.
   */
  InLane addInLane(Peer peer, int srcEndpoint, int dstEndpoint) {
    int tag = takeTag();
    InLane lane = new InLane(peer.node, srcEndpoint, dstEndpoint, tag, peer.node == self);
    if (tag >= inLanes.length) {
      inLanes = Arrays.copyOf(inLanes, Math.min(TAGS_MAX + 1, tag * 2));
    }
    if (tag != 0) {
      inLanes[tag] = lane;
    }
    lane.next = peer.lanes;
    peer.lanes = lane;
    firstLanes[peer.node] = lane;
    return lane;
  }

  /**
   * How many more relayed frames may wait for a rail: its own share, and what the others have left
   * of the common one.
   */
  int transitRoom(Rail to) {
    int common = NodeConfig.RELAYED_IN_COMMON;
    for (Rail rail : rails) {
      common -= Math.max(0, rail.transitWaiting() - NodeConfig.RELAYED_OF_A_RAIL);
    }
    int own = NodeConfig.RELAYED_OF_A_RAIL - to.transitWaiting();
    return Math.max(0, own) + Math.max(0, common);
  }

  private int takeTag() {
    if (!freeTags.isEmpty()) {
      return freeTags.remove();
    }
    return inLaneCount < TAGS_MAX ? ++inLaneCount : 0;
  }

  /** Nothing of the lane is under way or waits any more. */
  void removeInLane(Peer peer, InLane lane) {
    if (peer.lanes == lane) {
      peer.lanes = lane.next;
      firstLanes[peer.node] = lane.next;
    } else {
      InLane before = peer.lanes;
      while (before.next != lane) {
        before = before.next;
      }
      before.next = lane.next;
    }
    for (int i = 0; i < peer.outLaneCount; i++) {
      if (peer.outLanes[i].back == lane) {
        peer.outLanes[i].back = null;
      }
    }
    if (lane.tag != 0) {
      inLanes[lane.tag] = null;
      freeTags.add(lane.tag);
    }
  }

  /**
   * Makes a lane the first of its peer's, and those before it the last: an acknowledgement had no
   * room to tell of more than these.
   *
   * @param first behind the first one
   */
  void beginLanesAt(Peer peer, InLane first) {
    InLane before = peer.lanes;
    while (before.next != first) {
      before = before.next;
    }
    before.next = null;
    InLane last = first;
    while (last.next != null) {
      last = last.next;
    }
    last.next = peer.lanes;
    peer.lanes = first;
    firstLanes[peer.node] = first;
  }

  void activate(Peer peer) {
    for (int i = 0; i < activeCount; i++) {
      if (active[i] == peer) {
        return;
      }
    }
    if (activeCount == active.length) {
      active = Arrays.copyOf(active, activeCount * 2);
    }
    active[activeCount++] = peer;
  }

  void deactivate(int index) {
    active[index] = active[--activeCount];
    active[activeCount] = null;
  }

  PmEndpoint endpoint(int number) {
    return Integer.compareUnsigned(number, endpoints.length) < 0 ? endpoints[number] : null;
  }

  /** The closed endpoint of a number that was open before and is not now; else null. */
  PmEndpoint retired(int number) {
    return Integer.compareUnsigned(number, retired.length) < 0 ? retired[number] : null;
  }

  /** SplittableRandom's mixing (Steele et al. 2014): deterministic by the node's seed. */
  long random() {
    randomState += 0x9E37_79B9_7F4A_7C15L;
    return mix(randomState);
  }

  static long mix(long value) {
    long z = value;
    z = (z ^ z >>> 30) * 0xBF58_476D_1CE4_E5B9L;
    z = (z ^ z >>> 27) * 0x94D0_49BB_1331_11EBL;
    return z ^ z >>> 31;
  }

  // --- control frames -----------------------------------------------------------------------

  /**
   * Takes a buffer for a control frame.
   *
   * @return buffer ID, or 0 (counted) when none is free: control frames are repeated by timers
   */
  int controlBuffer() {
    int id = pool.allocate(Owner.NODE);
    if (id == 0) {
      counters.drop(DropReason.NO_BUFFER);
    }
    return id;
  }

  /** Writes the end-to-end part of a control frame whose payload is in place, CRC included. */
  void sealControl(int id, int kind, Peer to, int session, int payloadBytes) {
    seal(id, kind, to, session, 0, 0, payloadBytes);
  }

  void sealCreditRequest(int id, Peer to, int srcEndpoint, int dstEndpoint) {
    seal(id, FrameHeader.CREDIT_REQUEST, to, to.session, srcEndpoint, dstEndpoint, 0);
  }

  private void seal(
      int id, int kind, Peer to, int session, int srcEndpoint, int dstEndpoint, int payloadBytes) {
    long address = pool.addressOf(id);
    int ack = to.cumulativePoint();
    FrameHeader.kindSrc(Memory.ALL, address, kind, self);
    FrameHeader.flagsDst(Memory.ALL, address, tagFlag, to.node);
    FrameHeader.keySession(Memory.ALL, address, config.key(), session);
    FrameHeader.seqAck(Memory.ALL, address, 0, ack);
    FrameHeader.credit(Memory.ALL, address, 0);
    FrameHeader.endpointsLengthBeyond(
        Memory.ALL, address, srcEndpoint, dstEndpoint, payloadBytes, 0);
    FrameHeader.crc(Memory.ALL, address, crc.of(pool.frameAt(id), payloadBytes));
    if (tag != null) {
      long stamp = replay ? to.stamps().next(config.frameKey()) : 0;
      tag.seal(frames, pool.frameAt(id), payloadBytes, stamp);
    }
  }

  /** Writes the end-to-end part of a frame to whoever is on the line; its payload is in place. */
  void sealLineFrame(long at, int kind, int payloadBytes) {
    FrameHeader.kindSrc(frames, at, kind, self);
    FrameHeader.flagsDst(frames, at, tagFlag, FrameHeader.EVERY_NODE);
    FrameHeader.keySession(frames, at, config.key(), 0);
    FrameHeader.seqAck(frames, at, 0, 0);
    FrameHeader.credit(frames, at, 0);
    FrameHeader.endpointsLengthBeyond(frames, at, 0, 0, payloadBytes, 0);
    FrameHeader.crc(frames, at, crc.of(at, payloadBytes));
    if (tag != null) {
      tagLineFrame(at, payloadBytes);
    }
  }

  /** Writes the tag of a frame to whoever is on the line; its CRC is in place. */
  void tagLineFrame(long at, int payloadBytes) {
    tag.seal(frames, at, payloadBytes, replay ? ++lineStamp : 0);
  }

  /** Writes the hop part for a path. */
  void address(long at, int node, int path, int copy) {
    long mac = routing.nextHopMac(node, path);
    long own = rails[routing.egressRail(node, path)].macAddress;
    FrameHeader.front(frames, at, mac, own, routing.hops(node), copy, routing.path(node, path));
  }

  /**
   * Sends a sealed control frame that answers another: on the next usable path, and back the way
   * that the question came. That way is known to live in one direction, the others here perhaps not
   * even that (PROTOCOL.md section 5.5).
   *
   * @param question where the frame lies that is answered
   */
  void answer(int id, Peer to, int payloadBytes, long question) {
    int path = controlPath(to);
    int back = routing.wayBack(to.node, FrameHeader.path(frames, question));
    if (back != Routing.NO_PATH && (path < 0 || routing.path(to.node, path) != back)) {
      int copy = copyOfControl(id, payloadBytes);
      if (copy != 0) {
        sendOver(copy, to, back, payloadBytes);
      }
    }
    sendControl(id, to, path, payloadBytes);
  }

  /** Sends a sealed control frame on so many paths, the next ones in turn of all there are. */
  void sendControlWidely(int id, Peer to, int payloadBytes, int paths) {
    for (int i = Math.min(paths, routing.pathCount(to.node)); i > 1; i--) {
      int copy = copyOfControl(id, payloadBytes);
      if (copy != 0) {
        sendControl(copy, to, anyPath(to), payloadBytes);
      }
    }
    sendControl(id, to, anyPath(to), payloadBytes);
  }

  private int copyOfControl(int id, int payloadBytes) {
    int copy = controlBuffer();
    if (copy != 0) {
      int frameBytes = FrameHeader.BYTES + payloadBytes + tagBytes;
      MemorySegment.copy(frames, pool.frameAt(id), frames, pool.frameAt(copy), frameBytes);
    }
    return copy;
  }

  /** Sends a sealed control frame ahead of data, on the next usable path in turn. */
  boolean sendControl(int id, Peer to, int payloadBytes) {
    return sendControl(id, to, controlPath(to), payloadBytes);
  }

  /** The same on a path of choice; a negative one is none. */
  boolean sendControl(int id, Peer to, int path, int payloadBytes) {
    if (path < 0 || to.paths == null) {
      int code = path < 0 ? Routing.NO_PATH : routing.path(to.node, path);
      return sendOver(id, to, code, payloadBytes);
    }
    // Once there was a session, the words of the hop part are at hand.
    long mac = routing.nextHopMac(to.node, path);
    if (mac == 0) {
      return dropControl(id, DropReason.NO_ROUTE);
    }
    PathState way = to.paths[path];
    way.leadTo(mac);
    FrameHeader.frontStored(Memory.ALL, pool.addressOf(id), way.front0, way.front1, way.front2);
    return queueControl(id, way.rail, payloadBytes, 0);
  }

  private boolean sendOver(int id, Peer to, int code, int payloadBytes) {
    long mac = code == Routing.NO_PATH ? 0 : routing.nextHopMacOf(to.node, code);
    if (mac == 0) {
      return dropControl(id, DropReason.NO_ROUTE);
    }
    Rail rail = rails[routing.egressRailOf(to.node, code)];
    long at = pool.frameAt(id);
    FrameHeader.front(frames, at, mac, rail.macAddress, routing.hops(to.node), 0, code);
    return queueControl(id, rail, payloadBytes, 0);
  }

  /**
   * Queues a control frame that is complete.
   *
   * @param unsealed {@code Burst.SEAL}, or 0 when it has its CRC
   */
  boolean queueControl(int id, Rail rail, int payloadBytes, long unsealed) {
    return rail.putControl(id, FrameHeader.BYTES + payloadBytes + tagBytes, unsealed)
        || dropControl(id, DropReason.TRANSMIT_QUEUE_FULL);
  }

  private boolean dropControl(int id, DropReason reason) {
    counters.drop(reason);
    pool.release(id, Owner.NODE);
    return false;
  }

  /**
   * Control frames take the usable paths in turn: one dead rail cannot swallow all of them, and
   * behind the queue of a slow one they are late. Without a session, and when no path in use
   * answers, all are tried, detours too: who hears the peer but gets no answer must not keep to
   * what is dead.
   */
  int controlPath(Peer to) {
    PathState way = controlWay(to);
    return way == null ? anyPath(to) : way.path;
  }

  /** {@link #controlPath} while there is a session and a path in use is trusted, else null. */
  PathState controlWay(Peer to) {
    if (to.state != PeerState.UP) {
      return null;
    }
    PathState slow = null;
    for (int i = to.firstPath; i < to.endPath; i++) {
      PathState way = to.takeControlWay();
      if (way.isTrusted() && routing.nextHopMac(to.node, way.path) != 0) {
        if (!way.isSlow) {
          return way;
        }
        slow = slow == null ? way : slow;
      }
    }
    if (slow != null) {
      to.controlFrom(slow.path + 1);
    }
    return slow;
  }

  /** The path whose turn it is of all whose next hop is known, or -1: there is none. */
  int anyPath(Peer to) {
    int n = routing.pathCount(to.node);
    for (int i = 0; i < n; i++) {
      // Behind the last one where the last one was taken while it was in use.
      int turn = to.nextControlPath();
      int path = turn >= n ? 0 : turn;
      to.controlFrom(path + 1 >= n ? 0 : path + 1);
      if (routing.nextHopMac(to.node, path) != 0) {
        return path;
      }
    }
    return -1;
  }

  /** A session is open. */
  void tellPeerUp(int node, int session) {
    telling = true;
    try {
      listener.onPeerUp(node, session);
    } catch (RuntimeException | Error e) {
      faults.keep(e);
    } finally {
      telling = false;
    }
  }

  /** A session ended, or none came about within the peer timeout. */
  void tellPeerDown(int node, int session, DownReason reason, int lastAcknowledgedSeq) {
    telling = true;
    try {
      listener.onPeerDown(node, session, reason, lastAcknowledgedSeq);
    } catch (RuntimeException | Error e) {
      faults.keep(e);
    } finally {
      telling = false;
    }
    collectives.peerDown(node, reason);
  }

  /** Listener while none is set. */
  private enum Silent implements PeerListener {
    LISTENER;

    @Override
    public void onPeerUp(int node, int session) {}

    @Override
    public void onPeerDown(int node, int session, DownReason reason, int lastAcknowledgedSeq) {}
  }
}
