package org.pmhxb.router.fabric;

import java.util.ArrayList;
import java.util.List;
import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.ffi.Hxb;
import org.pmhxb.ffi.Wires;
import org.pmhxb.ffi.Wires.Count;

/**
 * The wire of the ring fabric: one software crossbar switch per line and rail.
 *
 * <p>It copies each frame once into a buffer of the <em>receiving node's own pool</em> (none free:
 * dropped and counted, as a NIC does) and frees the sender's reference. {@code net_ring} alone
 * would hand over the sender's own buffer, and the receiver would edit the frame that the sender
 * holds for resend. The shim does it (native/src/wire.c), all rails of a node in one call.
 *
 * <p>Owner: one thread. Buffers on the wire are below Java's ownership table, as in a driver.
 */
public final class RingWire implements AutoCloseable {
  private final List<Line> lines = new ArrayList<>();

  /** What was counted until the wire was closed. */
  private final long[] last = new long[Count.values().length];

  /** Nodes that have a station are below it. */
  private int nodes;

  /** 0: closed. */
  private long wire = Wires.create();

  /** A new switch; attach its stations before the first round. */
  public Line addLine() {
    Line line = new Line(lines.size());
    lines.add(line);
    return line;
  }

  /** The switch of one line and rail. */
  public final class Line {
    private final int number;

    private Line(int number) {
      this.number = number;
    }

    /**
     * Plugs a node's rail in.
     *
     * @param node whose frames go with {@link #carry}
     * @param txRing what the node sends
     * @param rxRing what it receives
     */
    public void attach(int node, long txRing, long rxRing, long mac, DpdkPool pool) {
      Wires.attach(wire, number, node, txRing, rxRing, mac, pool.handle());
      nodes = Math.max(nodes, node + 1);
    }

    /** Cuts the line silently, or mends it: the carrier stays up. Any thread, before the close. */
    public void cut(boolean dead) {
      if (wire != 0) {
        Wires.cut(wire, number, dead);
      }
    }
  }

  /** Carries what a node sent, 32 frames of each rail at most; returns how many. */
  public int carry(int node) {
    return wire == 0 ? 0 : Hxb.wireCarry(wire, node);
  }

  /** {@link #carry} for every node; returns how many frames left them. */
  public int carryAll() {
    int carried = 0;
    for (int node = 0; node < nodes; node++) {
      carried += carry(node);
    }
    return carried;
  }

  private long count(Count what) {
    return wire == 0 ? last[what.ordinal()] : Wires.count(wire, what);
  }

  /** Frames copied, once per frame and receiver. */
  public long copies() {
    return count(Count.COPIES);
  }

  /** Bytes of the frames copied. */
  public long bytes() {
    return count(Count.BYTES);
  }

  /** Frames lost on cut lines. */
  public long lost() {
    return count(Count.LOST);
  }

  /** Frames dropped because the receiving node had no free buffer, or its buffers are too short. */
  public long noBuffer() {
    return count(Count.NO_BUFFER);
  }

  /** Frames dropped because the receiving rail's ring was full. */
  public long ringFull() {
    return count(Count.RING_FULL);
  }

  /** Frames to an address that no station has. */
  public long unknownAddress() {
    return count(Count.UNKNOWN);
  }

  /** Switches of the wire, in the order of {@link #addLine}. */
  public List<Line> lines() {
    return List.copyOf(lines);
  }

  /** Ends the wire, before its rings and pools go. What it counted can still be asked. */
  @Override
  public void close() {
    if (wire == 0) {
      return;
    }
    for (Count what : Count.values()) {
      last[what.ordinal()] = Wires.count(wire, what);
    }
    Wires.destroy(wire);
    wire = 0;
  }
}
