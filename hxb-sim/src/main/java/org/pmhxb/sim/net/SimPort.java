package org.pmhxb.sim.net;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.port.Port;
import org.pmhxb.pm.port.PortCounters;
import org.pmhxb.sim.Event;
import org.pmhxb.sim.fault.Fault;
import org.pmhxb.sim.fault.FaultKind;

/**
 * A rail as a driver presents it. A frame's bytes are read when it leaves, as a NIC does by DMA,
 * and must then be what they were at acceptance: nobody may write a frame that the port has, and
 * {@link Fabric.Watch#frameRewritten} hears of it. Buffers come back at a later call; rings are
 * finite; {@link FaultKind.Scope#PORT} faults make it as bad as real ones.
 *
 * <p>Owner: the simulation's thread.
 */
public final class SimPort implements Port {
  /** A frame that the port accepted. */
  private static final class Sending {
    final int id;
    final int length;
    final int checksum;
    long departureNs;

    Sending(int id, int length, int checksum) {
      this.id = id;
      this.length = length;
      this.checksum = checksum;
    }
  }

  private static final class ActiveFault {
    final Fault fault;
    final SplittableRandom random;

    ActiveFault(Fault fault, long salt) {
      this.fault = fault;
      this.random = new SplittableRandom(fault.seed() * 31 + salt);
    }
  }

  final Fabric fabric;
  final int node;
  final int dimension;
  final int index;
  final LinkFaults transmitting;
  final LinkFaults receiving;
  private final Host host;
  private final BufferPool pool;
  private final LinkSpec link;
  private final long mac;
  private final CRC32C crc = new CRC32C();
  private final Event departure = this::depart;
  private final List<ActiveFault> faults = new ArrayList<>();
  private Crossbar.Socket socket;
  private boolean dead;

  private final ArrayDeque<Sending> sending = new ArrayDeque<>();
  private final ArrayDeque<Sending> stranded = new ArrayDeque<>();
  private final ArrayDeque<Sending> departed = new ArrayDeque<>();
  private long freeNs;
  private long backlogBytes;

  private final PriorityQueue<WireFrame> arriving = new PriorityQueue<>();
  private final ArrayDeque<WireFrame> ring = new ArrayDeque<>();
  private long arrivals;
  private long rxDropped;

  /** The node that polls this port. */
  public interface Host {
    /** A frame will be there. */
    void wake(long atNs);

    /** The call that runs blocks: the poller goes on so much later. */
    void block(long ns);
  }

  SimPort(
      Fabric fabric,
      int node,
      int dimension,
      int index,
      long mac,
      LinkSpec link,
      BufferPool pool,
      Host host) {
    this.fabric = fabric;
    this.node = node;
    this.dimension = dimension;
    this.index = index;
    this.mac = mac;
    this.link = link;
    this.pool = pool;
    this.host = host;
    this.transmitting = new LinkFaults(true, mac * 2, this::carry);
    this.receiving = new LinkFaults(false, mac * 2 + 1, this::arrive);
  }

  // --- cabling and faults -----------------------------------------------------------------------

  Crossbar.Socket socket() {
    return socket;
  }

  void plugInto(Crossbar.Socket into) {
    socket = into;
    into.port = this;
  }

  /** The node is gone: nothing is sent or received any more. */
  void die() {
    dead = true;
    sending.clear();
    stranded.clear();
    departed.clear();
    arriving.clear();
    ring.clear();
    if (socket.port == this) {
      socket.port = null;
    }
  }

  void begin(Fault fault) {
    if (fault.kind().scope() == FaultKind.Scope.PORT) {
      faults.add(new ActiveFault(fault, mac));
    } else {
      transmitting.begin(fault);
      receiving.begin(fault);
    }
  }

  void end(Fault fault, long nowNs) {
    faults.removeIf(a -> a.fault.equals(fault));
    transmitting.end(fault, nowNs);
    receiving.end(fault, nowNs);
  }

  private ActiveFault active(FaultKind kind) {
    for (int i = 0; i < faults.size(); i++) {
      if (faults.get(i).fault.kind() == kind) {
        return faults.get(i);
      }
    }
    return null;
  }

  // --- transmitting -----------------------------------------------------------------------------

  @Override
  public int txRoom() {
    return Math.max(0, link.ringFrames() - sending.size() - stranded.size());
  }

  @Override
  public int txBurst(Burst burst, int from, int count) {
    long nowNs = fabric.nowNs();
    complete(nowNs);
    int taken = Math.min(count, txRoom());
    ActiveFault partial = active(FaultKind.PARTIAL);
    if (partial != null) {
      taken = (int) Math.min(taken, partial.random.nextLong(partial.fault.amount() + 1));
    }
    ActiveFault blocking = active(FaultKind.BLOCKING);
    if (blocking != null && blocking.random.nextDouble() < blocking.fault.rate()) {
      host.block(blocking.fault.amount());
    }
    kick(nowNs);
    boolean strands = active(FaultKind.STRANDING) != null;
    for (int i = from; i < from + taken; i++) {
      long d = burst.get(i);
      int id = Burst.id(d);
      int length = Burst.lengthBytes(d);
      if ((d & Burst.HOLD) != 0) {
        pool.retain(id);
      }
      Sending frame = new Sending(id, length, checksum(id, length));
      backlogBytes += length;
      if (strands) {
        stranded.add(frame);
      } else {
        enqueue(frame, nowNs);
      }
    }
    return taken;
  }

  private void kick(long nowNs) {
    while (!stranded.isEmpty()) {
      enqueue(stranded.poll(), nowNs);
    }
  }

  private void enqueue(Sending frame, long nowNs) {
    long sendNs = (long) (link.sendNs(frame.length) / transmitting.bandwidth());
    freeNs = Math.max(freeNs, nowNs) + sendNs;
    frame.departureNs = freeNs;
    sending.add(frame);
    if (sending.size() == 1) {
      fabric.queue().add(frame.departureNs, departure);
    }
  }

  private void depart(long nowNs) {
    if (dead || sending.isEmpty()) {
      return;
    }
    Sending frame = sending.poll();
    if (!sending.isEmpty()) {
      fabric.queue().add(sending.peek().departureNs, departure);
    }
    departed.add(frame);
    backlogBytes -= frame.length;
    byte[] bytes = new byte[frame.length];
    MemorySegment.copy(
        pool.memory(), ValueLayout.JAVA_BYTE, pool.frameAt(frame.id), bytes, 0, frame.length);
    WireFrame onWire = new WireFrame(bytes, frame.length);
    if (checksum(bytes, frame.length) != frame.checksum) {
      fabric.watch().frameRewritten(this, onWire.describe());
    }
    if (fabric.log().isOn()) {
      fabric.log().add("tx " + name() + " " + onWire.describe());
    }
    fabric.framesSent++;
    transmitting.pass(onWire, nowNs, nowNs);
  }

  /** A frame left the transmitting direction: to the switch, now or later. */
  private void carry(WireFrame frame, long atNs) {
    if (atNs > fabric.nowNs()) {
      fabric.queue().add(atNs, later -> socket.crossbar.forward(socket, frame, later));
    } else {
      socket.crossbar.forward(socket, frame, atNs);
    }
  }

  private int checksum(int id, int length) {
    crc.reset();
    crc.update(pool.memory().asSlice(pool.frameAt(id), length).asByteBuffer());
    return (int) crc.getValue();
  }

  private int checksum(byte[] bytes, int length) {
    crc.reset();
    crc.update(bytes, 0, length);
    return (int) crc.getValue();
  }

  /** Gives buffers back whose frames have left, at the next call as drivers do. */
  private void complete(long nowNs) {
    ActiveFault late = active(FaultKind.LATE_RELEASE);
    long ageNs = late == null ? 0 : late.fault.amount();
    while (!departed.isEmpty() && departed.peek().departureNs + ageNs <= nowNs) {
      pool.release(departed.poll().id, Owner.PORT);
    }
  }

  @Override
  public long txBacklogBytes() {
    return backlogBytes;
  }

  // --- receiving --------------------------------------------------------------------------------

  private void arrive(WireFrame frame, long atNs) {
    if (dead) {
      return;
    }
    frame.arrivalNs = atNs;
    frame.order = arrivals++;
    arriving.add(frame);
    host.wake(atNs);
  }

  @Override
  public int rxBurst(Burst burst, int max) {
    long nowNs = fabric.nowNs();
    complete(nowNs);
    while (!arriving.isEmpty() && arriving.peek().arrivalNs <= nowNs) {
      WireFrame frame = arriving.poll();
      if (ring.size() < link.ringFrames()) {
        ring.add(frame);
      } else {
        rxDropped++;
      }
    }
    int n = 0;
    while (n < max && !ring.isEmpty()) {
      WireFrame frame = ring.poll();
      int id = frame.length > pool.frameCapacityBytes() ? 0 : pool.allocate(Owner.PORT);
      if (id == 0) {
        rxDropped++;
        continue;
      }
      MemorySegment.copy(
          frame.bytes, 0, pool.memory(), ValueLayout.JAVA_BYTE, pool.frameAt(id), frame.length);
      burst.set(n++, Burst.descriptor(id, frame.length));
      if (fabric.log().isOn()) {
        fabric.log().add("rx " + name() + " " + frame.describe());
      }
    }
    return n;
  }

  /** When the next frame is there to be received, or {@link Long#MAX_VALUE}. */
  public long nextArrivalNs() {
    if (!ring.isEmpty()) {
      return fabric.nowNs();
    }
    return arriving.isEmpty() ? Long.MAX_VALUE : arriving.peek().arrivalNs;
  }

  // --- what it is -------------------------------------------------------------------------------

  @Override
  public String name() {
    return "n" + node + "." + "xyz".charAt(dimension) + index;
  }

  @Override
  public long macAddress() {
    return mac;
  }

  @Override
  public int maxFrameBytes() {
    return pool.frameCapacityBytes();
  }

  @Override
  public boolean linkUp() {
    return !dead;
  }

  @Override
  public int wakeFd() {
    return -1;
  }

  @Override
  public PortCounters counters() {
    return PortCounters.ofDropped(rxDropped);
  }

  /** Nothing on its way out, and no buffer of the node's still here. */
  public boolean isIdle() {
    return sending.isEmpty() && stranded.isEmpty() && departed.isEmpty();
  }

  @Override
  public void close() {
    if (dead) {
      return;
    }
    kick(fabric.nowNs());
    for (Sending frame : sending) {
      departed.add(frame);
    }
    departed.forEach(frame -> pool.release(frame.id, Owner.PORT));
    die();
  }
}
