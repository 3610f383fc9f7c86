package org.pmhxb.cost;

import java.lang.foreign.MemorySegment;
import java.util.function.IntFunction;
import org.pmhxb.pm.PmNode;
import org.pmhxb.pm.Routing;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * The neighbours of a relay announce themselves: their routing is the production class, its frames
 * go straight to the relay's rings.
 */
final class Neighbours implements Routing.LinkOutput {
  private static final long ROUND_NS = 100_000;
  private static final int ROUNDS_MAX = 10_000;

  private final Lab lab;
  private final int node;

  /** Rails that lead to the relay. */
  private final int fromRail;

  private final int toRail;
  private int id;
  private int rail;

  private Neighbours(Lab lab, int node, int fromRail, int toRail) {
    this.lab = lab;
    this.node = node;
    this.fromRail = fromRail;
    this.toRail = toRail;
  }

  /**
   * Until the relay, node 0 of a 2x2 shape, knows both neighbours.
   *
   * @param rails of each dimension; X first
   * @return the time after the last duty cycle
   */
  static long introduce(Lab lab, PmNode relay, int rails, IntFunction<Routing> routings) {
    Routing[] routing = {routings.apply(RelayLoop.SRC), routings.apply(RelayLoop.DST)};
    Neighbours[] out = {
      new Neighbours(lab, RelayLoop.SRC, 0, rails),
      new Neighbours(lab, RelayLoop.DST, rails, 2 * rails)
    };
    long nowNs = 0;
    for (int i = 0; !relay.routing().complete(); i++) {
      if (i == ROUNDS_MAX) {
        throw new IllegalStateException("the relay does not find its neighbours");
      }
      nowNs += ROUND_NS;
      for (int n = 0; n < routing.length; n++) {
        routing[n].linkWork(nowNs, out[n]);
      }
      relay.doWork(nowNs);
      lab.drain();
    }
    return nowNs;
  }

  @Override
  public MemorySegment frames() {
    return lab.frames;
  }

  @Override
  public long begin(int railIndex) {
    lab.allocate(1);
    id = lab.id(0);
    rail = railIndex;
    return lab.pool.frameAt(id);
  }

  @Override
  public long macAddress(int railIndex) {
    return Lab.mac(node, railIndex);
  }

  /** As the node under test has them: its rings carry these. */
  @Override
  public int longestFrameBytes() {
    return lab.pool.frameCapacityBytes();
  }

  @Override
  public int trailerBytes() {
    return 0;
  }

  @Override
  public void commit(int lengthBytes) {
    long at = lab.pool.frameAt(id);
    int length = lengthBytes - FrameHeader.BYTES;
    FrameHeader.endpointsLengthBeyond(lab.frames, at, 0, 0, length, 0);
    FrameHeader.crc(lab.frames, at, lab.crc.of(at, length));
    lab.burst.set(0, Burst.descriptor(id, lengthBytes));
    if (rail >= fromRail && rail < toRail) {
      lab.toNode(rail, 1);
    } else {
      lab.releaseBuffer(id);
    }
  }
}
