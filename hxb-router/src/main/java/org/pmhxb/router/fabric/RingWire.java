package org.pmhxb.router.fabric;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.ffi.Hxb;
import org.pmhxb.pm.PollWork;
import org.pmhxb.pm.port.Burst;

/**
 * The wire of the ring fabric: one software crossbar switch per line and rail (DESIGN section 1).
 *
 * <p>It copies each frame once into a buffer of the <em>receiving node's own pool</em> (none free:
 * dropped and counted, as a NIC does) and frees the sender's reference. {@code net_ring} alone
 * would hand over the sender's own buffer, and the receiver would edit the frame that the sender
 * holds for resend.
 *
 * <p>Owner: one thread. Buffers on the wire are below Java's ownership table, as in a driver.
 */
public final class RingWire implements PollWork, AutoCloseable {
  private static final int BURST = 32;
  private static final int STASH = 64;
  private static final long BROADCAST = 0xFFFF_FFFF_FFFFL;
  private static final ValueLayout.OfLong BE_LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

  private final List<Line> lines = new ArrayList<>();
  private final List<Intake> intakes = new ArrayList<>();
  private final Burst in = new Burst(BURST);
  private final MemorySegment freed = Arena.global().allocate((long) BURST * Integer.BYTES, 64);

  private long copies;
  private long bytes;
  private long lost;
  private long noBuffer;
  private long ringFull;
  private long unknownAddress;

  /** A new switch; attach its stations before the first round. */
  public Line addLine() {
    Line line = new Line();
    lines.add(line);
    return line;
  }

  /** Where frames for one node get their buffers: the node's own pool, a few kept at hand. */
  private static final class Intake {
    final DpdkPool pool;
    final MemorySegment ids = Arena.global().allocate((long) STASH * Integer.BYTES, 64);
    int count;

    Intake(DpdkPool pool) {
      this.pool = pool;
    }

    int take() {
      if (count == 0) {
        count = Math.max(0, Hxb.poolAlloc(pool.handle(), ids.address(), STASH));
        if (count == 0) {
          return 0;
        }
      }
      return ids.getAtIndex(INT, --count);
    }

    void give(int id) {
      if (count == STASH) {
        giveBack();
      }
      ids.setAtIndex(INT, count++, id);
    }

    void giveBack() {
      if (count > 0) {
        Hxb.poolRelease(pool.handle(), ids.address(), count);
        count = 0;
      }
    }
  }

  private Intake intake(DpdkPool pool) {
    for (Intake known : intakes) {
      if (known.pool == pool) {
        return known;
      }
    }
    Intake made = new Intake(pool);
    intakes.add(made);
    return made;
  }

  /** One end of a cable. */
  private static final class Station {
    final long fromNode;
    final long toNode;
    final long mac;
    final DpdkPool pool;
    final MemorySegment memory;
    final Intake intake;
    final Burst out = new Burst(BURST);
    int outCount;

    Station(long fromNode, long toNode, long mac, DpdkPool pool, Intake intake) {
      this.fromNode = fromNode;
      this.toNode = toNode;
      this.mac = mac;
      this.pool = pool;
      this.memory = pool.memory();
      this.intake = intake;
    }
  }

  /** The switch of one line and rail. */
  public final class Line {
    private Station[] stations = new Station[0];
    private boolean cut;

    /**
     * Plugs a node's rail in.
     *
     * @param txRing what the node sends
     * @param rxRing what it receives
     */
    public void attach(long txRing, long rxRing, long mac, DpdkPool pool) {
      Station[] more = java.util.Arrays.copyOf(stations, stations.length + 1);
      more[stations.length] = new Station(txRing, rxRing, mac, pool, intake(pool));
      stations = more;
    }

    /** Cuts the line silently, or mends it: the carrier stays up. */
    public void cut(boolean dead) {
      cut = dead;
    }

    int doWork() {
      int work = 0;
      for (Station from : stations) {
        work += carryFrom(from);
      }
      return work;
    }

    private int carryFrom(Station from) {
      int n = Hxb.ringDequeue(from.fromNode, from.pool.handle(), in.address(), BURST);
      if (n <= 0) {
        return 0;
      }
      for (int i = 0; i < n; i++) {
        long d = in.get(i);
        freed.setAtIndex(INT, i, Burst.id(d));
        if (cut) {
          lost++;
        } else {
          carry(from, d);
        }
      }
      for (Station to : stations) {
        if (to.outCount > 0) {
          deliver(to);
        }
      }
      Hxb.poolRelease(from.pool.handle(), freed.address(), n);
      return n;
    }

    private void carry(Station from, long descriptor) {
      long at = from.pool.frameAt(Burst.id(descriptor));
      long dst = from.memory.get(BE_LONG, at) >>> 16;
      int lengthBytes = Burst.lengthBytes(descriptor);
      boolean known = false;
      for (Station to : stations) {
        if (to.mac == dst || dst == BROADCAST && to != from) {
          known = true;
          copy(from, at, lengthBytes, to);
        }
      }
      if (!known) {
        unknownAddress++;
      }
    }
  }

  private void copy(Station from, long at, int lengthBytes, Station to) {
    int id = to.intake.take();
    if (id == 0) {
      noBuffer++;
      return;
    }
    MemorySegment.copy(from.memory, at, to.memory, to.pool.frameAt(id), lengthBytes);
    copies++;
    bytes += lengthBytes;
    to.out.set(to.outCount++, Burst.descriptor(id, lengthBytes));
  }

  private void deliver(Station to) {
    int n = to.outCount;
    int taken = Math.max(0, Hxb.ringEnqueue(to.toNode, to.pool.handle(), to.out.address(), n));
    for (int i = taken; i < n; i++) {
      to.intake.give(Burst.id(to.out.get(i)));
      ringFull++;
    }
    to.outCount = 0;
  }

  @Override
  public int doWork(long nowNs) {
    int work = 0;
    for (int i = 0; i < lines.size(); i++) {
      work += lines.get(i).doWork();
    }
    return work;
  }

  @Override
  public long nextDeadlineNs(long nowNs) {
    return nowNs;
  }

  /** Frames copied, once per frame and receiver. */
  public long copies() {
    return copies;
  }

  /** Bytes of the frames copied. */
  public long bytes() {
    return bytes;
  }

  /** Frames lost on cut lines. */
  public long lost() {
    return lost;
  }

  /** Frames dropped because the receiving node had no free buffer. */
  public long noBuffer() {
    return noBuffer;
  }

  /** Frames dropped because the receiving rail's ring was full. */
  public long ringFull() {
    return ringFull;
  }

  /** Frames to an address that no station has. */
  public long unknownAddress() {
    return unknownAddress;
  }

  /** Switches of the wire, in the order of {@link #addLine}. */
  public List<Line> lines() {
    return List.copyOf(lines);
  }

  /** Gives the buffers kept at hand back to their pools. */
  @Override
  public void close() {
    intakes.forEach(Intake::giveBack);
  }
}
