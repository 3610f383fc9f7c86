package org.pmhxb.pm;

import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.port.Port;
import org.pmhxb.pm.port.QueueBursts;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * A port with the frames that wait for it. Acknowledgements overtake relayed frames, and these
 * overtake local frames but for a fifth of the bytes, so that a node between two that fill the link
 * is heard, too; local frames, path probes among them, keep their order, which is what makes a path
 * FIFO. Owner: the poll thread.
 */
final class Rail {
  /** Frames that one call of the port moves at most. */
  static final int BURST = 32;

  /**
   * Bursts that wait here before choices of path that were made earlier are made again, where there
   * are other rails: with fewer, whoever sends bursts in a round would choose for many frames.
   */
  private static final int CHOICE_BURSTS = 4;

  /** Of the bytes of relayed frames local ones are owed 1 / 2^this, while they wait. */
  private static final int OWED_BITS = 2;

  /**
   * While frames wait, and a port neither takes one nor has one of its own leave for so long, on
   * the patience clock, it is blocked: more than a slow link's time for a whole frame.
   */
  static final long BLOCKED_NS = 200_000_000L;

  // Of offers.
  private static final int MIXED = 0;
  private static final int LOCAL = 1;
  private static final int CONTROL = 2;
  private static final int TRANSIT = 3;
  private static final int PASSED = 4;

  final int index;
  final Port port;
  final long macAddress;

  /**
   * Descriptors of a receive burst, and where their frames begin; rails that pass on read them
   * until the end of the round.
   */
  final Burst rx = new Burst(2 * BURST);

  /** Those of which frames wait, or may: {@link #offer} is to be called. */
  private final WaitingRails waits;

  /** This one in {@link #waits}. */
  private final int bit;

  /** There may be some among them that are not of {@link #local}. */
  private boolean others;

  /**
   * The hop part of the last frame that came intact, as it lay there: frames of one way say the
   * same in it, so what says it again needs no check. {@link FrameHeader#wireHop}.
   */
  int intactHop = FrameHeader.wireHopOfNoPath();

  /** {@link FrameHeader#wireRest} of it. */
  long intactRest = FrameHeader.wireRestOfNoPath();

  private final BufferPool pool;
  private final Burst tx = new Burst(BURST);

  // Relayed frames that the port is offered where they were received: see passOn.
  private Burst passed = tx;
  private int passedFrom;
  private int passedCount;
  private int passedBytes;

  // What the port is offered.

  /**
   * {@link #tx}, the ring of the only queue with frames, or the receive burst that relayed frames
   * lie in.
   */
  Burst offered = tx;

  /** Where it begins. */
  int offeredFrom;

  /** Which of them it is. */
  private int offers;

  /** Of a ring: frames, those behind its end included. */
  private int offeredMost;

  /** From {@link #offeredFrom} on: frames of which some have no CRC. */
  int offeredUnsealed;

  // Of all three queues: how many of the first, and which places are of the last.
  private int offeredControl;
  private int offeredLocal;

  /** Bytes that local frames are owed for relayed ones that were in front. */
  private int owedBytes;

  // Whether the port takes anything, as the timer sees it: see giveUpBlocked.
  private boolean blocked;
  private long takesNs;
  private long handedAtLook;
  private long goneAtLook;
  private int controlAtLook;
  private int transitAtLook;
  private int localAtLook;

  private final FrameQueue control = new FrameQueue();
  private final FrameQueue transit = new FrameQueue();
  final LocalQueue local;
  final ProbePace probes = new ProbePace();
  private final PortBound portBound;
  private final ListenerFaults faults;

  /**
   * @param waits of the node's rails
   * @param faults takes what the port throws in a burst that this class makes itself
   */
  Rail(int index, WaitingRails waits, Port port, BufferPool pool, ListenerFaults faults) {
    this.index = index;
    this.waits = waits;
    this.bit = WaitingRails.bit(index);
    this.local =
        new LocalQueue(bit, waits.count() > 1 ? CHOICE_BURSTS * BURST : LocalQueue.CAPACITY);
    this.port = port;
    this.pool = pool;
    this.faults = faults;
    this.macAddress = port.macAddress();
    this.portBound = new PortBound(port.maxFrameBytes());
  }

  /** Bytes that a new local frame would wait behind. */
  long backlogBytes() {
    return local.backlogBytes();
  }

  /** Time of the port's longest frame on the link; 0 while not known. */
  long frameNs() {
    return portBound.frameNs();
  }

  boolean hasLocalRoom() {
    return !local.isFull();
  }

  boolean isIdle() {
    return control.size() + transit.size() + local.size() + passedCount == 0;
  }

  /**
   * Time until the port takes more of what waits here: reckoned from the rate at which it drains; 0
   * where that is not known, and for what waits for a place in the port's ring.
   */
  long untilRoomNs() {
    return control.size() > 0 ? 0 : portBound.untilRoomNs();
  }

  boolean putControl(int id, int lengthBytes) {
    return putControl(id, lengthBytes, 0);
  }

  /**
   * @param unsealed {@link Burst#SEAL}, or 0 when it has its CRC
   */
  boolean putControl(int id, int lengthBytes, long unsealed) {
    othersWait();
    return control.put(Burst.descriptor(id, lengthBytes) | unsealed);
  }

  /**
   * A relayed frame as it was received: buffer ID and length. The caller calls {@link #othersWait},
   * once for all that leave by this rail; there is room.
   */
  void putTransit(long descriptor) {
    boolean room = transit.put(descriptor);
    assert room;
  }

  /** Relayed frames that wait in the queue. */
  int transitWaiting() {
    return transit.size();
  }

  /**
   * Relayed frames of a receive burst, which the port is offered at the end of the round where they
   * lie: nothing is done for each of them, and their buffers stay the ports'. To be called for
   * frames behind each other, before the burst's rail receives again.
   *
   * @param bytes of all of them
   * @return false: they are to be put, after {@link #keepPassed}
   */
  boolean passOn(Burst burst, int from, int count, int bytes) {
    if (passedCount > 0) {
      if (passed != burst || passedFrom + passedCount != from) {
        return false;
      }
    } else if (transit.size() > 0) {
      return false;
    } else {
      // A reference that is stored costs the collector's bookkeeping.
      if (passed != burst) {
        passed = burst;
      }
      passedFrom = from;
      othersWait();
    }
    passedCount += count;
    passedBytes += bytes;
    return true;
  }

  /** What was passed on and is not yet the port's waits in the queue, which is empty. */
  void keepPassed() {
    int end = passedFrom + passedCount;
    nonePassed();
    for (int i = passedFrom; i < end; i++) {
      long d = passed.get(i);
      pool.transfer(Burst.id(d), Owner.PORT, Owner.NODE);
      transit.put(d);
    }
  }

  private void nonePassed() {
    passedCount = 0;
    passedBytes = 0;
  }

  /** Relayed frames were put, or control frames. */
  void othersWait() {
    waits.add(bit);
    others = true;
  }

  /** Frames wait, or may. */
  boolean isWaiting() {
    return waits.has(bit);
  }

  private void noteLeft(boolean some) {
    if (!some) {
      waits.remove(bit);
    }
  }

  /** Frames that are not of {@link #local} alone waited: whether some are left. */
  private void noteOthersLeft(boolean some) {
    others = some;
    noteLeft(some);
  }

  /** A frame of this node that goes once: a path probe. */
  boolean putLocal(int id, int lengthBytes) {
    if (local.isFull()) {
      return false;
    }
    local.putUnheld(id, lengthBytes);
    waits.add(bit);
    return true;
  }

  /** Whether the frame with this ticket was handed to the port. */
  boolean hasLeftQueue(int ticket) {
    return local.taken() - ticket > 0;
  }

  /**
   * {@link #offer} in the usual case of a rail that has frames now and then: they are few and of
   * one kind, and the port has room and, as far as is known, no queue.
   *
   * @param ports whose bursts are native calls, and know this rail's by its number
   * @return frames; 0: it is another case, and nothing was done
   */
  int offerUsual(QueueBursts ports) {
    if (others) {
      return offerUsualOthers(ports);
    }
    int n = local.size();
    if (!local.isOneBurst() || ports.usualRoom(index, local.bytes()) < n) {
      return 0;
    }
    offeredMost = n;
    offeredUnsealed = local.isSealed() ? 0 : n;
    offer(LOCAL, local.ring(), local.first());
    return n;
  }

  private int offerUsualOthers(QueueBursts ports) {
    int answers = control.size();
    if ((transit.size() | local.size()) != 0 || answers != 0 == passedCount > 0) {
      return 0;
    }
    int room = Math.min(ports.usualRoom(index, passedBytes), BURST);
    if (answers != 0) {
      return offerControlOnly(room);
    }
    if (passedCount > room) {
      return 0;
    }
    offeredUnsealed = 0;
    offer(PASSED, passed, passedFrom);
    return passedCount;
  }

  /**
   * Chooses what is known to fit, relayed and local frames within the port's bound: {@link
   * #offered} from {@link #offeredFrom} on. What the port took of it, {@link #taken} is to be told
   * before anything else is done with this rail.
   *
   * @param ports knows this rail's by its number, and of which kind all of them are
   * @param pollGapNs worst recent gap between two calls
   * @return frames
   */
  int offer(QueueBursts ports, long nowNs, long pollGapNs) {
    if (ports.areNative()) {
      int n = offerUsual(ports);
      if (n > 0) {
        if (offers == LOCAL) {
          offeredUnsealed = 0; // sealed before rails are asked what they offer
        }
        return n;
      }
    }
    local.skipTakenOut();
    int ours = local.size();
    int passing = 0;
    int answers = 0;
    if (others) {
      passing = transit.size() + passedCount;
      answers = control.size();
      others = (passing | answers) != 0;
    }
    if ((ours | passing | answers) == 0) {
      waits.remove(bit);
      return 0;
    }
    int room = Math.min(ports.txRoom(index), BURST);
    long spareBytes = portBound.spareBytes(ports.txBacklogBytes(index), nowNs, pollGapNs);
    local.portBytes(portBound.backlogBytes());
    offeredUnsealed = 0;
    if ((ours | answers) == 0 && mayPass(room, spareBytes)) {
      offer(PASSED, passed, passedFrom);
      return passedCount;
    }
    if (passedCount > 0) {
      keepPassed();
    }
    if ((ours | answers) == 0) {
      return offerTransitOnly(room, spareBytes);
    }
    if ((ours | passing) == 0) {
      return offerControlOnly(room);
    }
    int n =
        (passing | answers) == 0 && local.isPlain()
            ? offerLocal(room, spareBytes)
            : offerAll(room, spareBytes);
    if (n == 0) {
      local.noteWhatPortLeft(0);
    }
    return n;
  }

  /**
   * What a port had when it was last asked may be long gone while nothing was sent, and choices of
   * path avoid it for that. Asks one that had a queue.
   */
  void lookAtPort(QueueBursts ports, long nowNs, long pollGapNs) {
    if (!isWaiting() && !local.isPortEmpty()) {
      portBound.spareBytes(ports.txBacklogBytes(index), nowNs, pollGapNs);
      local.portBytes(portBound.backlogBytes());
      local.noteWhatPortLeft(0);
    }
  }

  /**
   * The timer's look at a port that may take nothing: the other end of its line is gone, or its
   * link is down and the driver keeps what it has. What waits for it would hold buffers that the
   * others need, and leave in one burst, long stale, when it comes back. So control frames, probes
   * and relayed frames are given up, of which the peers repeat what counts: what waited for {@link
   * #BLOCKED_NS}, and from then on, until a frame is taken or leaves, each that it was offered in
   * vain. Frames that windows hold stay theirs.
   *
   * @param patienceNs a clock that the node's own stalls do not advance
   * @return frames that were given up
   */
  int giveUpBlocked(long patienceNs) {
    int given = 0;
    long handed = portBound.handedBytes();
    long gone = portBound.goneBytes();
    if (handed != handedAtLook || gone != goneAtLook) {
      handedAtLook = handed;
      goneAtLook = gone;
      takesNs = patienceNs;
      blocked = false;
    } else if (!isWaiting()) {
      takesNs = patienceNs;
    } else if (blocked || patienceNs - takesNs >= BLOCKED_NS) {
      blocked = true;
      given = giveUpSeen();
    }
    controlAtLook = control.end();
    transitAtLook = transit.end();
    localAtLook = local.end();
    return given;
  }

  /** Those that were there at the last look: each has been offered since. */
  private int giveUpSeen() {
    int given = release(control, control.before(controlAtLook));
    given += release(transit, transit.before(transitAtLook));
    return given + releaseUnheld(localAtLook - local.taken());
  }

  /** Of so many places of the node's own queue: frames without a holder. */
  private int releaseUnheld(int places) {
    int given = 0;
    for (int i = 0; i < places; i++) {
      long d = local.peek(i);
      if (d != LocalQueue.TAKEN_OUT && (d & Burst.HOLD) == 0) {
        pool.release(Burst.id(local.takeOut(i)), Owner.NODE);
        given++;
      }
    }
    return given;
  }

  private int release(FrameQueue queue, int frames) {
    for (int i = 0; i < frames; i++) {
      pool.release(Burst.id(queue.peek(i)), Owner.NODE);
    }
    queue.drop(frames);
    return frames;
  }

  /** Whether the port is to have all that was passed on, and there is some. */
  private boolean mayPass(int room, long spareBytes) {
    return passedCount > 0 && passedCount <= room && passedBytes <= spareBytes;
  }

  /** The usual case: nothing but data frames of this node, which the port takes from the queue. */
  private int offerLocal(int room, long spareBytes) {
    offeredMost = local.within(spareBytes, Math.min(room, local.size()));
    offer(LOCAL, local.ring(), local.first());
    return LocalQueue.unbroken(local.taken(), offeredMost);
  }

  /** The usual case of a relay: the port takes them from the queue. */
  private int offerTransitOnly(int room, long spareBytes) {
    int most = Math.min(transit.size(), room);
    offeredMost = spareBytes == Long.MAX_VALUE ? most : transitWithin(spareBytes, most);
    offer(TRANSIT, transit.ring(), transit.first());
    return transit.unbroken(offeredMost);
  }

  /** The usual case of a receiver. What stands behind the ring's end is sealed another time. */
  private int offerControlOnly(int room) {
    int n = control.unbroken(Math.min(control.size(), room));
    long flags = 0;
    for (int i = 0; i < n; i++) {
      flags |= control.peek(i);
    }
    offeredMost = n;
    offeredUnsealed = (flags & Burst.SEAL) == 0 ? 0 : n;
    offer(CONTROL, control.ring(), control.first());
    return n;
  }

  private void offer(int which, Burst ring, int first) {
    offers = which;
    offeredFrom = first;
    // A reference that is stored costs the collector's bookkeeping.
    if (offered != ring) {
      offered = ring;
    }
  }

  /** How many relayed frames begin within so many bytes. */
  private int transitWithin(long spareBytes, int most) {
    long left = spareBytes;
    int n = 0;
    while (n < most && left > 0) {
      left -= Burst.lengthBytes(transit.peek(n));
      n++;
    }
    return n;
  }

  private int offerAll(int room, long spare) {
    offer(MIXED, tx, 0);
    offeredControl = Math.min(control.size(), room);
    int n = 0;
    long flags = 0;
    while (n < offeredControl) {
      long d = control.peek(n);
      flags |= d;
      tx.set(n, d);
      n++;
    }
    offeredUnsealed = (flags & Burst.SEAL) == 0 ? 0 : n;
    offeredLocal = 0;
    int relayed = transit.size();
    if (relayed == 0) {
      return offerLocalToo(n, 0, room, spare);
    }
    return local.size() == 0 ? offerTransit(n, room, spare) : offerByTurns(n, relayed, room, spare);
  }

  private int offerTransit(int before, int room, long spare) {
    int n = transitWithin(spare, Math.min(transit.size(), room - before));
    for (int i = 0; i < n; i++) {
      tx.set(before + i, transit.peek(i));
    }
    return before + n;
  }

  /** Local frames from the {@code from}th on. */
  private int offerLocalToo(int before, int from, int room, long spare) {
    long spareBytes = spare;
    int n = before;
    int l = local.size();
    for (int i = from; i < l && n < room && spareBytes > 0; i++) {
      long d = local.peek(i);
      spareBytes -= Burst.lengthBytes(d);
      tx.set(n, d);
      n += LocalQueue.one(d);
    }
    offeredLocal |= placesFrom(before) & ~placesFrom(n);
    return n;
  }

  /** Relayed frames, and in between the local ones that they owe for. */
  private int offerByTurns(int before, int relayed, int room, long spare) {
    long spareBytes = spare;
    int owed = owedBytes;
    int n = before;
    int l = 0;
    int t = 0;
    while (t < relayed && n < room && spareBytes > 0) {
      long d = l < local.size() ? local.peek(l) : 0;
      int lengthBytes = Burst.lengthBytes(d);
      if (l < local.size() && owed >= lengthBytes) {
        offeredLocal |= LocalQueue.one(d) << n;
        owed -= lengthBytes;
        l++;
      } else {
        d = transit.peek(t++);
        lengthBytes = Burst.lengthBytes(d);
        owed += lengthBytes >> OWED_BITS;
      }
      spareBytes -= lengthBytes;
      tx.set(n, d);
      n += LocalQueue.one(d);
    }
    return offerLocalToo(n, l, room, spareBytes);
  }

  /** A bit for each place of an offer from {@code n} on. */
  private static int placesFrom(int n) {
    return n >= BURST ? 0 : -1 << n;
  }

  /**
   * The port took so many of the frames that {@link #offer} chose.
   *
   * @return frames that it took, those behind the queue's end included, which it is offered now
   */
  int taken(int frames) {
    if (offers == PASSED) {
      return takenPassed(frames);
    }
    if (offers == TRANSIT) {
      return takenAlone(transit, frames);
    }
    if (offers == CONTROL) {
      int answers = takenAlone(control, frames);
      control.sealed(offeredUnsealed - answers);
      return answers;
    }
    int taken = frames;
    if (offers == LOCAL) {
      taken += restOf(frames, local.ring(), LocalQueue.unbroken(local.taken(), offeredMost));
      portBound.handedOver(local.drop(taken));
    } else {
      takenOfAll(taken);
    }
    local.noteWhatPortLeft(taken);
    noteLeft(others && control.size() + transit.size() > 0 || local.size() > 0);
    return taken;
  }

  /** {@link #taken} of what {@link #offerUsual} chose, all of which is sealed. */
  int takenUsual(int frames) {
    if (offers != LOCAL) {
      return taken(frames);
    }
    local.noteSealed();
    portBound.handedOver(local.drop(frames));
    local.noteWhatPortLeft(frames);
    noteLeft(local.size() > 0);
    return frames;
  }

  /** {@link #taken} of what was passed on: what is left waits in the queue. */
  private int takenPassed(int frames) {
    if (frames == passedCount) {
      portBound.handedOver(passedBytes);
      nonePassed();
      noteOthersLeft(false);
      return frames;
    }
    for (int i = 0; i < frames; i++) {
      portBound.handedOver(Burst.lengthBytes(passed.get(passedFrom + i)));
    }
    passedFrom += frames;
    passedCount -= frames;
    keepPassed();
    return frames;
  }

  /** {@link #taken} of the only queue with frames. */
  private int takenAlone(FrameQueue queue, int frames) {
    int taken = frames;
    boolean all = frames == offeredMost;
    int unbroken = all ? frames : queue.unbroken(offeredMost);
    // Before another burst, in which the port may be done with these.
    pass(queue, frames);
    if (!all) {
      int rest = restOf(frames, queue.ring(), unbroken);
      pass(queue, rest);
      taken += rest;
    }
    noteOthersLeft(queue.size() > 0);
    return taken;
  }

  /**
   * When the port took all up to a ring's end, it is offered what stands at the beginning.
   *
   * @return frames that it took of that; none when it threw: what it took before, and what other
   *     ports did, must not be offered again for that
   */
  private int restOf(int taken, Burst ring, int unbroken) {
    if (taken != unbroken || taken == offeredMost) {
      return 0;
    }
    try {
      return port.txBurst(ring, 0, offeredMost - unbroken);
    } catch (RuntimeException e) {
      faults.keep(e);
      return 0;
    }
  }

  /** Frames at a queue's head passed to the port. */
  private void pass(FrameQueue queue, int taken) {
    BufferPool buffers = pool;
    long bytes = 0;
    for (int i = 0; i < taken; i++) {
      long d = queue.peek(i);
      bytes += Burst.lengthBytes(d);
      buffers.transfer(Burst.id(d), Owner.NODE, Owner.PORT);
    }
    queue.drop(taken);
    portBound.handedOver(bytes);
  }

  private void takenOfAll(int taken) {
    passToPort(taken);
    int answers = Math.min(taken, offeredControl);
    control.drop(answers);
    control.sealed(offeredUnsealed - answers);
    int ours = Integer.bitCount(offeredLocal & ~placesFrom(taken));
    transit.drop(taken - answers - ours);
    for (int i = 0; i < ours; i++) {
      local.skipTakenOut();
      local.drop();
    }
    // Where nobody waits any more, nothing is owed to who comes later.
    owedBytes = local.size() == 0 || transit.size() == 0 ? 0 : owedBehind(answers, taken);
  }

  /** What local frames are owed when the port has taken these relayed and local ones. */
  private int owedBehind(int from, int to) {
    int owed = owedBytes;
    for (int i = from; i < to; i++) {
      int lengthBytes = Burst.lengthBytes(tx.get(i));
      owed += (offeredLocal >>> i & 1) == 0 ? lengthBytes >> OWED_BITS : -lengthBytes;
    }
    return owed;
  }

  /** Frames without a hold passed to the port with their only reference. */
  private void passToPort(int taken) {
    for (int i = 0; i < taken; i++) {
      long d = tx.get(i);
      portBound.handedOver(Burst.lengthBytes(d));
      if ((d & Burst.HOLD) == 0) {
        pool.transfer(Burst.id(d), Owner.NODE, Owner.PORT);
      }
    }
  }

  /**
   * Takes waiting local frames out: the holder of a held frame is about to release or rewrite it.
   * Rare. The rest keeps its order and its places, because a place is what {@link #hasLeftQueue}
   * asks for.
   */
  void purge(int bufferId) {
    int n = local.size();
    for (int i = 0; i < n; i++) {
      if (Burst.id(local.peek(i)) == bufferId) {
        local.takeOut(i);
      }
    }
  }

  /** {@link #purge} of all that one owner holds: a session ended. */
  void purgeHeldBy(int owner) {
    int n = local.size();
    for (int i = 0; i < n; i++) {
      long d = local.peek(i);
      if (d != LocalQueue.TAKEN_OUT && pool.owner(Burst.id(d)) == owner) {
        local.takeOut(i);
      }
    }
  }

  /** Gives every waiting frame without a holder back to the pool, at the end. */
  void close() {
    releaseUnheld(local.size());
    release(control, control.size());
    keepPassed();
    release(transit, transit.size());
    port.close();
  }
}
