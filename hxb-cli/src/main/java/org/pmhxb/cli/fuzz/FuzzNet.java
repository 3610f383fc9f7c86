package org.pmhxb.cli.fuzz;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.OffHeapPool;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.FrameKey;
import org.pmhxb.pm.NodeConfig;
import org.pmhxb.pm.PmNode;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.port.Port;
import org.pmhxb.pm.port.PortCounters;
import org.pmhxb.pm.wire.FrameHeader;
import org.pmhxb.router.DimensionOrderRouting;
import org.pmhxb.router.Discovery;
import org.pmhxb.router.RailLayout;
import org.pmhxb.router.Shape;

/**
 * A small hyper-crossbar of production nodes over in-memory ports, with a clock that the fuzzer
 * advances. Nothing is lost between the nodes; what disturbs them comes from {@link #arrive}.
 * Owner: one thread.
 */
final class FuzzNet implements AutoCloseable {
  static final int KEY = 0x0badcafe;
  static final Shape SHAPE = Shape.of(3, 2);
  static final int RAILS = 2;

  /** Longest frame that a port takes: an mtu of 9,000 bytes. */
  static final int FRAME_BYTES_MAX = 9_014;

  private static final long STEP_NS = 10_000;
  private static final int WINDOW_FRAMES = 64;
  private static final int CREDIT_BUFFERS = 256;
  private static final int POOL_BUFFERS = 1_024;

  /** Sees what goes over the lines. */
  interface Watcher {
    /** A frame that reaches {@code node} on {@code rail}; the array may be kept. */
    void onArrival(int node, int rail, byte[] frame);

    /** A frame that {@code node} sends. */
    void onSent(int node, int rail, byte[] frame);
  }

  final List<PmNode> nodes = new ArrayList<>();
  final List<BufferPool> pools = new ArrayList<>();
  final List<Discovery> discoveries = new ArrayList<>();
  final RailLayout layout = new RailLayout(SHAPE, RAILS);
  long nowNs = 1_000_000_000L;

  private final QueuePort[][] ports = new QueuePort[SHAPE.nodes()][layout.count()];
  private Watcher watcher;

  FuzzNet(long seed, FrameKey frameKey) {
    for (int n = 0; n < SHAPE.nodes(); n++) {
      BufferPool pool = OffHeapPool.create(BufferPool.JUMBO_STRIDE_BYTES, POOL_BUFFERS);
      List<Port> mine = new ArrayList<>();
      List<String> devices = new ArrayList<>();
      for (int r = 0; r < layout.count(); r++) {
        ports[n][r] = new QueuePort(n, r, pool);
        mine.add(ports[n][r]);
        devices.add(ports[n][r].name());
      }
      long incarnation = seed * 1_000_003L + n + 1;
      Discovery discovery =
          new Discovery(SHAPE, SHAPE.coordinates(n), layout, KEY, incarnation, devices);
      NodeConfig config =
          NodeConfig.defaults(KEY, incarnation, CREDIT_BUFFERS)
              .withWindow(WINDOW_FRAMES)
              .withFrameKey(frameKey);
      pools.add(pool);
      discoveries.add(discovery);
      nodes.add(new PmNode(config, pool, new DimensionOrderRouting(discovery), mine, true));
    }
  }

  void watch(Watcher who) {
    watcher = who;
  }

  static long mac(int node, int rail) {
    return 0x0200_0000_0000L | (long) node << 8 | rail;
  }

  /** Every node works once. */
  void step() {
    nowNs += STEP_NS;
    for (PmNode node : nodes) {
      node.doWork(nowNs);
    }
  }

  /** One node works until it has nothing to do at this moment. */
  void settle(int node) {
    while (nodes.get(node).doWork(nowNs) > 0) {
      Thread.onSpinWait();
    }
  }

  boolean isComplete() {
    return discoveries.stream().allMatch(Discovery::complete);
  }

  /** A frame from nowhere. */
  void arrive(int node, int rail, byte[] frame) {
    ports[node][rail].arriving.add(frame);
  }

  private void carry(int from, int rail, byte[] frame) {
    if (watcher != null) {
      watcher.onSent(from, rail, frame);
    }
    long dst = FrameHeader.dstMac(MemorySegment.ofArray(frame), 0);
    int dimension = layout.dimension(rail);
    for (int to = 0; to < SHAPE.nodes(); to++) {
      boolean line = to != from && onOneLine(from, to, dimension);
      if (line && (dst == FrameHeader.BROADCAST_MAC || dst == mac(to, rail))) {
        if (watcher != null) {
          watcher.onArrival(to, rail, frame);
        }
        arrive(to, rail, frame);
      }
    }
  }

  private static boolean onOneLine(int a, int b, int dimension) {
    for (int d = 0; d < SHAPE.dimensions(); d++) {
      if (d != dimension && SHAPE.coordinates(a).get(d) != SHAPE.coordinates(b).get(d)) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void close() {
    nodes.forEach(PmNode::close);
  }

  /** Buffers that are not at home; after {@link #close}. */
  long leakedBuffers() {
    long leaked = 0;
    for (BufferPool pool : pools) {
      leaked += pool.capacity() - pool.available();
    }
    return leaked;
  }

  void free() {
    pools.forEach(BufferPool::close);
  }

  /** A rail whose cable is a queue of byte arrays. */
  private final class QueuePort implements Port {
    private final int node;
    private final int rail;
    private final BufferPool pool;
    private final ArrayDeque<byte[]> arriving = new ArrayDeque<>();
    private final int[] sent = new int[32];
    private int sentCount;

    QueuePort(int node, int rail, BufferPool pool) {
      this.node = node;
      this.rail = rail;
      this.pool = pool;
    }

    @Override
    public String name() {
      return "fuzz-" + node + "-" + rail;
    }

    /** Sent buffers come home at the next call, as with drivers. */
    private void completeSent() {
      while (sentCount > 0) {
        pool.release(sent[--sentCount], Owner.PORT);
      }
    }

    @Override
    public int rxBurst(Burst burst, int max) {
      completeSent();
      int n = 0;
      while (n < max && !arriving.isEmpty()) {
        byte[] frame = arriving.poll();
        int id = pool.allocate(Owner.PORT);
        if (id != 0) {
          long at = pool.frameAt(id);
          MemorySegment.copy(frame, 0, pool.memory(), ValueLayout.JAVA_BYTE, at, frame.length);
          burst.set(n++, Burst.descriptor(id, frame.length));
        }
      }
      return n;
    }

    @Override
    public int txBurst(Burst burst, int from, int count) {
      completeSent();
      for (int i = from; i < from + count; i++) {
        long d = burst.get(i);
        int id = Burst.id(d);
        byte[] frame = new byte[Burst.lengthBytes(d)];
        MemorySegment.copy(
            pool.memory(), ValueLayout.JAVA_BYTE, pool.frameAt(id), frame, 0, frame.length);
        if ((d & Burst.HOLD) != 0) {
          pool.retain(id);
        }
        sent[sentCount++] = id;
        carry(node, rail, frame);
      }
      return count;
    }

    @Override
    public int txRoom() {
      return 32;
    }

    @Override
    public long txBacklogBytes() {
      return 0;
    }

    @Override
    public long macAddress() {
      return mac(node, rail);
    }

    @Override
    public int maxFrameBytes() {
      return FRAME_BYTES_MAX;
    }

    @Override
    public boolean linkUp() {
      return true;
    }

    @Override
    public int wakeFd() {
      return -1;
    }

    @Override
    public PortCounters counters() {
      return PortCounters.ZERO;
    }

    @Override
    public void close() {
      arriving.clear();
      completeSent();
      pool.flush();
    }
  }
}
