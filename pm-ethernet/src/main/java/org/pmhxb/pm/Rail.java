package org.pmhxb.pm;

import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.flow.DescriptorQueue;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.port.Port;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * A port with the frames that wait for it. Acknowledgements overtake relayed frames, and these
 * overtake local frames (DESIGN rules 14 and 15); local frames, path probes among them, keep their
 * order, which is what makes a path FIFO. Owner: the poll thread.
 */
final class Rail {
  /** Frames that one call of the port moves at most. */
  static final int BURST = 32;

  private static final int CONTROL_CAPACITY = 1024;
  private static final int TRANSIT_CAPACITY = 1024;

  final int index;
  final Port port;
  final long macAddress;
  final Burst rx = new Burst(BURST);

  /** Frames in {@link #rx}. */
  int arrived;

  /**
   * The hop part of the last frame that came intact, as it lay there: frames of one way say the
   * same in it, so what says it again needs no check. {@link FrameHeader#wireHop}.
   */
  long intactHop = FrameHeader.wireHopOfNoPath();

  int intactPath;

  private final BufferPool pool;
  private final Burst tx = new Burst(BURST);
  private final DescriptorQueue control = new DescriptorQueue(CONTROL_CAPACITY);
  private final DescriptorQueue transit = new DescriptorQueue(TRANSIT_CAPACITY);
  final LocalQueue local = new LocalQueue();
  private final PortBound portBound;

  Rail(int index, Port port, BufferPool pool) {
    this.index = index;
    this.port = port;
    this.pool = pool;
    this.macAddress = port.macAddress();
    this.portBound = new PortBound(port.maxFrameBytes());
  }

  /** Bytes that a new local frame would wait behind. */
  long backlogBytes() {
    return local.bytes() + portBound.backlogBytes();
  }

  /** Time of the port's longest frame on the link; 0 while not known. */
  long frameNs() {
    return portBound.frameNs();
  }

  boolean hasLocalRoom() {
    return !local.isFull();
  }

  /** A new local frame would not leave with the next burst. */
  boolean hasBurstWaiting() {
    return local.size() >= BURST;
  }

  boolean isIdle() {
    return control.size() + transit.size() + local.size() == 0;
  }

  /**
   * Time until the port takes more of what waits here: reckoned from the rate at which it drains; 0
   * where that is not known, and for what waits for a place in the port's ring.
   */
  long untilRoomNs() {
    return control.size() > 0 ? 0 : portBound.untilRoomNs();
  }

  boolean putControl(int id, int lengthBytes) {
    return control.put(Burst.descriptor(id, lengthBytes));
  }

  /** A relayed frame as it was received: buffer ID and length. */
  boolean putTransit(long descriptor) {
    return transit.put(descriptor);
  }

  /** A frame of this node that goes once: a path probe. */
  boolean putLocal(int id, int lengthBytes) {
    if (local.isFull()) {
      return false;
    }
    local.putUnheld(id, lengthBytes);
    return true;
  }

  /** Whether the frame with this ticket was handed to the port. */
  boolean hasLeftQueue(int ticket) {
    return local.taken() - ticket > 0;
  }

  /**
   * Offers what is known to fit, relayed and local frames within the port's bound; returns the
   * frames that the port took.
   *
   * @param pollGapNs worst recent gap between two calls
   */
  int flush(long nowNs, long pollGapNs) {
    local.skipTakenOut();
    boolean localOnly = control.size() + transit.size() == 0;
    if (localOnly && local.size() == 0) {
      return 0;
    }
    int room = Math.min(port.txRoom(), BURST);
    long spareBytes = portBound.spareBytes(port.txBacklogBytes(), nowNs, pollGapNs);
    return localOnly && local.isPlain() ? flushLocal(room, spareBytes) : flushAll(room, spareBytes);
  }

  /** The usual case: nothing but data frames of this node, which the port takes from the queue. */
  private int flushLocal(int room, long spareBytes) {
    int n = local.within(spareBytes, Math.min(room, local.size()));
    int unbroken = LocalQueue.unbroken(local.taken(), n);
    int taken = n == 0 ? 0 : port.txBurst(local.ring(), local.first(), unbroken);
    if (taken == unbroken && taken < n) {
      taken += port.txBurst(local.ring(), 0, n - unbroken);
    }
    portBound.handedOver(local.drop(taken));
    return taken;
  }

  private int flushAll(int room, long spare) {
    long spareBytes = spare;
    int c = Math.min(control.size(), room);
    int n = 0;
    for (int i = 0; i < c; i++) {
      tx.set(n++, control.peek(i));
    }
    int t = Math.min(transit.size(), room - c);
    for (int i = 0; i < t && spareBytes > 0; i++) {
      long d = transit.peek(i);
      spareBytes -= Burst.lengthBytes(d);
      tx.set(n++, d);
    }
    t = n - c;
    int l = local.size();
    for (int i = 0; i < l && n < room && spareBytes > 0; i++) {
      long d = local.peek(i);
      if (d != LocalQueue.TAKEN_OUT) {
        spareBytes -= Burst.lengthBytes(d);
        tx.set(n++, d);
      }
    }
    if (n == 0) {
      return 0;
    }
    int taken = port.txBurst(tx, 0, n);
    passToPort(taken);
    int rest = taken;
    int left = Math.min(rest, c);
    control.drop(left);
    rest -= left;
    left = Math.min(rest, t);
    transit.drop(left);
    rest -= left;
    for (; rest > 0; rest--) {
      local.skipTakenOut();
      local.drop();
    }
    return taken;
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
    for (int i = 0; i < local.size(); i++) {
      long d = local.peek(i);
      if (d != LocalQueue.TAKEN_OUT && (d & Burst.HOLD) == 0) {
        pool.release(Burst.id(local.takeOut(i)), Owner.NODE);
      }
    }
    for (; control.size() > 0; control.drop(1)) {
      pool.release(Burst.id(control.peek(0)), Owner.NODE);
    }
    for (; transit.size() > 0; transit.drop(1)) {
      pool.release(Burst.id(transit.peek(0)), Owner.NODE);
    }
    port.close();
  }
}
