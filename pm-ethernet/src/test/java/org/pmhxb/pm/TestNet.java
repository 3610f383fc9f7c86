package org.pmhxb.pm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.UnaryOperator;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.OffHeapPool;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.port.Port;
import org.pmhxb.pm.port.PortCounters;

/**
 * One line of nodes under a virtual clock: seeded loss, duplication, delay per rail, dead rails.
 * The nodes are the production classes.
 */
final class TestNet implements AutoCloseable {
  static final long STEP_NS = 2_000;

  /** What a driver takes before it says that it is full. */
  private static final long PORT_BYTES = 256 * 1024;

  final List<PmNode> nodes = new ArrayList<>();
  final List<BufferPool> pools = new ArrayList<>();
  final SplittableRandom random;
  long nowNs = 1_000_000_000L;
  double loss;
  double duplication;
  double corruption;
  long delayNs = 10_000;
  long jitterNs;
  final boolean[] deadRail;

  /** By rail: frames from this node to others are lost, the way back lives; -1 is nobody. */
  final int[] muteNode;

  /** By rail: this node's port takes nothing, as if nobody took its frames; -1 is nobody. */
  final int[] blockedNode;

  /** By rail: nothing but frames from and to this node arrives; -1: all do. */
  final int[] onlyNode;

  /** By rail: share of frames lost on it, on top of {@link #loss}. */
  final double[] railLoss;

  /** By rail: what its way takes longer than {@link #delayNs}. */
  final long[] longerNs;

  /** By rail: what a link and the switch's output carry, in bytes a nanosecond; 0: no limit. */
  final double[] bytesPerNs;

  /** What waits at an output of the switch at most; the rest is dropped. */
  long switchQueueBytes = Long.MAX_VALUE;

  long switchDrops;

  /** Whether ports say that they may have queues of which they do not tell; for nodes to come. */
  boolean hidesQueues;

  /** What nodes to come make of the line's routing. */
  UnaryOperator<Routing> routing = UnaryOperator.identity();

  /** Frames that a port takes in a burst. */
  int portRoom = 32;

  private final PriorityQueue<Flight> toSwitch = new PriorityQueue<>();
  private long flights;
  final SimPort[][] ports;

  /** Sees each frame as it leaves its sender; may be null. */
  Consumer<byte[]> wireTap;

  private final int rails;
  private final int capacity;
  private final boolean inline;

  TestNet(int nodeCount, int rails, long seed, int capacity, NodeConfig config) {
    this(nodeCount, rails, seed, capacity, config, true);
  }

  /**
   * @param inline else programs and nodes speak over their rings, as with poll threads
   */
  TestNet(int nodeCount, int rails, long seed, int capacity, NodeConfig config, boolean inline) {
    this.inline = inline;
    this.random = new SplittableRandom(seed);
    this.rails = rails;
    this.capacity = capacity;
    this.deadRail = new boolean[rails];
    this.railLoss = new double[rails];
    this.longerNs = new long[rails];
    this.bytesPerNs = new double[rails];
    this.muteNode = new int[rails];
    java.util.Arrays.fill(muteNode, -1);
    this.blockedNode = muteNode.clone();
    this.onlyNode = muteNode.clone();
    this.ports = new SimPort[nodeCount][rails];
    for (int n = 0; n < nodeCount; n++) {
      nodes.add(null);
      pools.add(null);
      start(n, nodeCount, config, seed + n + 1);
    }
  }

  void start(int n, int nodeCount, NodeConfig config, long incarnation) {
    long[][] macs = new long[rails][nodeCount];
    for (int r = 0; r < rails; r++) {
      for (int i = 0; i < nodeCount; i++) {
        macs[r][i] = mac(i, r);
      }
    }
    BufferPool pool = OffHeapPool.create(2048, capacity);
    List<Port> mine = new ArrayList<>();
    for (int r = 0; r < rails; r++) {
      ports[n][r] = new SimPort(n, r, pool);
      mine.add(ports[n][r]);
    }
    NodeConfig own =
        new NodeConfig(
            config.key(),
            incarnation,
            incarnation * 31,
            config.windowFrames(),
            config.creditBuffers(),
            config.endpointsExpected(),
            config.largestGrantFrames(),
            config.claimBuffers(),
            config.loanBuffers(),
            config.peerTimeoutNs(),
            1024 - config.frameKey().trailerBytes(),
            config.firstSeq(),
            config.frameKey(),
            config.heldFrames());
    pools.set(n, pool);
    Routing ways = routing.apply(new LineRouting(n, macs));
    nodes.set(n, new PmNode(own, pool, ways, mine, inline));
  }

  static long mac(int node, int rail) {
    return 0x0200_0000_0000L | (long) node << 8 | rail;
  }

  /** One round of every node. */
  void step() {
    passTime();
    for (PmNode node : nodes) {
      if (node != null) {
        node.doWork(nowNs);
      }
    }
  }

  private void passTime() {
    nowNs += STEP_NS;
    while (!toSwitch.isEmpty() && toSwitch.peek().arrivalNs <= nowNs) {
      Flight flight = toSwitch.poll();
      flight.to.leaveSwitch(flight);
    }
  }

  /**
   * Nodes with programs that run on their poll threads.
   *
   * @param asleep nodes sleep as poll threads do: until a frame is there or their deadline has
   *     come, {@code lateNs} after either
   * @param programs by node; called after its rounds; how much was done
   * @return wake-ups by node
   */
  int[] run(long ns, boolean asleep, long lateNs, List<IntSupplier> programs) {
    int[] wakeUps = new int[nodes.size()];
    long[] wakeNs = new long[nodes.size()];
    java.util.Arrays.fill(wakeNs, nowNs);
    for (long until = nowNs + ns; nowNs < until; ) {
      passTime();
      for (int n = 0; n < wakeNs.length; n++) {
        if (hasArrived(n)) {
          wakeNs[n] = Math.min(wakeNs[n], nowNs + lateNs);
        }
        if (!asleep || nowNs >= wakeNs[n]) {
          PmNode node = nodes.get(n);
          while (node.doWork(nowNs) + programs.get(n).getAsInt() > 0) {}
          wakeNs[n] = asleep ? sleepUntil(node) + lateNs : 0;
          wakeUps[n]++;
        }
      }
    }
    return wakeUps;
  }

  private long sleepUntil(PmNode node) {
    long untilNs = node.nextDeadlineNs(nowNs);
    node.rests(untilNs);
    return untilNs;
  }

  private boolean hasArrived(int node) {
    for (SimPort port : ports[node]) {
      if (!port.arriving.isEmpty() && port.arriving.peek().arrivalNs <= nowNs) {
        return true;
      }
    }
    return false;
  }

  void run(long ns) {
    for (long until = nowNs + ns; nowNs < until; ) {
      step();
    }
  }

  @Override
  public void close() {
    for (PmNode node : nodes) {
      if (node != null) {
        node.close();
      }
    }
    pools.forEach(BufferPool::close);
  }

  private record Flight(long arrivalNs, long order, SimPort to, byte[] bytes)
      implements Comparable<Flight> {
    @Override
    public int compareTo(Flight o) {
      return arrivalNs != o.arrivalNs
          ? Long.compare(arrivalNs, o.arrivalNs)
          : Long.compare(order, o.order);
    }
  }

  /** A port that keeps transmitted buffers until its next call, as drivers do. */
  final class SimPort implements Port {
    private final int node;
    private final int rail;
    private final BufferPool pool;
    private final PriorityQueue<Flight> arriving = new PriorityQueue<>();
    private final List<Integer> sent = new ArrayList<>();
    private long lastArrivalNs;
    private long linkFreeNs;
    private long outputFreeNs;
    boolean closed;

    /** What closing throws, when it is done; null: nothing. */
    RuntimeException closeFault;

    SimPort(int node, int rail, BufferPool pool) {
      this.node = node;
      this.rail = rail;
      this.pool = pool;
    }

    @Override
    public boolean hidesQueue() {
      return hidesQueues;
    }

    @Override
    public String name() {
      return "sim-" + node + "-" + rail;
    }

    private void completeSent() {
      for (int id : sent) {
        pool.release(id, Owner.PORT);
      }
      sent.clear();
    }

    @Override
    public int rxBurst(Burst burst, int max) {
      if (closed) {
        throw new IllegalStateException(name() + " is closed");
      }
      completeSent();
      int n = 0;
      while (n < max && !arriving.isEmpty() && arriving.peek().arrivalNs <= nowNs) {
        byte[] bytes = arriving.poll().bytes;
        int id = pool.allocate(Owner.PORT);
        if (id == 0) {
          continue;
        }
        MemorySegment.copy(
            bytes, 0, pool.memory(), ValueLayout.JAVA_BYTE, pool.frameAt(id), bytes.length);
        burst.set(n++, Burst.descriptor(id, bytes.length));
      }
      return n;
    }

    @Override
    public int txBurst(Burst burst, int from, int count) {
      completeSent();
      if (blockedNode[rail] == node) {
        return 0;
      }
      for (int i = from; i < from + count; i++) {
        long d = burst.get(i);
        int id = Burst.id(d);
        byte[] bytes = new byte[Burst.lengthBytes(d)];
        MemorySegment.copy(
            pool.memory(), ValueLayout.JAVA_BYTE, pool.frameAt(id), bytes, 0, bytes.length);
        if ((d & Burst.HOLD) != 0) {
          pool.retain(id);
        }
        sent.add(id);
        transmit(bytes);
      }
      return count;
    }

    private void transmit(byte[] bytes) {
      if (wireTap != null) {
        wireTap.accept(bytes);
      }
      linkFreeNs = Math.max(linkFreeNs, nowNs) + wireNs(bytes.length);
      if (deadRail[rail] || muteNode[rail] == node || random.nextDouble() < loss) {
        return;
      }
      if (railLoss[rail] > 0 && random.nextDouble() < railLoss[rail]) {
        return;
      }
      long dst = 0;
      for (int i = 0; i < 6; i++) {
        dst = dst << 8 | bytes[i] & 0xFF;
      }
      SimPort to = ports[(int) (dst >>> 8) & 0xFF][rail];
      if (onlyNode[rail] >= 0 && onlyNode[rail] != node && onlyNode[rail] != to.node) {
        return;
      }
      if (random.nextDouble() < corruption) {
        bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
      }
      toSwitch.add(new Flight(linkFreeNs, flights++, to, bytes));
      if (random.nextDouble() < duplication) {
        toSwitch.add(new Flight(linkFreeNs, flights++, to, bytes.clone()));
      }
    }

    private long wireNs(int lengthBytes) {
      return bytesPerNs[rail] == 0 ? 0 : (long) (lengthBytes / bytesPerNs[rail]);
    }

    /** The switch's output to this node: a queue with tail drop. */
    void leaveSwitch(Flight flight) {
      double waitingBytes = Math.max(0, outputFreeNs - flight.arrivalNs) * bytesPerNs[rail];
      if (waitingBytes + flight.bytes.length > switchQueueBytes) {
        switchDrops++;
        return;
      }
      outputFreeNs = Math.max(outputFreeNs, flight.arrivalNs) + wireNs(flight.bytes.length);
      arrive(flight.bytes, outputFreeNs);
    }

    /** A rail is FIFO: jitter never lets a frame overtake. */
    private void arrive(byte[] bytes, long leftNs) {
      long wayNs = delayNs + longerNs[rail];
      long at = leftNs + wayNs + (jitterNs == 0 ? 0 : random.nextLong(jitterNs));
      lastArrivalNs = Math.max(lastArrivalNs, at);
      arriving.add(new Flight(lastArrivalNs, flights++, this, bytes));
    }

    /** For tests: a frame comes out of nowhere. */
    void arrive(byte[] bytes) {
      arrive(bytes, nowNs);
    }

    @Override
    public int txRoom() {
      return txBacklogBytes() < PORT_BYTES ? portRoom : 0;
    }

    @Override
    public long txBacklogBytes() {
      return (long) (Math.max(0, linkFreeNs - nowNs) * bytesPerNs[rail]);
    }

    @Override
    public long macAddress() {
      return mac(node, rail);
    }

    @Override
    public int maxFrameBytes() {
      return 1900;
    }

    @Override
    public boolean linkUp() {
      return !deadRail[rail];
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
      completeSent();
      pool.flush();
      closed = true;
      if (closeFault != null) {
        throw closeFault;
      }
    }
  }
}
