package org.pmhxb.router;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.pmhxb.pm.DropReason;
import org.pmhxb.pm.Routing;
import org.pmhxb.pm.wire.FrameHeader;

class DimensionOrderRoutingTest {
  private static final int AT = 128;

  private final MemorySegment frames = TestNodes.memory();

  @Provide
  Arbitrary<Shape> shapes() {
    Arbitrary<Integer> extent = Arbitraries.integers().between(1, 4);
    return Combinators.combine(extent, extent, extent).as((x, y, z) -> Shape.of(x, y, z));
  }

  @Property(tries = 60, seed = "1")
  void everyCandidatePathOfEveryPairArrives(
      @ForAll("shapes") Shape shape, @ForAll @IntRange(min = 1, max = 9) int rails) {
    DimensionOrderRouting[] nodes = TestNodes.routings(shape, rails);
    for (int src = 0; src < nodes.length; src++) {
      assertThat(nodes[src].complete()).isTrue();
      assertThat(nodes[src].pathCount(src)).isZero();
      for (int dst = 0; dst < nodes.length; dst++) {
        assertThat(nodes[src].pathCount(dst)).isEqualTo(nodes[dst].pathCount(src));
        for (int i = 0; i < nodes[src].pathCount(dst); i++) {
          int path = nodes[src].path(dst, i);
          long mac = nodes[src].nextHopMac(dst, i);
          walk(nodes, src, dst, path, nodes[src].egressRail(dst, i), mac);
        }
      }
    }
  }

  @Property(tries = 60, seed = "2")
  void relaysObeyEveryDimensionOrder(
      @ForAll("shapes") Shape shape,
      @ForAll @IntRange(min = 1, max = 9) int rails,
      @ForAll @IntRange(min = 0, max = 5) int order) {
    DimensionOrderRouting[] nodes = TestNodes.routings(shape, rails);
    RailLayout layout = new RailLayout(shape, rails);
    for (int src = 0; src < nodes.length; src++) {
      for (int dst = 0; dst < nodes.length; dst++) {
        for (int i = 0; i < nodes[src].pathCount(dst); i++) {
          int path = inOrder(nodes[src].path(dst, i), order);
          int first = firstDifferent(shape, order, src, dst);
          int rail = layout.rail(first, PathCode.railIndex(path, first));
          int next = replace(shape, src, dst, first);
          walk(nodes, src, dst, path, rail, TestNodes.mac(next, rail));
        }
      }
    }
  }

  /** The same rails in another order of the dimensions. */
  private static int inOrder(int path, int order) {
    return PathCode.of(
        order,
        PathCode.railIndex(path, 0),
        PathCode.railIndex(path, 1),
        PathCode.railIndex(path, 2));
  }

  @Property(tries = 60, seed = "6")
  void theWayBackLeadsOverTheSameRelaysAndRails(
      @ForAll("shapes") Shape shape, @ForAll @IntRange(min = 1, max = 9) int rails) {
    DimensionOrderRouting[] nodes = TestNodes.routings(shape, rails);
    for (int src = 0; src < nodes.length; src++) {
      for (int dst = 0; dst < nodes.length; dst++) {
        for (int i = 0; i < nodes[src].pathCount(dst); i++) {
          int path = nodes[src].path(dst, i);
          int rail = nodes[src].egressRail(dst, i);
          assertThat(nodes[src].egressRailOf(dst, path)).isEqualTo(rail);
          assertThat(nodes[src].nextHopMacOf(dst, path)).isEqualTo(nodes[src].nextHopMac(dst, i));
          int back = nodes[dst].wayBack(src, path);
          assertThat(nodes[src].wayBack(dst, back)).isEqualTo(path);
          List<Integer> there = walk(nodes, src, dst, path, rail, nodes[src].nextHopMac(dst, i));
          List<Integer> home =
              walk(
                  nodes,
                  dst,
                  src,
                  back,
                  nodes[dst].egressRailOf(src, back),
                  nodes[dst].nextHopMacOf(src, back));
          assertThat(home.reversed()).isEqualTo(there);
        }
      }
    }
  }

  @Test
  void whatIsNoPathBetweenTheTwoHasNoWayBack() {
    DimensionOrderRouting node = TestNodes.routing(Shape.of(3, 3, 3), 0, 2);
    int beyondXAndY = 4;
    assertThat(node.wayBack(beyondXAndY, PathCode.of(0, 1, 0, 0)))
        .isEqualTo(PathCode.of(5, 1, 0, 0));
    assertThat(node.wayBack(beyondXAndY, PathCode.of(6, 0, 0, 0))).isEqualTo(Routing.NO_PATH);
    assertThat(node.wayBack(beyondXAndY, PathCode.of(0, 2, 0, 0))).isEqualTo(Routing.NO_PATH);
    assertThat(node.wayBack(beyondXAndY, PathCode.of(0, 0, 0, 1))).isEqualTo(Routing.NO_PATH);
    assertThat(node.wayBack(beyondXAndY, 0x1000)).isEqualTo(Routing.NO_PATH);
    assertThat(node.wayBack(0, 0)).as("itself").isEqualTo(Routing.NO_PATH);
  }

  /** Passes a frame from node to node until it is there, checks each hop, and names the relays. */
  private List<Integer> walk(
      DimensionOrderRouting[] nodes, int src, int dst, int path, int firstRail, long firstMac) {
    Shape shape = nodes[src].shape();
    int hops = nodes[src].hops(dst);
    TestNodes.dataFrame(frames, AT, src, dst, path, hops);
    byte[] immutable = bytes(AT + 24, 40);
    int order = PathCode.order(path);
    int here = src;
    int rail = firstRail;
    long mac = firstMac;
    List<Integer> relays = new ArrayList<>();
    while (true) {
      int dimension = nodes[here].layout().dimension(rail);
      assertThat(dimension).isEqualTo(firstDifferent(shape, order, here, dst));
      assertThat(nodes[here].layout().index(rail)).isEqualTo(PathCode.railIndex(path, dimension));
      int next = replace(shape, here, dst, dimension);
      assertThat(mac).isEqualTo(TestNodes.mac(next, rail));
      here = next;
      if (here == dst) {
        break;
      }
      int egress = nodes[here].transit(frames, AT, 64, rail);
      assertThat(egress).isNotNegative();
      relays.add(here);
      rail = egress;
      mac = FrameHeader.dstMac(frames, AT);
      assertThat(FrameHeader.srcMac(frames, AT)).isEqualTo(TestNodes.mac(here, egress));
      assertThat(FrameHeader.hopCheckField(frames, AT)).isEqualTo(FrameHeader.hopCheck(frames, AT));
    }
    assertThat(relays).hasSize(hops - 1);
    assertThat(FrameHeader.hopLimit(frames, AT)).isEqualTo(1);
    assertThat(FrameHeader.path(frames, AT)).isEqualTo(path);
    assertThat(bytes(AT + 24, 40)).isEqualTo(immutable);
    return relays;
  }

  @Property(tries = 40, seed = "3")
  void whatASwitchFloodsIsForwardedByTheAddressedNodeOnly(
      @ForAll("shapes") Shape shape,
      @ForAll @IntRange(min = 1, max = 3) int rails,
      @ForAll @IntRange(min = 0, max = 5) int order) {
    DimensionOrderRouting[] nodes = TestNodes.routings(shape, rails);
    for (int src = 0; src < nodes.length; src++) {
      for (int dst = 0; dst < nodes.length; dst++) {
        for (int i = 0; i < nodes[src].pathCount(dst); i++) {
          int path = inOrder(nodes[src].path(dst, i), order);
          int first = firstDifferent(shape, order, src, dst);
          int rail = nodes[src].layout().rail(first, PathCode.railIndex(path, first));
          int addressed = replace(shape, src, dst, first);
          for (int c = 0; c < shape.extent(first); c++) {
            int hearer = along(shape, src, first, c);
            TestNodes.dataFrame(frames, AT, src, dst, path, 3);
            if (hearer != src && hearer != addressed) {
              assertThat(nodes[hearer].transit(frames, AT, 64, rail))
                  .isEqualTo(DropReason.NO_ROUTE.code());
            }
          }
        }
      }
    }
  }

  @Property(tries = 2000, seed = "4")
  void hostileFramesEndWithinTheirHopLimit(
      @ForAll("shapes") Shape shape,
      @ForAll @IntRange(min = 1, max = 9) int rails,
      @ForAll long seed) {
    Random random = new Random(seed);
    DimensionOrderRouting[] nodes = TestNodes.routings(shape, rails);
    int railCount = nodes[0].layout().count();
    if (railCount == 0) {
      assertThat(nodes).hasSize(1);
      return;
    }
    for (int n = 0; n < 50; n++) {
      int path =
          PathCode.of(
              random.nextInt(8), random.nextInt(10), random.nextInt(10), random.nextInt(10));
      TestNodes.dataFrame(
          frames, AT, random.nextInt(nodes.length), random.nextInt(nodes.length), path, 255);
      int here = random.nextInt(nodes.length);
      int rail = random.nextInt(railCount);
      int steps = 0;
      while (rail >= 0 && here != FrameHeader.dst(frames, AT)) {
        rail = nodes[here].transit(frames, AT, 64, rail);
        if (rail >= 0) {
          here = TestNodes.nodeOf(FrameHeader.dstMac(frames, AT));
          steps++;
        }
      }
      assertThat(steps).isLessThan(Dimension.COUNT);
    }
  }

  @Property(tries = 5000, seed = "5")
  void randomBytesNeverThrowAndOnlyTheHopPartChanges(@ForAll long seed) {
    Random random = new Random(seed);
    Shape shape = Shape.of(1 + random.nextInt(4), 1 + random.nextInt(3), 1 + random.nextInt(3));
    int rails = 1 + random.nextInt(9);
    DimensionOrderRouting node = TestNodes.routing(shape, random.nextInt(shape.nodes()), rails);
    byte[] noise = new byte[(int) frames.byteSize()];
    random.nextBytes(noise);
    frames.copyFrom(MemorySegment.ofArray(noise));
    if (random.nextBoolean()) {
      // Random node numbers hardly ever exist: let half of the frames get further.
      FrameHeader.kindSrc(frames, AT, 1, random.nextInt(shape.nodes()));
      FrameHeader.flagsDst(frames, AT, 0, random.nextInt(shape.nodes()));
      int path = PathCode.of(random.nextInt(8), random.nextInt(rails), random.nextInt(rails), 0);
      FrameHeader.hop(frames, AT, random.nextInt(4), 0, path);
    }
    byte[] before = bytes(0, noise.length);
    int length = random.nextInt(200);
    int result = node.transit(frames, AT, length, random.nextInt(40) - 5);
    byte[] after = bytes(0, noise.length);
    if (result < 0) {
      assertThat(DropReason.ofCode(result)).isNotNull();
      assertThat(after).isEqualTo(before);
    } else {
      assertThat(result).isLessThan(node.layout().count());
      assertThat(FrameHeader.hopCheckField(frames, AT)).isEqualTo(FrameHeader.hopCheck(frames, AT));
      System.arraycopy(before, AT, after, AT, 20); // addresses, hop limit and check: bytes 0-19
      after[AT + 12] = before[AT + 12];
      assertThat(after).isEqualTo(before);
    }
  }

  @Test
  void dropsNameTheirReason() {
    Shape shape = Shape.of(3, 3, 3);
    DimensionOrderRouting relay = TestNodes.routing(shape, shape.node(new Coordinates(1, 0, 0)), 2);
    int dst = shape.node(new Coordinates(1, 1, 0));
    int good = PathCode.of(0, 1, 1, 0);
    assertThat(drop(relay, 0, dst, good, 3, 64, 1)).isEqualTo(3);
    assertThat(drop(relay, 0, dst, good, 3, 63, 1)).isEqualTo(DropReason.TOO_SHORT.code());
    assertThat(drop(relay, 0, 27, good, 3, 64, 1)).isEqualTo(DropReason.UNKNOWN_NODE.code());
    assertThat(drop(relay, 27, dst, good, 3, 64, 1)).isEqualTo(DropReason.UNKNOWN_NODE.code());
    assertThat(drop(relay, 0, dst, good, 1, 64, 1)).isEqualTo(DropReason.HOP_LIMIT.code());
    assertThat(drop(relay, 0, dst, good, 0, 64, 1)).isEqualTo(DropReason.HOP_LIMIT.code());
    assertThat(drop(relay, 0, dst, good, 3, 64, 0)).isEqualTo(DropReason.NO_ROUTE.code());
    int malformed = DropReason.MALFORMED.code();
    assertThat(drop(relay, 0, dst, good | 6 << 29, 3, 64, 1)).isEqualTo(malformed);
    assertThat(drop(relay, 0, dst, good | 1 << 12, 3, 64, 1)).isEqualTo(malformed);
    assertThat(drop(relay, 0, dst, good | 1, 3, 64, 1)).isEqualTo(malformed);
    int noRoute = DropReason.NO_ROUTE.code();
    // Rail indices that are not here, at the exit and at the entrance.
    assertThat(drop(relay, 0, dst, PathCode.of(0, 1, 2, 0), 3, 64, 1)).isEqualTo(noRoute);
    assertThat(drop(relay, 0, dst, PathCode.of(0, 3, 1, 0), 3, 64, 3)).isEqualTo(noRoute);
    // A source in another line does not pass here either: its Y is still to be travelled.
    int elsewhere = shape.node(new Coordinates(0, 2, 0));
    assertThat(drop(relay, elsewhere, dst, good, 3, 64, 1)).isEqualTo(noRoute);
    // YXZ does not pass here.
    assertThat(drop(relay, 0, dst, good | 2 << 29, 3, 64, 1)).isEqualTo(noRoute);
  }

  private int drop(
      DimensionOrderRouting relay, int src, int dst, int path, int limit, int length, int rail) {
    TestNodes.dataFrame(frames, AT, src, dst, path, limit);
    return relay.transit(frames, AT, length, rail);
  }

  @Test
  void anUnknownNextHopDropsAtTheRelayAndReadsZeroAtTheSource() {
    Shape shape = Shape.of(2, 2);
    DimensionOrderRouting relay = new DimensionOrderRouting(TestNodes.discovery(shape, 1, 1));
    assertThat(relay.complete()).isFalse();
    assertThat(relay.nextHopMac(3, 0)).isZero();
    TestNodes.dataFrame(frames, AT, 0, 3, 0, 2);
    assertThat(relay.transit(frames, AT, 64, 0)).isEqualTo(DropReason.NO_ROUTE.code());
    relay.discovery().assume(1, 1, TestNodes.mac(3, 1));
    relay.discovery().assumeOwn(1, TestNodes.mac(1, 1));
    assertThat(relay.nextHopMac(3, 0)).isEqualTo(TestNodes.mac(3, 1));
    assertThat(relay.transit(frames, AT, 64, 0)).isEqualTo(1);
  }

  @Test
  void aFlowThatIsKnownIsStillCheckedAndFollowsANeighbourThatChanges() {
    Shape shape = Shape.of(2, 2);
    DimensionOrderRouting relay = TestNodes.routing(shape, 1, 1);
    int noRoute = DropReason.NO_ROUTE.code();
    for (int again = 0; again < 2; again++) {
      assertThat(drop(relay, 0, 3, 0, 2, 64, 0)).isEqualTo(1);
      assertThat(FrameHeader.dstMac(frames, AT)).isEqualTo(TestNodes.mac(3, 1));
      assertThat(FrameHeader.hopLimit(frames, AT)).isEqualTo(1);
      // The same but for the rail, the path, an end, the hop limit, the length.
      assertThat(drop(relay, 0, 3, 0, 2, 64, 1)).isEqualTo(noRoute);
      assertThat(drop(relay, 0, 3, 1 << 4, 2, 64, 0)).isEqualTo(noRoute);
      assertThat(drop(relay, 0, 3, 1, 2, 64, 0)).isEqualTo(DropReason.MALFORMED.code());
      assertThat(drop(relay, 0, 4, 0, 2, 64, 0)).isEqualTo(DropReason.UNKNOWN_NODE.code());
      assertThat(drop(relay, 2, 3, 0, 2, 64, 0)).isEqualTo(noRoute);
      assertThat(drop(relay, 0, 3, 0, 1, 64, 0)).isEqualTo(DropReason.HOP_LIMIT.code());
      assertThat(drop(relay, 0, 3, 0, 2, 63, 0)).isEqualTo(DropReason.TOO_SHORT.code());
    }
    long successor = TestNodes.mac(77, 1);
    long ownSuccessor = TestNodes.mac(78, 1);
    relay.discovery().assume(1, 1, successor);
    assertThat(drop(relay, 0, 3, 0, 2, 64, 0)).isEqualTo(1);
    assertThat(FrameHeader.dstMac(frames, AT)).isEqualTo(successor);
    relay.discovery().assumeOwn(1, ownSuccessor);
    assertThat(drop(relay, 0, 3, 0, 2, 64, 0)).isEqualTo(1);
    assertThat(FrameHeader.srcMac(frames, AT)).isEqualTo(ownSuccessor);
    relay.discovery().assumeOwn(1, 0);
    assertThat(drop(relay, 0, 3, 0, 2, 64, 0)).isEqualTo(noRoute);
  }

  /** What is found out for a frame that ends here is not mixed with what the last one said. */
  @Test
  void theOwnAddressThatChangedIsTheWholeNewOneThoughTheFirstFrameAfterItEndsHere() {
    DimensionOrderRouting relay = TestNodes.routing(Shape.of(2, 2), 1, 1);
    assertThat(drop(relay, 0, 3, 0, 2, 64, 0)).isEqualTo(1);
    long ownSuccessor = TestNodes.mac(78, 1);
    relay.discovery().assumeOwn(1, ownSuccessor);
    assertThat(drop(relay, 0, 3, 0, 1, 64, 0)).isEqualTo(DropReason.HOP_LIMIT.code());
    assertThat(drop(relay, 0, 3, 0, 2, 64, 0)).isEqualTo(1);
    assertThat(FrameHeader.srcMac(frames, AT)).isEqualTo(ownSuccessor);
  }

  @Test
  void theWholePaperMachineRoutes() {
    Shape shape = Shape.of(16, 16, 10);
    DimensionOrderRouting corner = TestNodes.routing(shape, 0, 2);
    assertThat(corner.nodes()).isEqualTo(2560);
    assertThat(corner.hops(2559)).isEqualTo(3);
    assertThat(corner.firstChoiceCount(2559)).isEqualTo(8);
    assertThat(corner.pathCount(2559)).isEqualTo(18);
    assertThat(corner.discovery().table().slots()).isEqualTo(2 * (16 + 16 + 10));
    assertThat(TestNodes.nodeOf(corner.nextHopMac(2559, 0))).isEqualTo(15);
  }

  @Test
  void transitAllocatesNothing() {
    Shape shape = Shape.of(4, 4, 4);
    DimensionOrderRouting relay = TestNodes.routing(shape, 1, 2);
    TestNodes.dataFrame(frames, AT, 0, 5, 0, 255);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    int packets = 300_000;
    long least = Long.MAX_VALUE;
    // One-off allocations (linkage, compilation) fall into any early round: the best one counts.
    for (int round = 0; round < 100 && least >= packets / 100; round++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      long sum = run(relay, packets);
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
      assertThat(sum).isEqualTo((long) packets * relay.layout().rail(1, 0));
    }
    assertThat(least).isLessThan(packets / 100);
  }

  private long run(DimensionOrderRouting relay, int packets) {
    long sum = 0;
    for (int i = 0; i < packets; i++) {
      FrameHeader.hop(frames, AT, 3, 0, 0);
      sum += relay.transit(frames, AT, 64, 0);
    }
    return sum;
  }

  private static int firstDifferent(Shape shape, int order, int a, int b) {
    Coordinates ca = shape.coordinates(a);
    Coordinates cb = shape.coordinates(b);
    for (int place = 0; place < Dimension.COUNT; place++) {
      int d = PathCode.dimension(order, place);
      if (ca.get(d) != cb.get(d)) {
        return d;
      }
    }
    throw new AssertionError("same node");
  }

  private static int replace(Shape shape, int from, int to, int dimension) {
    return along(shape, from, dimension, shape.coordinates(to).get(dimension));
  }

  private static int along(Shape shape, int node, int dimension, int coordinate) {
    Coordinates c = shape.coordinates(node);
    return shape.node(
        new Coordinates(
            dimension == 0 ? coordinate : c.x(),
            dimension == 1 ? coordinate : c.y(),
            dimension == 2 ? coordinate : c.z()));
  }

  private byte[] bytes(int from, int count) {
    return frames.asSlice(from, count).toArray(ValueLayout.JAVA_BYTE);
  }
}
