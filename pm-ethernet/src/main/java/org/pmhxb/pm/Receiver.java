package org.pmhxb.pm;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.Descriptor;
import org.pmhxb.bufpool.Memory;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.bufpool.SpscDescriptorRing;
import org.pmhxb.pm.flow.SequenceArray;
import org.pmhxb.pm.flow.Serial;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.port.QueueBursts;
import org.pmhxb.pm.wire.CoalescedPayload;
import org.pmhxb.pm.wire.FrameCrc;
import org.pmhxb.pm.wire.FrameHeader;
import org.pmhxb.pm.wire.FrameTag;

/**
 * From the receive burst to the inbox: validate, relay, order, deliver (PROTOCOL.md sections 2.4
 * and 5.2). The order of the checks is the order of PROTOCOL.md. Owner: the poll thread.
 */
final class Receiver {
  private static final int BURST = Rail.BURST;

  /** The frame's buffer went on: to an egress queue, the sequence array or an inbox. */
  private static final int KEPT = 0;

  /** The frame was a control frame and has done its work. */
  private static final int DONE = 1;

  private final NodeCore core;
  private final Sender sender;
  private final Paths paths;
  private final Acknowledger acknowledger;
  private final Grants grants;
  final UsualAcks usualAcks;
  private final Sessions sessions;

  private final BufferPool pool;
  private final MemorySegment frames;
  private final FrameCrc crc;

  /** The present bursts, one of each rail. */
  private final QueueBursts arrivals;

  /** Of the present bursts, what is for this node. */
  private final LocalBurst local;

  /** Of {@link #local}, whose frame is the next one. */
  private final RailTurns turns;

  /** Above a descriptor: the rail that brought the frame. */
  private static final int RAIL_SHIFT = 48;

  /** Of the present bursts, what is neither for this node nor in transit, and its rail. */
  private final long[] strays = new long[LocalBurst.CAPACITY];

  private int strayCount;

  private final Peer[] peers;
  private final InLane[] firstLanes;
  private final int self;
  private final int key;
  private final FrameTag tag;
  private final int tagFlag;

  /** Flags and destination of a usual frame, as they lie in it. */
  private final int wireFlagsDst;

  /** The same of a frame that tells of credit. */
  private final int wireAnswerFlagsDst;

  /** The cluster's key as it lies in frames. */
  private final int wireKey;

  /** This node's number as it lies in frames for it. */
  private final int wireSelf;

  // What this round has done, until it is counted.
  private int delivered;
  private long deliveredBytes;
  private int relayed;

  /** Of the run that {@link #rewrite} looked at last. */
  private int runBytes;

  /** While usual frames pass: peers that have sent enough for an acknowledgement. */
  private final Peer[] told = new Peer[BURST];

  private int toldCount;

  /** For tests: sees each frame between burst and checks; null in production. */
  FrameTap tap;

  Receiver(
      NodeCore core,
      Sender sender,
      Paths paths,
      Acknowledger acknowledger,
      Grants grants,
      Sessions sessions) {
    this.core = core;
    this.pool = core.pool;
    this.frames = core.frames;
    this.crc = core.crc;
    this.local = new LocalBurst(pool, crc);
    this.turns = new RailTurns(core.rails.length);
    this.arrivals =
        new QueueBursts(
            Arrays.stream(core.rails).map(rail -> rail.port).toList(), core.faults::keep);
    for (Rail rail : core.rails) {
      arrivals.addReceive(rail.index, rail.rx);
    }
    this.peers = core.peers;
    this.firstLanes = core.firstLanes;
    this.self = core.self;
    this.key = core.config.key();
    this.tag = core.tag;
    this.tagFlag = core.tagFlag;
    this.wireKey = FrameHeader.wireInt(key);
    this.wireSelf = FrameHeader.wireInt(self);
    if (tag == null) {
      // With one a frame is longer than what its CRC covers: the look would be in vain.
      arrivals.checkOnly(wireSelf, LocalBurst.TOGETHER_BYTES_MAX);
    }
    this.wireFlagsDst = FrameHeader.wireInt(tagFlag << 24 | self);
    this.wireAnswerFlagsDst = FrameHeader.wireInt((tagFlag | FrameHeader.FLAG_CREDIT) << 24 | self);
    this.sender = sender;
    this.paths = paths;
    this.acknowledger = acknowledger;
    this.grants = grants;
    this.usualAcks = new UsualAcks(core, sender, paths);
    this.sessions = sessions;
  }

  /**
   * One burst from every rail; returns frames received.
   *
   * <p>Each burst is gone through several times, in loops that are short enough for all they need
   * to stay in registers: the checks of the hop part, which tell what is for this node from what is
   * in transit; transit frames; and, with all CRCs checked at once between, what is for this node.
   * Of that, a rail's frames keep their order and the rails take turns.
   */
  int receive() {
    if (core.passedOn) {
      keepPassed();
    }
    int total = arrivals.receive(pool);
    if (total > 0 && (total > 1 || tap != null || !receiveOne())) {
      receiveBursts(total);
    }
    return total;
  }

  /**
   * Frames that wait in the bursts that brought them, because something that was thrown ended the
   * round: the next bursts come to the same place.
   */
  private void keepPassed() {
    for (Rail rail : core.rails) {
      rail.keepPassed();
    }
    core.passedOn = false;
  }

  private void receiveBursts(int total) {
    turns.clear();
    sortAll();
    if (strayCount > 0) {
      sortStrays();
    }
    if (local.size() > 0) {
      int broken = local.firstBroken(0);
      if (broken < local.size()) {
        dropBroken(broken);
      }
      if (core.hasManyPeers()) {
        fetchSources(local.size());
      }
      if (turns.rails() > 1) {
        acceptInTurn();
      } else {
        acceptBurst();
      }
      local.clear();
    }
    count(total);
  }

  /**
   * The only frame of all rails, if it is intact: to set loops up for it would cost more than they
   * do. Most rounds bring nothing, so that within the duty cycle this would be compiled as what is
   * rare: it is compiled by itself (scripts/jvm.args), and what is rare in it is apart.
   *
   * @return false when it is not; nothing was changed then
   */
  private boolean receiveOne() {
    int ingress = -1;
    do {
      ingress++;
    } while (arrivals.moved(ingress) == 0);
    Rail rail = core.rails[ingress];
    long words = arrivals.descriptors(ingress);
    long d = Burst.get(words, 0);
    int id = Burst.id(d);
    long address = Memory.known(Burst.get(words, BURST));
    int frameBytes = Burst.lengthBytes(d);
    if (!isHopIntact(rail, address) || !isWhole(address, frameBytes)) {
      return false;
    }
    int lengthBytes = FrameHeader.BYTES + FrameHeader.length(Memory.ALL, address);
    if (!FrameHeader.isFor(Memory.ALL, address, wireSelf)) {
      return relayOne(rail, d, address);
    }
    // Where the ports' own call has not looked at the CRC, or at more than it covers.
    if (((d & Burst.INTACT) == 0 || lengthBytes != frameBytes)
        && !local.isIntact(Burst.descriptor(id, lengthBytes), address)) {
      return false;
    }
    if (!core.replay && passOne(id, lengthBytes, address)) {
      core.counters.addReceived(1, 1, lengthBytes - FrameHeader.BYTES);
    } else {
      acceptOne(id, lengthBytes, address);
      count(1);
    }
    return true;
  }

  /** {@link #acceptBurst} of the only frame. */
  private void acceptOne(int id, int lengthBytes, long address) {
    local.clear();
    local.add(id, lengthBytes, address);
    if (core.replay || usualAcks.read(local, 0, 1) == 0) {
      acceptOther(0);
    }
    local.clear();
  }

  /** Whether an intact frame that is not for this node is for another one of this cluster. */
  private boolean isTransit(long address) {
    return FrameHeader.dst(Memory.ALL, address) != FrameHeader.EVERY_NODE
        && FrameHeader.key(Memory.ALL, address) == key;
  }

  /**
   * {@link #relay} of the only frame.
   *
   * @return false when it is not in transit; nothing was changed then
   */
  private boolean relayOne(Rail from, long d, long address) {
    if (!isTransit(address)) {
      return false;
    }
    int bytes = Burst.lengthBytes(d);
    int egress = core.routing.transit(Memory.ALL, address, bytes, from.index);
    if (egress >= 0
        && pool.isOfPort(Burst.id(d))
        && core.rails[egress].passOn(from.rx, 0, 1, bytes)) {
      core.passedOn = true;
      relayed++;
    } else {
      queueOrDrop(egress, from.rx.address(), 1);
    }
    count(1);
    return true;
  }

  private void dropTransit(long d, int egress) {
    drop(Burst.id(d), egress < 0 ? egress : DropReason.RELAY_QUEUE_FULL.code());
  }

  /**
   * Delivers the frame if {@link #stageUsual} would, or if it is a usual answer.
   *
   * @param lengthBytes header and payload
   */
  private boolean passOne(int id, int lengthBytes, long address) {
    int src = dataSourceNumber(address);
    if (Integer.compareUnsigned(src, peers.length) >= 0) {
      return false;
    }
    // Found without the peer: neither waits for the other's line.
    InLane lane = firstLanes[src];
    Peer peer = peers[src];
    if (peer == null || lane == null || peer.quietNews < 0) {
      return false;
    }
    assert lane == peer.lanes : "the first channel of another peer";
    // By what the frame names, which has to be the lane's: the lane's own line is still on its way.
    PmEndpoint to = core.endpoint(FrameHeader.dstEndpoint(Memory.ALL, address));
    if (to == null
        || !isNext(peer, lane, address, wireEndpoint(address))
            && !readAnswer(peer, lane, address)) {
      return false;
    }
    lane.spend();
    pool.transfer(id, Owner.PORT, to.inboxOwner);
    to.deliver(
        lane.messageWord, Descriptor.hiOf(lane.sourceWord, id, lengthBytes - FrameHeader.BYTES));
    if (peer.pass(core.nowNs, core.patienceNs)) {
      acknowledger.note(peer);
    }
    return true;
  }

  /** Once for all rails: a counter's store is ordered, so one a frame would cost. */
  private void count(int received) {
    core.counters.addReceived(received, delivered, deliveredBytes);
    delivered = 0;
    deliveredBytes = 0;
    if (relayed > 0) {
      core.counters.add(Counter.RELAYED, relayed);
      relayed = 0;
    }
  }

  // --- the hop part: steps 1 to 6 of PROTOCOL.md section 2.4 ----------------------------------

  /**
   * Sorts the frames of all rails into those for this node, {@link #local}, and {@link #strays}, so
   * that what follows is done once for all of them, and relays what is in transit.
   *
   * <p>Frames of one way that follow each other are a run: they say the same in their hop part, and
   * a loop takes them until one is otherwise. So the loops have one way through them and leave for
   * all else: a branch that came back into a loop would be paid for by every frame of a JVM that
   * has once taken it.
   */
  private void sortAll() {
    QueueBursts arrived = arrivals;
    Rail[] rails = core.rails;
    local.clear();
    for (int ingress = 0; ingress < rails.length; ingress++) {
      int n = arrived.moved(ingress);
      if (n > 0) {
        if (tap != null) {
          showBurst(rails[ingress], n);
        }
        int before = local.size();
        sort(rails[ingress], n);
        if (local.size() > before) {
          turns.add(before, local.size());
        }
      }
    }
  }

  private void sort(Rail rail, int n) {
    long rx = rail.rx.address();
    int i = 0;
    while (i < n) {
      // Bases of the run's own: of a sum of indices the compiler would check each.
      long words = Memory.known(rx + (long) i * Long.BYTES);
      long begins = Memory.known(rx + (long) (BURST + i) * Long.BYTES);
      long first = Memory.known(Burst.get(begins, 0));
      int run = 0;
      if (isHopIntact(rail, first)) {
        if (FrameHeader.isFor(Memory.ALL, first, wireSelf)) {
          run = takeOwn(rail, words, begins, n - i);
        } else if (isTransit(first)) {
          run = relay(rail, i, n - i);
        }
      }
      if (run == 0) {
        strays[strayCount++] = (long) rail.index << RAIL_SHIFT | Burst.get(words, 0);
        run = 1;
      }
      i += run;
    }
  }

  /** A run of frames for this node, of at most so many; how many it has. */
  private int takeOwn(Rail rail, long words, long begins, int most) {
    LocalBurst mine = local;
    int hop = rail.intactHop;
    long rest = rail.intactRest;
    int toSelf = wireSelf;
    boolean tagged = tag != null;
    int before = mine.size();
    long to = mine.from(before);
    int bytes = mine.bytes();
    int run = 0;
    while (run < most) {
      long d = Burst.get(words, run);
      long address = Memory.known(Burst.get(begins, run));
      int frameBytes = Burst.lengthBytes(d);
      int lengthBytes = FrameHeader.BYTES + FrameHeader.length(Memory.ALL, address);
      if (!hasHop(address, hop, rest)
          || !FrameHeader.isFor(Memory.ALL, address, toSelf)
          || lengthBytes > frameBytes
          || tagged && !isTagged(address, lengthBytes, frameBytes)) {
        break;
      }
      LocalBurst.put(to, run, Burst.descriptor(Burst.id(d), lengthBytes), address);
      bytes += lengthBytes;
      run++;
    }
    mine.fill(before + run, bytes);
    return run;
  }

  /**
   * The very buffers that were received go on, their hop parts rewritten: what the first frame of a
   * run says when it goes on, all of it say.
   *
   * @param at place of the first frame in the rail's burst
   * @return how many of at most {@code most} frames say what the first one says of whence they come
   *     and where they go; 0 when it is not whole
   */
  private int relay(Rail from, int at, int most) {
    long words = Memory.known(from.rx.address() + (long) at * Long.BYTES);
    long d = Burst.get(words, 0);
    long first = Memory.known(Burst.get(words, BURST));
    int bytes = Burst.lengthBytes(d);
    if (!isWhole(first, bytes)) {
      return 0;
    }
    int egress = core.routing.transit(Memory.ALL, first, bytes, from.index);
    boolean goesOn = egress >= 0 && pool.isOfPort(Burst.id(d));
    int run = goesOn ? rewrite(from, words, most) : 1;
    if (goesOn && core.rails[egress].passOn(from.rx, at, run, runBytes)) {
      core.passedOn = true;
      relayed += run;
    } else {
      queueOrDrop(egress, words, run);
    }
    return run;
  }

  /**
   * Rewrites the hop parts of those behind the first frame that are of its run. Compiled by itself
   * (scripts/jvm.args): nothing in the loop is a call.
   *
   * @param words of the first frame, which goes on
   * @return how many frames the run has; their bytes are {@link #runBytes}
   */
  private int rewrite(Rail from, long words, int most) {
    BufferPool buffers = pool;
    long begins = words + (long) BURST * Long.BYTES;
    long first = Memory.known(Burst.get(begins, 0));
    int hop = from.intactHop;
    long rest = from.intactRest;
    long nodes = FrameHeader.wireNodes(Memory.ALL, first);
    long front0 = FrameHeader.frontStored(Memory.ALL, first, 0);
    long front1 = FrameHeader.frontStored(Memory.ALL, first, 1);
    long front2 = FrameHeader.frontStored(Memory.ALL, first, 2);
    int ownKey = wireKey;
    boolean tagged = tag != null;
    int bytes = Burst.lengthBytes(Burst.get(words, 0));
    int run = 1;
    while (run < most) {
      long d = Burst.get(words, run);
      long address = Memory.known(Burst.get(begins, run));
      int frameBytes = Burst.lengthBytes(d);
      int lengthBytes = FrameHeader.BYTES + FrameHeader.length(Memory.ALL, address);
      if (!hasHop(address, hop, rest)
          || FrameHeader.wireNodes(Memory.ALL, address) != nodes
          || FrameHeader.wireInt(Memory.ALL, address, FrameHeader.KEY) != ownKey
          || lengthBytes > frameBytes
          || tagged && !isTagged(address, lengthBytes, frameBytes)
          || !buffers.isOfPort(Burst.id(d))) {
        break;
      }
      FrameHeader.frontStored(Memory.ALL, address, front0, front1, front2);
      bytes += frameBytes;
      run++;
    }
    runBytes = bytes;
    return run;
  }

  /**
   * Whether the frame has the length that its header says, and a true tag. The header of a frame
   * that is too short for one is read too: it lies in the buffer all the same.
   */
  private boolean isWhole(long address, int frameBytes) {
    int lengthBytes = FrameHeader.BYTES + FrameHeader.length(Memory.ALL, address);
    return lengthBytes <= frameBytes && (tag == null || isTagged(address, lengthBytes, frameBytes));
  }

  /**
   * What a rail does not take as it lies.
   *
   * @param egress the rail, or why the frames are dropped
   */
  private void queueOrDrop(int egress, long words, int run) {
    int queued = egress < 0 ? 0 : queue(core.rails[egress], words, run);
    relayed += queued;
    for (int i = queued; i < run; i++) {
      dropTransit(Burst.get(words, i), egress);
    }
  }

  /** How many of them the rail's queue had room for. */
  private int queue(Rail to, long words, int run) {
    BufferPool buffers = pool;
    to.keepPassed();
    to.othersWait();
    int room = Math.min(run, core.transitRoom(to));
    for (int i = 0; i < room; i++) {
      long d = Burst.get(words, i);
      buffers.transfer(Burst.id(d), Owner.PORT, Owner.NODE);
      to.putTransit(d);
    }
    return room;
  }

  private static boolean hasHop(long address, int hop, long rest) {
    return FrameHeader.wireHop(Memory.ALL, address) == hop
        && FrameHeader.wireRest(Memory.ALL, address) == rest;
  }

  /** EtherType, major version and hop check; see {@link Rail#intactHop}. */
  private static boolean isHopIntact(Rail rail, long address) {
    int hop = FrameHeader.wireHop(Memory.ALL, address);
    long rest = FrameHeader.wireRest(Memory.ALL, address);
    return hop == rail.intactHop && rest == rail.intactRest || isNewHopIntact(rail, address);
  }

  /** {@link #isHopIntact} of a hop part that is another than the last one: it is noted. */
  private static boolean isNewHopIntact(Rail rail, long address) {
    if (!FrameHeader.isOurs(Memory.ALL, address)
        || !FrameHeader.hopCheckHolds(Memory.ALL, address)) {
      return false;
    }
    rail.intactHop = FrameHeader.wireHop(Memory.ALL, address);
    rail.intactRest = FrameHeader.wireRest(Memory.ALL, address);
    return true;
  }

  private void sortStrays() {
    int n = strayCount;
    strayCount = 0;
    for (int i = 0; i < n; i++) {
      drop(Burst.id(strays[i]), verdictOn(strays[i]));
    }
  }

  /** What is thrown over one frame must not cost the others of the round. */
  private int verdictOn(long stray) {
    try {
      return sortStray((int) (stray >>> RAIL_SHIFT), Burst.id(stray), Burst.lengthBytes(stray));
    } catch (RuntimeException | Error e) {
      core.faults.keep(e);
      return DONE;
    }
  }

  private void showBurst(Rail rail, int n) {
    for (int i = 0; i < n; i++) {
      long d = rail.rx.get(i);
      int id = Burst.id(d);
      tap.onFrame(rail.index, id, frames, pool.frameAt(id), Burst.lengthBytes(d));
    }
  }

  /**
   * A frame that is a link's, of another cluster, or not intact: the checks one by one.
   *
   * @return DONE, or why the frame is dropped; it is the port's all the while
   */
  private int sortStray(int rail, int id, int frameBytes) {
    if (frameBytes < FrameHeader.BYTES) {
      return DropReason.TOO_SHORT.code();
    }
    long address = pool.addressOf(id);
    if (!FrameHeader.isOurs(Memory.ALL, address)) {
      return notOurs(rail, id, address, frameBytes);
    }
    if (!FrameHeader.hopCheckHolds(Memory.ALL, address)) {
      return DropReason.HOP_CHECK.code();
    }
    int lengthBytes = FrameHeader.BYTES + FrameHeader.length(Memory.ALL, address);
    if (lengthBytes > frameBytes) {
      return DropReason.TOO_SHORT.code();
    }
    if (tag != null && !isTagged(address, lengthBytes, frameBytes)) {
      return DropReason.TAG.code();
    }
    if (FrameHeader.dst(Memory.ALL, address) != FrameHeader.EVERY_NODE) {
      // In transit, and of another cluster.
      return DropReason.KEY.code();
    }
    return linkFrame(rail, pool.frameAt(id), lengthBytes - FrameHeader.BYTES, frameBytes);
  }

  /** By relays too, and before anything is known of the sender (PROTOCOL.md section 2.4). */
  private boolean isTagged(long address, int lengthBytes, int frameBytes) {
    return (FrameHeader.flags(Memory.ALL, address) & FrameHeader.FLAG_TAG) != 0
        && lengthBytes + FrameTag.BYTES <= frameBytes
        && tag.holds(Memory.ALL, address, lengthBytes - FrameHeader.BYTES);
  }

  private int notOurs(int rail, int id, long address, int frameBytes) {
    return FrameHeader.etherType(Memory.ALL, address) == FrameHeader.ETHER_TYPE
        ? otherMajor(rail, pool.frameAt(id), frameBytes)
        : DropReason.NOT_OURS.code();
  }

  /** The end of a frame that nobody keeps. */
  private void drop(int id, int verdict) {
    if (verdict < 0) {
      core.counters.dropCode(verdict);
    }
    pool.transfer(id, Owner.PORT, Owner.NODE);
    pool.release(id, Owner.NODE);
  }

  /** Counted, and named where it announces itself; nothing but version and source MAC is read. */
  private int otherMajor(int rail, long at, int frameBytes) {
    if (FrameHeader.dstMac(frames, at) == FrameHeader.BROADCAST_MAC) {
      core.routing.onLinkFrame(rail, frames, at, frameBytes, core.nowNs);
    }
    return DropReason.MAJOR_VERSION.code();
  }

  private int linkFrame(int rail, long at, int length, int frameBytes) {
    int kind = FrameHeader.kind(frames, at);
    if (kind != FrameHeader.DISCOVER && kind != FrameHeader.COLLECTIVE) {
      return DropReason.UNKNOWN_KIND.code();
    }
    if (FrameHeader.crc(frames, at) != crc.of(at, length)) {
      return DropReason.CRC.code();
    }
    if ((FrameHeader.flags(frames, at) & FrameHeader.FLAG_TAG) != tagFlag) {
      return DropReason.TAG.code();
    }
    int src = FrameHeader.src(frames, at);
    if (core.replay && src < peers.length) {
      Stamps stamps = core.peer(src).stamps();
      long stamp = FrameTag.stamp(frames, at, length);
      boolean isNew =
          kind == FrameHeader.DISCOVER
              ? stamps.isNewDiscover(rail, stamp)
              : stamps.isNewToLine(stamp);
      if (!isNew) {
        return DropReason.REPLAY.code();
      }
    }
    if (kind == FrameHeader.COLLECTIVE) {
      return verdict(core.collectives.takeFromLine(at, length));
    }
    core.routing.onLinkFrame(rail, frames, at, frameBytes, core.nowNs);
    return DONE;
  }

  private static int verdict(int code) {
    return code < 0 ? code : DONE;
  }

  // --- frames for this node: steps 7 to 13 -----------------------------------------------------

  /**
   * Step 7 for frames of which some are broken: these go, so that behind it all of {@link #local}
   * is intact.
   *
   * @param first broken one
   */
  private void dropBroken(int first) {
    int n = local.size();
    int bytes = local.bytes();
    int kept = first;
    int broken = first;
    while (broken < n) {
      long d = local.descriptor(broken);
      bytes -= Burst.lengthBytes(d);
      drop(Burst.id(d), DropReason.CRC.code());
      turns.takeOut(kept);
      int next = local.firstBroken(broken + 1);
      int intact = next - (broken + 1);
      local.move(broken + 1, intact, kept);
      kept += intact;
      broken = next;
    }
    local.fill(kept, bytes);
  }

  /**
   * Nine of ten frames take the short ways of {@link #passUsual} and {@link UsualAcks}, the others
   * all the checks.
   */
  private void acceptBurst() {
    int n = local.size();
    int i = 0;
    while (i < n) {
      int passed = core.replay ? i : passUsual(i, n);
      if (passed == i && !core.replay) {
        passed = usualAcks.read(local, i, n);
      }
      if (passed == i) {
        acceptOther(i);
        passed++;
      }
      i = passed;
    }
  }

  /**
   * Reads a little of what the frames' peers, then their lanes, are about to be asked: in so short
   * a loop a dozen of them are on their way into the cache at a time, instead of the next one or
   * two. In one loop for both, by {@link NodeCore#firstLanes} too, a frame took a tenth more.
   */
  private void fetchSources(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
      Peer peer = dataSource(local.address(i));
      if (peer != null) {
        sum += peer.fetchAll();
      }
    }
    for (int i = 0; i < n; i++) {
      Peer peer = dataSource(local.address(i));
      if (peer != null && peer.lanes != null) {
        sum += peer.lanes.fetch();
      }
    }
    core.fetched = sum;
  }

  private void acceptOther(int i) {
    long d = local.descriptor(i);
    int id = Burst.id(d);
    int length = Burst.lengthBytes(d) - FrameHeader.BYTES;
    int verdict = accept(id, length, local.address(i));
    if (verdict != KEPT) {
      drop(id, verdict);
    }
  }

  /**
   * Delivers usual frames, from the i-th of {@link #local} on, as long as they go to one endpoint:
   * data frames without flags, of the present session, that are the next in a flow from which
   * nothing is missing, have credit, and tell no news of our own frames. Nine of ten are; whatever
   * is wrong with another, {@link #accept} finds out.
   *
   * <p>Nothing in these two loops is a call once they are compiled. With one that returns into a
   * loop, however rare, the compiler would keep on the stack what it otherwise has in registers,
   * and read the fields of all objects again for each frame. They are two because one would need
   * more registers than there are.
   *
   * @return the first frame that was not delivered
   */
  private int passUsual(int from, int n) {
    int number = FrameHeader.dstEndpoint(Memory.ALL, local.address(from));
    PmEndpoint to = core.endpoint(number);
    if (to == null) {
      return from;
    }
    SpscDescriptorRing inbox = to.inbox;
    int most = Math.min(n - from, inbox.stagingRoom());
    int count = stageUsual(from, most, inbox.staging());
    handOver(to, count);
    return from + count;
  }

  /** The staged frames change owners, and the program may see them. */
  private void handOver(PmEndpoint to, int count) {
    noteTold();
    SpscDescriptorRing inbox = to.inbox;
    BufferPool buffers = pool;
    int owner = to.inboxOwner;
    long slots = Memory.known(inbox.staging());
    for (int i = 0; i < count; i++) {
      long hi = SpscDescriptorRing.hi(SpscDescriptorRing.behind(slots, i));
      buffers.transfer(Descriptor.bufferId(hi), Owner.PORT, owner);
    }
    inbox.publish(count);
    delivered += count;
  }

  private void noteTold() {
    int n = toldCount;
    toldCount = 0;
    for (int i = 0; i < n; i++) {
      acknowledger.note(told[i]);
    }
  }

  /** The first of the two loops: who it is from, what it says, and the message's descriptor. */
  private int stageUsual(int from, int most, long staging) {
    LocalBurst mine = local;
    Peer[] enough = told;
    long patience = core.patienceNs;
    long now = core.nowNs;
    long slots = Memory.known(staging);
    int endpoint = wireEndpoint(mine.address(from));
    long words = 0;
    int full = 0;
    int count = 0;
    while (count < most) {
      long address = mine.address(from + count);
      Peer peer = usualSource(address);
      if (peer == null || !isNext(peer, peer.lanes, address, endpoint)) {
        break;
      }
      long word = mine.messageWord(from + count);
      stage(SpscDescriptorRing.behind(slots, count), peer.lanes, word);
      words += word;
      count++;
      if (peer.pass(now, patience)) {
        enough[full & BURST - 1] = peer;
        full++;
      }
    }
    toldCount = full;
    deliveredBytes += LocalBurst.payloadBytes(words);
    return count;
  }

  /** Takes the frame's credit and writes the message's descriptor. */
  private static void stage(long slot, InLane lane, long word) {
    lane.spend();
    SpscDescriptorRing.stage(slot, lane.messageWord, lane.sourceWord | word);
  }

  /** {@link #acceptBurst} of frames that several rails brought. */
  private void acceptInTurn() {
    RailTurns turn = turns;
    while (turn.hasMore()) {
      int passed = core.replay ? 0 : passUsualInTurn();
      if (passed == 0 && !(isEarly(local.address(turn.head())) && turn.pass())) {
        int i = turn.head();
        if (core.replay || usualAcks.read(local, i, i + 1) == i) {
          acceptOther(i);
        }
        turn.taken();
      }
    }
  }

  /** {@link #passUsual} of those whose turn it is; how many passed. */
  private int passUsualInTurn() {
    int number = FrameHeader.dstEndpoint(Memory.ALL, local.address(turns.head()));
    PmEndpoint to = core.endpoint(number);
    if (to == null) {
      return 0;
    }
    SpscDescriptorRing inbox = to.inbox;
    int count = stageInTurn(inbox.stagingRoom(), inbox.staging());
    handOver(to, count);
    return count;
  }

  /** {@link #stageUsual} of those whose turn it is; how many were staged. */
  private int stageInTurn(int most, long staging) {
    LocalBurst mine = local;
    RailTurns turn = turns;
    Peer[] enough = told;
    long patience = core.patienceNs;
    long now = core.nowNs;
    long slots = Memory.known(staging);
    int endpoint = wireEndpoint(mine.address(turn.head()));
    long words = 0;
    int full = 0;
    int count = 0;
    while (count < most && full < BURST && turn.hasMore()) {
      int i = turn.head();
      long address = mine.address(i);
      Peer peer = usualSource(address);
      if (peer == null || !isNext(peer, peer.lanes, address, endpoint)) {
        if (!isEarly(address) || !turn.pass()) {
          break;
        }
        continue;
      }
      long word = mine.messageWord(i);
      stage(Memory.known(SpscDescriptorRing.behind(slots, count)), peer.lanes, word);
      words += word;
      turn.taken();
      count++;
      if (peer.pass(now, patience)) {
        enough[full & BURST - 1] = peer;
        full++;
      }
    }
    toldCount = full;
    deliveredBytes += LocalBurst.payloadBytes(words);
    return count;
  }

  /** A data frame ahead of its turn in a flow from which nothing is missing yet. */
  private boolean isEarly(long address) {
    Peer peer = dataSource(address);
    return peer != null
        && peer.quietNews >= 0
        && FrameHeader.wireKeySession(Memory.ALL, address) == peer.wireKeySession
        && Serial.after(FrameHeader.seq(Memory.ALL, address), peer.highest());
  }

  /** Who sent a data frame, while what comes in turn from there is usual; else null. */
  private Peer usualSource(long address) {
    Peer peer = dataSource(address);
    return peer == null || peer.quietNews < 0 || peer.lanes == null ? null : peer;
  }

  /** Who sent a data frame; null when it is none, or from nobody that is known. */
  private Peer dataSource(long address) {
    int src = dataSourceNumber(address);
    return Integer.compareUnsigned(src, peers.length) < 0 ? peers[src] : null;
  }

  /** The number of who sent a data frame; of another kind than data it is out of range. */
  private static int dataSourceNumber(long address) {
    return FrameHeader.kindSrc(Memory.ALL, address) - (FrameHeader.DATA << 24);
  }

  /** To whom a frame is, as {@link #isNext} compares it. */
  private static int wireEndpoint(long address) {
    return FrameHeader.wireDstEndpoint(
        FrameHeader.wireInt(Memory.ALL, address, FrameHeader.SRC_ENDPOINT));
  }

  /**
   * Whether the frame is what is expected next of the peer's latest channel, word by word.
   *
   * @param lane the peer's newest
   * @param endpoint {@link #wireEndpoint} of the one it has to go to
   */
  private boolean isNext(Peer peer, InLane lane, long address, int endpoint) {
    int endpoints = FrameHeader.wireInt(Memory.ALL, address, FrameHeader.SRC_ENDPOINT);
    return FrameHeader.wireInt(Memory.ALL, address, FrameHeader.FLAGS_DST) == wireFlagsDst
        && FrameHeader.wireKeySession(Memory.ALL, address) == peer.wireKeySession
        && FrameHeader.seqAck(Memory.ALL, address) == peer.nextSeqAck()
        && endpoints == lane.wireEndpoints
        && FrameHeader.wireDstEndpoint(endpoints) == endpoint
        && lane.hasCredit();
  }

  /**
   * Whether the frame is what is expected next of the peer's latest channel, but that it
   * acknowledges our only frame and tells of credit, which is read then: each frame of a ping-pong.
   *
   * @return false: nothing was changed
   */
  private boolean readAnswer(Peer peer, InLane lane, long address) {
    return FrameHeader.wireInt(Memory.ALL, address, FrameHeader.FLAGS_DST) == wireAnswerFlagsDst
        && FrameHeader.wireKeySession(Memory.ALL, address) == peer.wireKeySession
        && FrameHeader.seq(Memory.ALL, address) == peer.highest()
        && FrameHeader.wireInt(Memory.ALL, address, FrameHeader.SRC_ENDPOINT) == lane.wireEndpoints
        && lane.hasCredit()
        && usualAcks.readAnswer(peer, lane, address);
  }

  /** KEPT, DONE, or why the frame is dropped. Until it is kept it is the port's. */
  private int accept(int id, int length, long address) {
    long dstWord = FrameHeader.dstWord(Memory.ALL, address);
    if ((int) dstWord != key) {
      return DropReason.KEY.code();
    }
    int flags = (int) (dstWord >>> 56);
    if ((flags & FrameHeader.FLAG_TAG) != tagFlag) {
      return DropReason.TAG.code();
    }
    int kindSrc = FrameHeader.kindSrc(Memory.ALL, address);
    int src = kindSrc & 0xFF_FFFF;
    if (src >= peers.length || src == self) {
      return DropReason.UNKNOWN_NODE.code();
    }
    Peer peer = core.peer(src);
    int kind = kindSrc >>> 24;
    long sessionWord = FrameHeader.sessionWord(Memory.ALL, address);
    int session = (int) (sessionWord >>> 32);
    if (kind == FrameHeader.DATA && session == peer.session && session != 0) {
      // Nine of ten frames: what follows of inSession() for them.
      peer.heardAt = core.patienceNs;
      return data(peer, id, address, flags, (int) sessionWord);
    }
    if (core.replay
        && kind != FrameHeader.DATA
        && !peer.stamps().isNewControl(FrameTag.stamp(Memory.ALL, address, length))) {
      return DropReason.REPLAY.code();
    }
    return local(peer, kind, session, id, pool.frameAt(id), length);
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
    if ((session != peer.session || session == 0) && !sessions.confirm(peer, session)) {
      sessions.onUnknownSession(peer, session, at);
      return DONE;
    }
    boolean breaksSilence = kind == FrameHeader.PROBE && sessions.isSilent(peer);
    peer.heardAt = core.patienceNs;
    if (kind == FrameHeader.DATA) {
      int flags = FrameHeader.flags(frames, at);
      return data(peer, id, pool.addressOf(id), flags, FrameHeader.seq(frames, at));
    }
    return control(peer, kind, at, length, breaksSilence);
  }

  private int control(Peer peer, int kind, long at, int length, boolean breaksSilence) {
    switch (kind) {
      case FrameHeader.ACK_KIND -> {
        core.counters.increment(Counter.ACKS_RECEIVED);
        if (!acknowledger.read(peer, at, 0, length, FrameHeader.ack(frames, at))) {
          return DropReason.MALFORMED.code();
        }
      }
      case FrameHeader.PROBE -> {
        return answerProbe(peer, at, length, breaksSilence);
      }
      case FrameHeader.PROBE_REPLY -> {
        return probeReply(peer, at, length);
      }
      case FrameHeader.CREDIT_REQUEST ->
          grants.onCreditRequest(
              peer, FrameHeader.srcEndpoint(frames, at), FrameHeader.dstEndpoint(frames, at));
      case FrameHeader.COLLECTIVE -> {
        return verdict(core.collectives.take(peer, at, length));
      }
      case FrameHeader.CLOSE -> sessions.onClose(peer, at);
      case FrameHeader.OPEN_CONFIRM -> {
        // Its session number was all it had to say.
      }
      default -> {
        return DropReason.UNKNOWN_KIND.code();
      }
    }
    return DONE;
  }

  /**
   * Echoes the probe, with all that has arrived so far in front of the echo's meaning.
   *
   * @param breaksSilence it is asked whether we live, then, and not because we are unheard
   */
  private int answerProbe(Peer peer, long at, int length, boolean breaksSilence) {
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
    int ackBytes = acknowledger.write(peer, pool.addressOf(reply), Paths.PROBE_BYTES);
    int bytes = Paths.PROBE_BYTES + ackBytes;
    core.sealControl(reply, FrameHeader.PROBE_REPLY, peer, peer.session, bytes);
    core.answer(reply, peer, bytes, at);
    if (!breaksSilence) {
      paths.doubt(peer);
    }
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
    paths.settle(peer);
    sender.pump(peer);
    return DONE;
  }

  private int data(Peer peer, int id, long address, int flags, int seq) {
    long endpointWord = FrameHeader.endpointWord(Memory.ALL, address);
    int ack = FrameHeader.ack(Memory.ALL, address);
    if (core.replay && !isOfThisWrap(peer, address, endpointWord, seq)) {
      return DropReason.REPLAY.code();
    }
    // Neither a flag nor news of our own frames: the usual case of a stream that goes one way.
    if (flags != tagFlag || ack != peer.ackRead()) {
      int verdict = readBeside(peer, pool.frameAt(id), flags, ack, endpointWord);
      if (verdict != KEPT) {
        return verdict;
      }
    }
    return order(peer, id, seq, flags, endpointWord);
  }

  /** The stamp of a data frame says how often its number has wrapped. */
  private static boolean isOfThisWrap(Peer peer, long address, long endpointWord, int seq) {
    int length = FrameHeader.lengthOf(endpointWord);
    return FrameTag.stamp(Memory.ALL, address, length) == peer.wrapsOfReceived(seq);
  }

  /** What a data frame says beside its payload; KEPT, or why the frame is dropped. */
  private int readBeside(Peer peer, long at, int flags, int ack, long endpointWord) {
    if ((flags & (FrameHeader.FLAG_COALESCED | FrameHeader.FLAG_FRAGMENT)) != 0
        && !isWellFormed(at, flags, FrameHeader.lengthOf(endpointWord))) {
      return DropReason.MALFORMED.code();
    }
    int beyond = (flags & FrameHeader.FLAG_BEYOND) != 0 ? FrameHeader.beyond(frames, at) : 0;
    if (ack != peer.ackRead() || beyond != 0) {
      if (!Sender.isSent(peer, ack, beyond) || !sender.acknowledgeUpTo(peer, ack)) {
        return DropReason.MALFORMED.code();
      }
      sender.acknowledgeBeyond(peer, ack, beyond);
      peer.ackRead(ack);
      paths.settle(peer);
      // New frames that waited for this go at the end of the round, so that what they carry
      // acknowledges the present frame too: else that would take an acknowledgement of its own.
      // Lost ones go at once, and new ones behind them.
      if (!peer.window.nothingLost()) {
        sender.pump(peer);
      }
    }
    if ((flags & FrameHeader.FLAG_CREDIT) != 0) {
      acknowledger.credit(
          peer,
          FrameHeader.dstEndpointOf(endpointWord),
          FrameHeader.srcEndpointOf(endpointWord),
          FrameHeader.credit(frames, at));
    }
    return KEPT;
  }

  /** A payload that is not one whole message: a fragment, or small messages, never both. */
  private boolean isWellFormed(long at, int flags, int length) {
    if ((flags & FrameHeader.FLAG_COALESCED) == 0) {
      return isFragment(at, length);
    }
    return (flags & FrameHeader.FLAG_FRAGMENT) == 0
        && CoalescedPayload.isValid(frames, at + FrameHeader.BYTES, length);
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
    SequenceArray order = peer.order();
    boolean nothingWaits = seq == peer.highest() && seq == order.next();
    if (nothingWaits) {
      order.passTo(seq + 1);
    } else if (!order.passOwned(seq)) {
      return outOfOrder(peer, id, seq, endpointWord);
    }
    countNews(peer);
    if (nothingWaits) {
      peer.highest(seq + 1);
      peer.gapKnown = false;
      deliver(peer, id, Owner.PORT, flags, endpointWord);
    } else {
      deliver(peer, id, Owner.PORT, flags, endpointWord);
      deliverFollowers(peer);
    }
    if (peer.news >= peer.quietNews && peer.state == PeerState.UP) {
      acknowledger.note(peer);
    }
    return KEPT;
  }

  private int outOfOrder(Peer peer, int id, int seq, long endpointWord) {
    int endpoints = (int) (endpointWord >>> 32);
    SequenceArray order = peer.order();
    if (order.isInWindow(seq) && !order.holds(seq)) {
      InLane lane = peer.lane(endpoints);
      if (lane == null || !peer.mayKeep(lane)) {
        return DropReason.NO_CREDIT.code();
      }
      // Of a frame whose endpoint is closed: not if others have what its lane was granted.
      if (core.endpoint(endpoints & 0xFFFF) == null && !grants.wake(lane)) {
        return DropReason.NO_ENDPOINT.code();
      }
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
    peer.somethingIsMissing();
    peer.keptOutOfOrder++;
    pool.transfer(id, Owner.PORT, peer.reorderOwner());
    countNews(peer);
    if (!Serial.before(seq, peer.highest())) {
      peer.highest(seq + 1);
    }
    core.counters.increment(Counter.OUT_OF_ORDER);
    if (!peer.gapKnown) {
      peer.gapKnown = true;
      peer.gapAtOnce = true;
    }
    acknowledger.note(peer);
    return KEPT;
  }

  private void countNews(Peer peer) {
    if (peer.news++ == 0) {
      peer.firstNewsNs = core.nowNs;
    }
  }

  /** A gap was filled: those that waited behind it follow. */
  private void deliverFollowers(Peer peer) {
    SequenceArray order = peer.order();
    while (peer.state == PeerState.UP) {
      int id = order.take();
      if (id == 0) {
        break;
      }
      peer.keptOutOfOrder--;
      long at = pool.frameAt(id);
      int flags = FrameHeader.flags(frames, at);
      deliver(peer, id, peer.reorderOwner(), flags, FrameHeader.endpointWord(frames, at));
    }
    if (peer.highest() == order.next()) {
      peer.gapKnown = false;
    }
  }

  private void deliver(Peer peer, int id, int owner, int flags, long endpointWord) {
    int endpoints = (int) (endpointWord >>> 32);
    InLane lane = peer.lane(endpoints);
    if (lane == null || peer.keptOutOfOrder > 0 && !peer.mayKeep(lane) || !lane.receive()) {
      creditViolated(peer, id, owner);
      return;
    }
    PmEndpoint endpoint = core.endpoint(endpoints & 0xFFFF);
    if (endpoint == null) {
      core.counters.drop(DropReason.NO_ENDPOINT);
      discard(id, owner);
      lane.consume();
      grants.restIfIdle(peer, lane);
      return;
    }
    int length = FrameHeader.lengthOf(endpointWord);
    delivered++;
    deliveredBytes += length;
    pool.transfer(id, owner, endpoint.inboxOwner);
    endpoint.deliver(peer.node, endpoints >>> 16, lane.tag, id, flags, length);
  }

  private void creditViolated(Peer peer, int id, int owner) {
    core.counters.drop(DropReason.NO_CREDIT);
    discard(id, owner);
    sessions.end(peer, DownReason.CREDIT_VIOLATED);
  }

  private void discard(int id, int owner) {
    pool.transfer(id, owner, Owner.NODE);
    pool.release(id, Owner.NODE);
  }
}
