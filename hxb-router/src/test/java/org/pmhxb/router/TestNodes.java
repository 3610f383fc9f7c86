package org.pmhxb.router;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.pmhxb.pm.wire.FrameCrc;
import org.pmhxb.pm.wire.FrameHeader;

/** Nodes with made-up addresses that tell node and rail, and frames to pass between them. */
final class TestNodes {
  static final int KEY = 0x1234_5678;

  private TestNodes() {}

  static long mac(int node, int rail) {
    return 0x02L << 40 | (long) node << 8 | rail;
  }

  static int nodeOf(long mac) {
    return (int) (mac >>> 8) & 0xFF_FFFF;
  }

  static int railOf(long mac) {
    return (int) mac & 0xFF;
  }

  static Discovery discovery(Shape shape, int node, int rails) {
    return discovery(shape, node, rails, KEY, 1000L + node);
  }

  static Discovery discovery(Shape shape, int node, int rails, int key, long incarnation) {
    RailLayout layout = new RailLayout(shape, rails);
    List<String> devices = new ArrayList<>();
    for (int rail = 0; rail < layout.count(); rail++) {
      devices.add("n" + node + "-" + layout.name(rail));
    }
    return new Discovery(shape, shape.coordinates(node), layout, key, incarnation, devices);
  }

  /** A node that knows all its neighbours. */
  static DimensionOrderRouting routing(Shape shape, int node, int rails) {
    Discovery discovery = discovery(shape, node, rails);
    RailLayout layout = discovery.layout();
    Coordinates own = shape.coordinates(node);
    for (int rail = 0; rail < layout.count(); rail++) {
      int d = layout.dimension(rail);
      discovery.assumeOwn(rail, mac(node, rail));
      for (int c = 0; c < shape.extent(d); c++) {
        if (c != own.get(d)) {
          int neighbour =
              shape.node(
                  new Coordinates(
                      d == 0 ? c : own.x(), d == 1 ? c : own.y(), d == 2 ? c : own.z()));
          discovery.assume(rail, c, mac(neighbour, rail));
        }
      }
    }
    return new DimensionOrderRouting(discovery);
  }

  static DimensionOrderRouting[] routings(Shape shape, int rails) {
    DimensionOrderRouting[] all = new DimensionOrderRouting[shape.nodes()];
    for (int node = 0; node < all.length; node++) {
      all[node] = routing(shape, node, rails);
    }
    return all;
  }

  static MemorySegment memory() {
    return Arena.ofAuto().allocate(4096, 64);
  }

  /** A DATA frame without payload as its source would send it. */
  static void dataFrame(MemorySegment frames, long at, int src, int dst, int path, int hopLimit) {
    FrameHeader.kindSrc(frames, at, FrameHeader.DATA, src);
    FrameHeader.flagsDst(frames, at, 0, dst);
    FrameHeader.endpointsLengthBeyond(frames, at, 1, 1, 0, 0);
    FrameHeader.hop(frames, at, hopLimit, 0, path);
    FrameHeader.ethernet(frames, at, 0, 0);
    FrameHeader.crc(frames, at, new FrameCrc(frames).of(at, 0));
  }
}
