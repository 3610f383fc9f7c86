package org.pmhxb.router;

import java.lang.foreign.MemorySegment;
import org.pmhxb.pm.DropReason;
import org.pmhxb.pm.Routing;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * Routes by dimension order (PROTOCOL.md section 2.5; PM/Ethernet-HXB section 3): a frame travels
 * along X, then Y, then Z, and each node where it turns is its relay. Owner: the node's poll
 * thread.
 *
 * <p>The source of a frame uses the order XYZ, and the other orders as detours while no path of
 * that one lives; {@link #transit} obeys any of the six that a path names. A path names every hop,
 * so no detour can loop. Nothing here grows with the number of peers but {@link Shape}'s one int
 * per node, which all nodes of a process share.
 */
public final class DimensionOrderRouting implements Routing {
  private static final int TOO_SHORT = DropReason.TOO_SHORT.code();
  private static final int UNKNOWN_NODE = DropReason.UNKNOWN_NODE.code();
  private static final int MALFORMED = DropReason.MALFORMED.code();
  private static final int HOP_LIMIT = DropReason.HOP_LIMIT.code();
  private static final int NO_ROUTE = DropReason.NO_ROUTE.code();

  /** Where the kind lies in what {@link FrameHeader#wireNodes} leaves 0. */
  private static final int WIRE_KIND = Long.numberOfTrailingZeros(FrameHeader.stored(1L << 56));

  private final Shape shape;
  private final int self;
  private final int nodes;
  private final int ownPosition;
  private final int rails;
  private final int[] railBases = new int[Dimension.COUNT];
  private final int[][] paths;
  private final int[][] firstChoices;
  private final Discovery discovery;
  private final NeighbourTable neighbours;

  /** Bits of the packed coordinates by mask of dimensions. */
  private final int[] fields = new int[8];

  /**
   * What to do with a transit frame, by {@link PathCode#stepIndex}: -1 where its path does not pass
   * such a place, else
   *
   * <pre>
   *   0-4 first ingress rail of the dimension | 5-8 its shift in the path
   *   9-13 first egress rail of the dimension | 14-17 its shift in the path
   *  18-22 shift of the egress coordinate in a position | 23-27 its width in bits
   *  28-62 first slot of the egress dimension in the neighbour table
   * </pre>
   */
  private final long[] steps = new long[PathCode.STEP_COUNT];

  private final TransitCache transits = new TransitCache();

  /** Routes of the node that {@code discovery} speaks for, by what it finds out. */
  public DimensionOrderRouting(Discovery discovery) {
    this.discovery = discovery;
    this.shape = discovery.shape();
    this.self = discovery.self();
    this.nodes = shape.nodes();
    this.ownPosition = shape.position(self);
    this.rails = discovery.layout().perDimension();
    this.paths = PathTable.withDetours(rails);
    this.firstChoices = PathTable.rows(rails);
    this.neighbours = discovery.table();
    for (int d = 0; d < Dimension.COUNT; d++) {
      railBases[d] = discovery.layout().base(d);
      for (int mask = 0; mask < fields.length; mask++) {
        fields[mask] |= (mask >> d & 1) != 0 ? shape.field(d) : 0;
      }
    }
    for (int i = 0; i < steps.length; i++) {
      steps[i] = packedStep(PathCode.step(i >> 6, i >> 3 & 7, i & 7));
    }
  }

  private long packedStep(int step) {
    if (step < 0) {
      return -1;
    }
    int ingress = step >> 2;
    int egress = step & 3;
    return railBases[ingress]
        | PathCode.railShift(ingress) << 5
        | railBases[egress] << 9
        | PathCode.railShift(egress) << 14
        | shape.shift(egress) << 18
        | (long) Integer.bitCount(shape.field(egress)) << 23
        | (long) neighbours.base(egress) << 28;
  }

  /** The shape that this node is part of. */
  public Shape shape() {
    return shape;
  }

  /** How this node's rails are numbered. */
  public RailLayout layout() {
    return discovery.layout();
  }

  /** What finds the neighbours. */
  public Discovery discovery() {
    return discovery;
  }

  @Override
  public int self() {
    return self;
  }

  @Override
  public int nodes() {
    return nodes;
  }

  @Override
  public int pathCount(int node) {
    return paths[hopMask(node)].length;
  }

  @Override
  public int firstChoiceCount(int node) {
    return firstChoices[hopMask(node)].length;
  }

  @Override
  public int path(int node, int index) {
    return paths[hopMask(node)][index];
  }

  @Override
  public int egressRail(int node, int index) {
    int hops = hopMask(node);
    return egressRailOfHops(hops, paths[hops][index]);
  }

  private int egressRailOfHops(int hops, int path) {
    int first = PathCode.firstDimension(PathCode.order(path), hops);
    return railBases[first] + PathCode.railIndex(path, first);
  }

  @Override
  public long nextHopMac(int node, int index) {
    int position = shape.position(node);
    int hops = shape.differing(position, ownPosition);
    return nextHopMac(position, hops, paths[hops][index]);
  }

  private long nextHopMac(int position, int hops, int path) {
    int first = PathCode.firstDimension(PathCode.order(path), hops);
    int railIndex = PathCode.railIndex(path, first);
    return neighbours.mac(neighbours.slot(first, shape.coordinate(position, first), railIndex));
  }

  @Override
  public int wayBack(int node, int path) {
    return PathCode.isOf(hopMask(node), rails, path) ? PathCode.reversed(path) : NO_PATH;
  }

  @Override
  public int egressRailOf(int node, int path) {
    return egressRailOfHops(hopMask(node), path);
  }

  @Override
  public long nextHopMacOf(int node, int path) {
    int position = shape.position(node);
    return nextHopMac(position, shape.differing(position, ownPosition), path);
  }

  @Override
  public int hops(int node) {
    return Integer.bitCount(hopMask(node));
  }

  private int hopMask(int node) {
    return shape.differing(shape.position(node), ownPosition);
  }

  /**
   * {@inheritDoc}
   *
   * <p>A frame passes only when this node lies on exactly the path that it names, and when it came
   * in on the rail that the path names: what a switch floods to nodes that it is not for, and what
   * loops, ends here. A frame with hop limit h may take h hops in all, so it is dropped here unless
   * at least 2 are left.
   */
  @Override
  public int transit(MemorySegment frames, long at, int lengthBytes, int ingressRail) {
    if (lengthBytes < FrameHeader.BYTES) {
      return TOO_SHORT;
    }
    transits.keepOnly(neighbours.changes());
    long key = key(frames, at, ingressRail);
    int hop = FrameHeader.wireHop(frames, at);
    long rest = FrameHeader.wireRest(frames, at);
    long place = transits.placeOf(key, FrameHeader.wirePathOf(rest));
    if (!TransitCache.isOf(place, key) || !TransitCache.saysTheSame(place, hop, rest)) {
      int verdict = workOut(frames, at, ingressRail, place, key);
      if (verdict < 0) {
        return verdict;
      }
    }
    return forward(frames, at, place);
  }

  /** Enters what a frame is to say when it goes on: 0, or why it does not. */
  private int workOut(MemorySegment frames, long at, int ingressRail, long place, long key) {
    int path = FrameHeader.wireInt(frames, at, FrameHeader.PATH);
    if (!TransitCache.isOf(place, key, path)) {
      int verdict = findTransit(frames, at, ingressRail, place, key, path);
      if (verdict < 0) {
        return verdict;
      }
    }
    int hopWord = FrameHeader.hopWord(frames, at);
    if ((hopWord >>> 16 & 0xFF) < 2) {
      return HOP_LIMIT;
    }
    TransitCache.passes(
        place,
        FrameHeader.wireHop(frames, at),
        FrameHeader.wireRest(frames, at),
        FrameHeader.stored(FrameHeader.forwardWord1(TransitCache.base(place), hopWord)),
        FrameHeader.stored(FrameHeader.forwardWord2(hopWord, FrameHeader.path(frames, at))));
    return 0;
  }

  private static int forward(MemorySegment frames, long at, long place) {
    FrameHeader.frontStored(
        frames,
        at,
        TransitCache.front0(place),
        TransitCache.front1(place),
        TransitCache.front2(place));
    return TransitCache.egressRail(place);
  }

  /** Ends and ingress rail, for {@link #transits}. */
  private static long key(MemorySegment frames, long at, int ingressRail) {
    return FrameHeader.wireNodes(frames, at) | (long) ingressRail << WIRE_KIND;
  }

  /** Enters a flow that passes here into {@link #transits}: 0, or why it does not pass. */
  private int findTransit(
      MemorySegment frames, long at, int ingressRail, long place, long key, int wirePath) {
    int path = FrameHeader.path(frames, at);
    int dst = FrameHeader.dst(frames, at);
    int src = FrameHeader.src(frames, at);
    if (dst >= nodes || src >= nodes) {
      return UNKNOWN_NODE;
    }
    int order = path >>> PathCode.ORDER_SHIFT;
    int dstPosition = shape.position(dst);
    int srcPosition = shape.position(src);
    int hops = shape.differing(dstPosition, srcPosition);
    if (order >= PathCode.ORDERS || (path & (PathCode.RESERVED | PathCode.idleRails(hops))) != 0) {
      return MALFORMED;
    }
    int remaining = shape.differing(dstPosition, ownPosition);
    long step = steps[PathCode.stepIndex(order, hops, remaining)];
    // Dimensions still to be travelled must be the source's: else this is not a place of the path.
    if (step < 0 || ((srcPosition ^ ownPosition) & fields[remaining]) != 0) {
      return NO_ROUTE;
    }
    int bits = (int) step;
    int ingressIndex = path >>> (bits >>> 5 & 0xF) & 0xF;
    int egressIndex = path >>> (bits >>> 14 & 0xF) & 0xF;
    if (ingressIndex >= rails
        || egressIndex >= rails
        || ingressRail != (bits & 0x1F) + ingressIndex) {
      return NO_ROUTE;
    }
    int egressRail = (bits >>> 9 & 0x1F) + egressIndex;
    int coordinate = dstPosition >>> (bits >>> 18) & (1 << (bits >>> 23 & 0x1F)) - 1;
    long next = neighbours.mac((int) (step >>> 28) + coordinate * rails + egressIndex);
    long own = neighbours.own(egressRail);
    if (next == 0 || own == 0) {
      return NO_ROUTE;
    }
    TransitCache.put(
        place,
        key,
        wirePath,
        egressRail,
        FrameHeader.stored(FrameHeader.frontWord0(next, own)),
        FrameHeader.forwardBase(own));
    return 0;
  }

  @Override
  public void onLinkFrame(int rail, MemorySegment frames, long at, int lengthBytes, long nowNs) {
    discovery.onLinkFrame(rail, frames, at, lengthBytes, nowNs);
  }

  @Override
  public int linkWork(long nowNs, LinkOutput out) {
    return discovery.linkWork(nowNs, out);
  }

  @Override
  public long nextLinkWorkNs(long nowNs) {
    return discovery.nextLinkWorkNs(nowNs);
  }

  @Override
  public boolean complete() {
    return discovery.complete();
  }
}
