package org.pmhxb.pm;

import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.flow.DescriptorQueue;
import org.pmhxb.pm.flow.FrameRun;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.port.Port;

/**
 * A port with the frames that wait for it. Acknowledgements overtake relayed frames, and these
 * overtake local frames (DESIGN rules 14 and 15); local frames, path probes among them, keep their
 * order, which is what makes a path FIFO. Owner: the poll thread.
 */
final class Rail {
  private static final int BURST = 32;
  private static final int CONTROL_CAPACITY = 1024;
  private static final int TRANSIT_CAPACITY = 1024;
  private static final int LOCAL_CAPACITY = 1024;

  /** Place of a frame that was taken out of the local queue; buffer ID 0 is none. */
  private static final long PURGED = 0;

  final int index;
  final Port port;
  final long macAddress;
  final Burst rx = new Burst(BURST);

  private final BufferPool pool;
  private final Burst tx = new Burst(BURST);
  private final DescriptorQueue control = new DescriptorQueue(CONTROL_CAPACITY);
  private final DescriptorQueue transit = new DescriptorQueue(TRANSIT_CAPACITY);
  private final DescriptorQueue local = new DescriptorQueue(LOCAL_CAPACITY);
  private long localBytes;
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
    return localBytes + portBound.backlogBytes();
  }

  /** Time of the port's longest frame on the link; 0 while not known. */
  long frameNs() {
    return portBound.frameNs();
  }

  boolean hasLocalRoom() {
    return !local.isFull();
  }

  /** Local frames that fit now. */
  int localRoom() {
    return local.room();
  }

  /** A new local frame would not leave with the next burst. */
  boolean hasBurstWaiting() {
    return local.size() >= BURST;
  }

  boolean isIdle() {
    return control.size() + transit.size() + local.size() == 0;
  }

  boolean putControl(int id, int lengthBytes) {
    return control.put(Burst.descriptor(id, lengthBytes));
  }

  boolean putTransit(int id, int lengthBytes) {
    return transit.put(Burst.descriptor(id, lengthBytes));
  }

  /** A frame of this node that goes once: a path probe. */
  boolean putLocal(int id, int lengthBytes) {
    if (!local.put(Burst.descriptor(id, lengthBytes))) {
      return false;
    }
    localBytes += lengthBytes;
    return true;
  }

  /**
   * A data frame that the send window goes on holding. The caller has checked {@link
   * #hasLocalRoom}.
   *
   * @return ticket for {@link #hasLeftQueue}
   */
  int putHeld(int id, int lengthBytes) {
    int ticket = local.ticket();
    local.put(Burst.descriptor(id, lengthBytes) | Burst.HOLD);
    localBytes += lengthBytes;
    return ticket;
  }

  /** The same for several, of which {@link #localRoom} has room: ticket of the first. */
  int putHeld(FrameRun frames) {
    int ticket = local.ticket();
    int[] ids = frames.ids();
    for (int i = 0; i < frames.size(); i++) {
      local.put(Burst.descriptor(ids[i], frames.frameBytes(i)) | Burst.HOLD);
    }
    localBytes += frames.bytes();
    return ticket;
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
    int c = control.size();
    int t = transit.size();
    dropPurged();
    int l = local.size();
    if (c + t + l == 0) {
      return 0;
    }
    int room = Math.min(port.txRoom(), BURST);
    c = Math.min(c, room);
    long spareBytes = portBound.spareBytes(port.txBacklogBytes(), nowNs, pollGapNs);
    int n = 0;
    for (int i = 0; i < c; i++) {
      tx.set(n++, control.peek(i));
    }
    t = Math.min(t, room - c);
    for (int i = 0; i < t && spareBytes > 0; i++) {
      long d = transit.peek(i);
      spareBytes -= Burst.lengthBytes(d);
      tx.set(n++, d);
    }
    t = n - c;
    for (int i = 0; i < l && n < room && spareBytes > 0; i++) {
      long d = local.peek(i);
      if (d != PURGED) {
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
      dropPurged();
      localBytes -= Burst.lengthBytes(local.peek(0));
      local.drop(1);
    }
    return taken;
  }

  /** Removes places of purged frames from the head of the local queue. */
  private void dropPurged() {
    while (local.size() > 0 && local.peek(0) == PURGED) {
      local.drop(1);
    }
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
        takeOut(i);
      }
    }
  }

  /** {@link #purge} of all that one owner holds: a session ended. */
  void purgeHeldBy(int owner) {
    int n = local.size();
    for (int i = 0; i < n; i++) {
      long d = local.peek(i);
      if (d != PURGED && pool.owner(Burst.id(d)) == owner) {
        takeOut(i);
      }
    }
  }

  private void takeOut(int i) {
    long d = local.peek(i);
    localBytes -= Burst.lengthBytes(d);
    local.replace(i, PURGED);
    if ((d & Burst.HOLD) == 0) {
      pool.release(Burst.id(d), Owner.NODE);
    }
  }

  /** Gives every waiting frame without a holder back to the pool, at the end. */
  void close() {
    for (int i = 0; i < local.size(); i++) {
      if (local.peek(i) != PURGED) {
        takeOut(i);
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
