package org.pmhxb.router.fabric;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.bufpool.PoolBudget;
import org.pmhxb.ffi.Eal;
import org.pmhxb.ffi.EalOptions;
import org.pmhxb.ffi.Hugepages;
import org.pmhxb.ffi.Ports;
import org.pmhxb.ffi.Rings;
import org.pmhxb.pm.FrameKey;
import org.pmhxb.pm.NodeConfig;
import org.pmhxb.pm.PmNode;
import org.pmhxb.pm.PollIdle;
import org.pmhxb.pm.PollThread;
import org.pmhxb.pm.PollWork;
import org.pmhxb.pm.port.DpdkPort;
import org.pmhxb.pm.port.DpdkPorts;
import org.pmhxb.pm.port.FaultyPort;
import org.pmhxb.pm.port.Port;
import org.pmhxb.pm.port.PortFaults;
import org.pmhxb.router.Coordinates;
import org.pmhxb.router.Dimension;
import org.pmhxb.router.DimensionOrderRouting;
import org.pmhxb.router.Discovery;
import org.pmhxb.router.RailLayout;
import org.pmhxb.router.Shape;
import org.pmhxb.router.node.NodeSizing;

/**
 * A whole hyper-crossbar in one process over DPDK net_ring: the embedded default, for the demo and
 * for tests. Every node has a pool, routing and protocol of its own; {@link RingWire} joins them.
 *
 * <p>In inline mode the program's thread calls {@link #doWork}; else {@link #startPolling} gives
 * all nodes and the wire one poll thread, because more pollers than cores cost far more than
 * sharing.
 */
public final class RingCluster implements PollWork, AutoCloseable {
  /**
   * What to build.
   *
   * @param rails per dimension, 1 to 9
   * @param seed of the nodes' random numbers
   * @param inline the program's thread polls
   * @param faults what every port does to the frames that it receives
   * @param frameKey secret of all nodes, or none
   */
  public record Options(
      Shape shape,
      int rails,
      long seed,
      boolean inline,
      Hugepages hugepages,
      long peerTimeoutNs,
      PortFaults faults,
      FrameKey frameKey) {
    public Options {
      if (rails < 1 || rails > RailLayout.MAX_PER_DIMENSION) {
        throw new IllegalArgumentException(
            rails + " rails per dimension; must be in 1.." + RailLayout.MAX_PER_DIMENSION);
      }
    }

    /** No faults, inline, five seconds of patience. */
    public static Options of(Shape shape, int rails) {
      return new Options(
          shape, rails, 1, true, Hugepages.AUTO, 5_000_000_000L, PortFaults.NONE, FrameKey.NONE);
    }

    /** Other nodes' random numbers. */
    public Options withSeed(long other) {
      return new Options(shape, rails, other, inline, hugepages, peerTimeoutNs, faults, frameKey);
    }

    /** Ports that lose frames with a probability and do nothing else wrong; and a seed for all. */
    public Options withLoss(double probability, long lossSeed) {
      return withSeed(lossSeed).withFaults(new PortFaults(probability, 0, 0, 0, lossSeed));
    }

    public Options dedicated() {
      return new Options(shape, rails, seed, false, hugepages, peerTimeoutNs, faults, frameKey);
    }

    public Options withPeerTimeoutNs(long ns) {
      return new Options(shape, rails, seed, inline, hugepages, ns, faults, frameKey);
    }

    /** What every port does to the frames that it receives. */
    public Options withFaults(PortFaults what) {
      return new Options(shape, rails, seed, inline, hugepages, peerTimeoutNs, what, frameKey);
    }

    /** With a keyed tag on each frame. */
    public Options withFrameKey(FrameKey key) {
      return new Options(shape, rails, seed, inline, hugepages, peerTimeoutNs, faults, key);
    }
  }

  private static final int KEY = 0x68_78_62_31;
  private static final int MTU_BYTES = 9_000;
  private static final int WINDOW_FRAMES = 256;
  private static final int RING_FRAMES = 512;

  /** Of DPDK's heap: its mbuf, with what else a node's rings and pool take. */
  private static final int HEAP_BYTES_PER_BUFFER = 512;

  private static int clusters;

  private final Options options;
  private final RailLayout layout;
  private final long freePages;
  private final RingWire wire;
  private final List<DpdkPool> pools = new ArrayList<>();
  private final List<PmNode> nodes = new ArrayList<>();
  private final List<Discovery> discoveries = new ArrayList<>();
  private final List<Long> rings = new ArrayList<>();

  /** All rails' in the order node, rail; a node closes its own. */
  private final List<DpdkPort> ports = new ArrayList<>();

  private final List<FaultyPort> faultyPorts = new ArrayList<>();
  private PollThread poller;
  private boolean closed;

  /** The last round went through the nodes from the last to the first. */
  private boolean descending = true;

  /**
   * Builds the cluster.
   *
   * @throws IllegalArgumentException the shape needs more rails than DPDK's 32 ports of 16 queues
   * @throws org.pmhxb.ffi.NativeException DPDK refuses; names call, code and mend
   */
  public static RingCluster create(Options options) {
    return new RingCluster(options, Hugepages.freePages());
  }

  /** As if the machine had so many huge pages free. */
  public static RingCluster create(Options options, long freePages) {
    return new RingCluster(options, freePages);
  }

  /**
   * Refuses what {@link #create} would, before anything is built.
   *
   * @throws IllegalArgumentException the shape needs more rails than DPDK's 32 ports of 16 queues
   */
  public static void requireFits(Shape shape, int rails) {
    int railCount = shape.nodes() * new RailLayout(shape, rails).count();
    int limit = Ports.MAX_PORTS * Ports.MAX_QUEUES;
    if (railCount > limit) {
      throw new IllegalArgumentException(
          "shape "
              + shape
              + " with "
              + rails
              + " rails per dimension has "
              + railCount
              + " rails; the ring fabric carries at most "
              + limit
              + ": take a smaller shape or fewer rails");
    }
  }

  private RingCluster(Options options, long freePages) {
    requireFits(options.shape(), options.rails());
    this.options = options;
    this.freePages = freePages;
    this.layout = new RailLayout(options.shape(), options.rails());
    Eal.init(EalOptions.defaults().withHugepages(options.hugepages()));
    this.wire = new RingWire();
    try {
      build(clusterNumber());
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  private static synchronized int clusterNumber() {
    return clusters++;
  }

  private static NodeSizing sizing(Shape shape, int rails) {
    return new NodeSizing(shape.nodes(), rails, 0, BufferPool.JUMBO_STRIDE_BYTES);
  }

  /** How many huge pages all nodes take. */
  static long hugepages(Options options) {
    PoolBudget budget =
        sizing(options.shape(), new RailLayout(options.shape(), options.rails()).count()).budget();
    long heapBytes = (long) budget.buffers() * HEAP_BYTES_PER_BUFFER;
    return options.shape().nodes()
        * (long) (Hugepages.pagesFor(budget.regionBytes()) + Hugepages.pagesFor(heapBytes));
  }

  /**
   * All pools lie in huge pages or none: the last of many would leave DPDK's own heap, which grows
   * with each, without any.
   */
  private Hugepages pages() {
    boolean all = options.hugepages() != Hugepages.AUTO || hugepages(options) <= freePages;
    return all ? options.hugepages() : Hugepages.NONE;
  }

  private void build(int cluster) {
    int n = options.shape().nodes();
    NodeSizing sizing = sizing(options.shape(), layout.count());
    Hugepages pages = pages();
    for (int i = 0; i < n; i++) {
      pools.add(
          DpdkPool.create(
              "r" + cluster + "n" + i,
              BufferPool.JUMBO_STRIDE_BYTES,
              sizing.budget().buffers(),
              sizing.budget().resendHolds(),
              pages));
    }
    openPorts(cluster);
    wireLines();
    for (int i = 0; i < n; i++) {
      long incarnation = options.seed() * 1_000_003L + i + 1;
      List<String> devices = new ArrayList<>();
      List<Port> mine = new ArrayList<>();
      for (int r = 0; r < layout.count(); r++) {
        int number = i * layout.count() + r;
        Port port = FaultyPort.over(ports.get(number), pools.get(i), options.faults(), number);
        if (port instanceof FaultyPort faulty) {
          faultyPorts.add(faulty);
        }
        mine.add(port);
        devices.add(mine.get(r).name());
      }
      Discovery discovery =
          new Discovery(
              options.shape(), options.shape().coordinates(i), layout, KEY, incarnation, devices);
      discoveries.add(discovery);
      NodeConfig config =
          sizing
              .nodeConfig(KEY, incarnation, WINDOW_FRAMES, options.peerTimeoutNs(), MTU_BYTES)
              .withFrameKey(options.frameKey());
      nodes.add(
          new PmNode(
              config, pools.get(i), new DimensionOrderRouting(discovery), mine, options.inline()));
    }
  }

  private static long mac(int node, int rail) {
    return 0x0200_0000_0000L | (long) node << 8 | rail;
  }

  /** All rails, spread over ports of 16 queues. */
  private void openPorts(int cluster) {
    int count = pools.size() * layout.count();
    long[] rx = new long[count];
    long[] tx = new long[count];
    for (int i = 0; i < count; i++) {
      rx[i] = ring("r" + cluster + "i" + i);
      tx[i] = ring("r" + cluster + "o" + i);
    }
    for (int from = 0; from < count; from += Ports.MAX_QUEUES) {
      int to = Math.min(count, from + Ports.MAX_QUEUES);
      DpdkPool[] queuePools = new DpdkPool[to - from];
      long[] macs = new long[to - from];
      for (int q = 0; q < queuePools.length; q++) {
        int node = (from + q) / layout.count();
        queuePools[q] = pools.get(node);
        macs[q] = mac(node, (from + q) % layout.count());
      }
      ports.addAll(
          Arrays.asList(
              DpdkPorts.rings(
                  "r" + cluster + "p" + from / Ports.MAX_QUEUES,
                  Arrays.copyOfRange(rx, from, to),
                  Arrays.copyOfRange(tx, from, to),
                  queuePools,
                  macs)));
    }
  }

  private long ring(String name) {
    long ring = Rings.create(name, RING_FRAMES, true, true);
    rings.add(ring);
    return ring;
  }

  /** One switch for each line of the shape and each rail. */
  private void wireLines() {
    Shape shape = options.shape();
    for (int d = 0; d < Dimension.COUNT; d++) {
      if (!layout.present(d)) {
        continue;
      }
      for (int node = 0; node < shape.nodes(); node++) {
        if (shape.coordinates(node).get(d) == 0) {
          for (int index = 0; index < options.rails(); index++) {
            wireLine(node, d, layout.rail(d, index));
          }
        }
      }
    }
  }

  private void wireLine(int first, int dimension, int rail) {
    Shape shape = options.shape();
    RingWire.Line line = wire.addLine();
    for (int c = 0; c < shape.extent(dimension); c++) {
      int node = onLine(shape, first, dimension, c);
      int i = node * layout.count() + rail;
      line.attach(
          node, rings.get(2 * i + 1), rings.get(2 * i), ports.get(i).macAddress(), pools.get(node));
    }
  }

  private static int onLine(Shape shape, int first, int dimension, int coordinate) {
    Coordinates c = shape.coordinates(first);
    return shape.node(
        new Coordinates(
            dimension == 0 ? coordinate : c.x(),
            dimension == 1 ? coordinate : c.y(),
            dimension == 2 ? coordinate : c.z()));
  }

  public Options options() {
    return options;
  }

  /** How many huge pages all nodes take. */
  public long hugepagesNeeded() {
    return hugepages(options);
  }

  /** How many were free before the cluster was built. */
  public long hugepagesFree() {
    return freePages;
  }

  public int size() {
    return nodes.size();
  }

  public PmNode node(int number) {
    return nodes.get(number);
  }

  public DpdkPool pool(int number) {
    return pools.get(number);
  }

  public Discovery discovery(int number) {
    return discoveries.get(number);
  }

  public RingWire wire() {
    return wire;
  }

  /** Frames lost on purpose, by faulty ports and on cut lines. The polling thread. */
  public long framesLost() {
    return wire.lost() + faultyPorts.stream().mapToLong(FaultyPort::framesLost).sum();
  }

  /** Every node knows all its neighbours on every rail. */
  public boolean isComplete() {
    return discoveries.stream().allMatch(Discovery::complete);
  }

  /**
   * Gives nodes and wire one poll thread. Call once, on a cluster that is {@link
   * Options#dedicated}.
   *
   * @param cpu the processor to run on; -1: any
   */
  public void startPolling(PollIdle idle, int cpu) {
    if (options.inline() || poller != null) {
      throw new IllegalStateException(
          options.inline() ? "an inline cluster is polled by its program" : "polled already");
    }
    pools.forEach(DpdkPool::handOver);
    List<PollWork> work = List.of(new Unresting());
    poller = new PollThread("hxb-ring", work, new int[0], idle, cpu, this::closeNodes);
    nodes.forEach(node -> node.doorbell(poller));
    poller.start();
  }

  /**
   * One round: every node's, and what it sent goes to the others' rings right behind it. The nodes
   * take turns in ascending order and in descending order, alternately. So a frame whose way leads
   * from node to node in the order of the round passes all its relays in that round, and the answer
   * passes them in the next: a hop takes no round of its own. Inline mode.
   */
  @Override
  public int doWork(long nowNs) {
    int work = 0;
    int count = nodes.size();
    descending = !descending;
    for (int i = 0; i < count; i++) {
      int n = descending ? count - 1 - i : i;
      work += nodes.get(n).doWork(nowNs);
      work += wire.carry(n);
    }
    return work;
  }

  @Override
  public void handOver() {
    nodes.forEach(PmNode::handOver);
  }

  /** The cluster on a thread of its own, which never rests: no frame in a ring would wake it. */
  private final class Unresting implements PollWork {
    @Override
    public int doWork(long nowNs) {
      return RingCluster.this.doWork(nowNs);
    }

    @Override
    public long nextDeadlineNs(long nowNs) {
      return nowNs;
    }

    @Override
    public void handOver() {
      RingCluster.this.handOver();
    }
  }

  @Override
  public long nextDeadlineNs(long nowNs) {
    long next = Long.MAX_VALUE;
    for (PmNode node : nodes) {
      next = Math.min(next, node.nextDeadlineNs(nowNs));
    }
    return next;
  }

  /** All of them, whatever a listener throws: the rings under their ports are freed next. */
  private void closeNodes() {
    Throwable first = null;
    for (PmNode node : nodes) {
      try {
        node.close();
      } catch (RuntimeException | Error e) {
        if (first == null) {
          first = e;
        } else if (first != e) {
          first.addSuppressed(e);
        }
      }
    }
    pools.forEach(DpdkPool::handOver);
    if (first instanceof Error e) {
      throw e;
    } else if (first != null) {
      throw (RuntimeException) first;
    }
  }

  /** Buffers that are not at home in some pool; call after {@link #closeTraffic}. */
  public long leakedBuffers() {
    long leaked = 0;
    for (DpdkPool pool : pools) {
      leaked += pool.capacity() - pool.available();
    }
    return leaked;
  }

  /** Ends all traffic: sessions, ports, rings. The pools stay, so that they can be counted. */
  public void closeTraffic() {
    if (closed) {
      return;
    }
    if (poller == null) {
      // All before any: what one refuses none has done.
      nodes.forEach(node -> node.refuseWithinHandler("close"));
    }
    try {
      if (poller == null) {
        closeNodes();
      } else {
        poller.close();
      }
    } finally {
      // Refused within a round, the poll thread goes on to carry frames.
      if (poller == null || !poller.isAlive()) {
        closed = true;
        wire.close();
        // Those of nodes are closed; where the cluster was not built, no node has the others.
        ports.forEach(DpdkPort::close);
        rings.forEach(Rings::free);
        pools.forEach(DpdkPool::flush);
      }
    }
  }

  @Override
  public void close() {
    try {
      closeTraffic();
    } finally {
      // Refused within a round, all of it goes on.
      if (closed) {
        pools.forEach(DpdkPool::close);
      }
    }
  }
}
