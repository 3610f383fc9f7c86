package org.pmhxb.router.node;

import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.ffi.Eal;
import org.pmhxb.ffi.EalOptions;
import org.pmhxb.ffi.Hugepages;
import org.pmhxb.ffi.NativeException;
import org.pmhxb.ffi.Threads;
import org.pmhxb.pm.FrameKey;
import org.pmhxb.pm.NodeConfig;
import org.pmhxb.pm.PmNode;
import org.pmhxb.pm.PollIdle;
import org.pmhxb.pm.PollThread;
import org.pmhxb.pm.port.DpdkPorts;
import org.pmhxb.pm.port.FaultyPort;
import org.pmhxb.pm.port.PacketPort;
import org.pmhxb.pm.port.Port;
import org.pmhxb.pm.wire.FrameHeader;
import org.pmhxb.router.DimensionOrderRouting;
import org.pmhxb.router.Discovery;
import org.pmhxb.router.FrameKeyFile;
import org.pmhxb.router.HxbConfig;

/**
 * One node of a hyper-crossbar, assembled from its configuration: DPDK ports, buffer pool,
 * dimension-order routing, protocol, and in dedicated mode a poll thread.
 */
public final class HxbNode implements AutoCloseable {
  /** Who makes progress. */
  public enum Progress {
    /** A poll thread of the node's own. */
    DEDICATED,
    /** The program's thread calls {@link PmNode#doWork}. */
    INLINE
  }

  /** A peer that has not answered the end of its session by then is not waited for. */
  private static final long QUIT_NS = 500_000_000L;

  /**
   * So long the node stays when all have answered: what its own answers are asked again for, and
   * what it relays between others that leave.
   */
  private static final long LINGER_NS = 20_000_000L;

  /** Between two rounds that found nothing: who has to answer may need this processor. */
  private static final long LEAVING_NAP_NS = 50_000L;

  /** Linux's ENODEV, as calls answer it. */
  private static final int NO_DEVICE = -19;

  /**
   * Nodes that this process has made: pools are named by it, because one of which the program keeps
   * a loan stays when its node is closed, and the next life of that node has another.
   */
  private static final AtomicInteger LIVES = new AtomicInteger();

  private final HxbConfig config;
  private final DpdkPool pool;
  private final PmNode node;
  private final Discovery discovery;
  private final DimensionOrderRouting routing;
  private final long incarnation;
  private final PollThread poller;
  private boolean closed;

  private HxbNode(HxbConfig config, Progress progress, List<HxbConfig> process) {
    this.config = config;
    this.incarnation = newIncarnation();
    NodeSizing sizing = NodeSizing.of(config);
    int buffers = sizing.buffers(config);
    FrameKey frameKey = frameKey(config);
    Hugepages hugepages = hugepages(config);
    requireHugepages(config, buffers);
    requireCpu(config);
    Eal.init(eal(process, hugepages));
    int sentKept = sizing.budget().resendHolds() + buffers - sizing.budget().buffers();
    // Where the poll thread will run, so that its NUMA node has the pages.
    pool =
        Threads.callOn(
            config.pollCpu(),
            () ->
                DpdkPool.create(
                    "hxb-" + config.node() + "-" + LIVES.incrementAndGet(),
                    config.poolStrideBytes(),
                    buffers,
                    sentKept,
                    hugepages));
    List<Port> ports = new ArrayList<>();
    try {
      for (HxbConfig.Rail rail : config.rails()) {
        ports.add(FaultyPort.over(open(rail), pool, config.faults(), ports.size()));
        requireMtu(config, rail, ports.getLast());
      }
      discovery =
          new Discovery(
              config.shape(),
              config.coordinates(),
              config.railLayout(),
              config.keyHash(),
              incarnation,
              config.devices());
      routing = new DimensionOrderRouting(discovery);
      NodeConfig nodeConfig =
          sizing
              .nodeConfig(
                  config.keyHash(),
                  incarnation,
                  config.windowFrames(),
                  config.peerTimeoutMs() * 1_000_000L,
                  config.mtuBytes())
              .withHeldFrames(sentKept)
              .withFrameKey(frameKey);
      boolean inline = progress == Progress.INLINE;
      node = new PmNode(nodeConfig, pool, routing, ports, inline);
      config.far().forEach(far -> tellOfLongWay(far));
      poller = inline ? null : startPolling();
    } catch (RuntimeException e) {
      List<Runnable> opened = new ArrayList<>();
      ports.forEach(port -> opened.add(port::close));
      opened.add(pool::close);
      for (Runnable close : opened) {
        try {
          close.run();
        } catch (RuntimeException further) {
          e.addSuppressed(further); // why the launch failed is what the caller has to know
        }
      }
      throw e;
    }
  }

  private void tellOfLongWay(HxbConfig.Far far) {
    node.longWay(config.shape().node(far.coordinates()), far.longerUs() * 1_000L);
  }

  /** Stamps begin with the wall clock: above those of the node's earlier lives. */
  private static FrameKey frameKey(HxbConfig config) {
    return config.tag() == HxbConfig.Tag.OFF
        ? FrameKey.NONE
        : FrameKeyFile.read(
            Path.of(config.keyFile()), config.tag(), System.currentTimeMillis() * 1_000_000L);
  }

  /** Before anything is started. Pages that others take meanwhile are missed when it is mapped. */
  private static void requireHugepages(HxbConfig config, int buffers) {
    long bytes = BufferPool.regionBytes(config.poolStrideBytes(), buffers);
    if (config.hugepages() == HxbConfig.Hugepages.REQUIRE
        && Hugepages.pagesFor(bytes) > Hugepages.freePages()) {
      throw config.refused(
          "pool.hugepages",
          config.hugepages(),
          "of the pool of %d MB, %s; or take \"auto\""
              .formatted(Math.ceilDiv(bytes, 1 << 20), Hugepages.shortage(bytes)));
    }
  }

  /** Before anything is started. */
  private static void requireCpu(HxbConfig config) {
    try {
      Threads.callOn(config.pollCpu(), () -> null);
    } catch (NativeException e) {
      throw config.refused(
          "poll.cpu", config.pollCpu(), e.getMessage() + "; take one of these, or -1 for any");
    }
  }

  private static void requireMtu(HxbConfig config, HxbConfig.Rail rail, Port port) {
    int carriedBytes = port.maxFrameBytes() - FrameHeader.ETHERNET_HEADER_BYTES;
    if (carriedBytes < config.mtuBytes()) {
      String raise =
          switch (rail.driver()) {
            case PACKET, AF_PACKET ->
                "run: ip link set dev " + rail.device() + " mtu " + config.mtuBytes();
            case PCI, SHM, MEMIF -> "give it a larger mtu";
          };
      throw config.refused(
          "mtu",
          config.mtuBytes(),
          "device %s of rail %s%d carries at most %d; %s, or set mtu = %d at all nodes"
              .formatted(
                  rail.device(),
                  rail.dimension(),
                  rail.index(),
                  carriedBytes,
                  raise,
                  carriedBytes));
    }
  }

  /**
   * Starts a node.
   *
   * @throws org.pmhxb.router.ConfigException a value cannot be, as this machine is: too few
   *     hugepages, a device of a smaller mtu, no such processor; nothing is left running
   * @throws org.pmhxb.ffi.NativeException a device or DPDK refuses; names call, code and mend
   */
  public static HxbNode launch(HxbConfig config) {
    return launch(config, Progress.DEDICATED);
  }

  /** The same; {@code progress} says who drives the node. */
  public static HxbNode launch(HxbConfig config, Progress progress) {
    return launch(config, progress, List.of(config));
  }

  /**
   * The same of one of several nodes of this process.
   *
   * @param process all of them: the first one's start tells DPDK which devices any may use, for
   *     good
   */
  public static HxbNode launch(HxbConfig config, Progress progress, List<HxbConfig> process) {
    return new HxbNode(config, progress, process);
  }

  private PollThread startPolling() {
    pool.handOver();
    PollThread thread =
        new PollThread(
            "hxb-poll-" + config.node(),
            List.of(node),
            node.wakeFds(),
            PollIdle.valueOf(config.idle().name()),
            config.pollCpu(),
            this::closeNode);
    node.doorbell(thread);
    return thread.start();
  }

  private static long newIncarnation() {
    long incarnation = new SecureRandom().nextLong();
    return incarnation == 0 ? 1 : incarnation;
  }

  private static Hugepages hugepages(HxbConfig config) {
    return switch (config.hugepages()) {
      case AUTO -> Hugepages.AUTO;
      case REQUIRE -> Hugepages.REQUIRED;
      case NEVER -> Hugepages.NONE;
    };
  }

  static EalOptions eal(List<HxbConfig> process, Hugepages hugepages) {
    EalOptions options = EalOptions.defaults().withHugepages(hugepages);
    List<String> extra = new ArrayList<>();
    for (HxbConfig config : process) {
      for (HxbConfig.Rail rail : config.rails()) {
        if (rail.driver() == HxbConfig.Driver.PCI) {
          String devargs = rail.option("devargs", "");
          extra.add("-a");
          extra.add(devargs.isEmpty() ? rail.device() : rail.device() + "," + devargs);
        }
      }
    }
    return extra.isEmpty() ? options : options.withExtra(extra);
  }

  private Port open(HxbConfig.Rail rail) {
    try {
      return openAs(rail);
    } catch (NativeException e) {
      boolean kernels =
          rail.driver() == HxbConfig.Driver.PACKET || rail.driver() == HxbConfig.Driver.AF_PACKET;
      if (!kernels || e.code() != NO_DEVICE) {
        throw e;
      }
      // Not a fault of the file: the device may come.
      String what = "device %s of rail %s%d is not in this network namespace; look with: ip link";
      NativeException named =
          new NativeException(
              e.call(), e.code(), what.formatted(rail.device(), rail.dimension(), rail.index()));
      named.initCause(e);
      throw named;
    }
  }

  private Port openAs(HxbConfig.Rail rail) {
    return switch (rail.driver()) {
      case PACKET -> PacketPort.open(rail.device(), FrameHeader.ETHER_TYPE, pool);
      case AF_PACKET -> DpdkPorts.afPacket(rail.device(), pool);
      case PCI ->
          DpdkPorts.pci(
              rail.device(),
              rail.option("devargs", ""),
              pool,
              NodeSizing.PCI_RING_FRAMES,
              config.mtuBytes());
      case SHM ->
          DpdkPorts.shm(rail.device(), line(rail), isServer(rail), pool, addressWithout(rail));
      case MEMIF ->
          DpdkPorts.memif(rail.device(), line(rail), isServer(rail), pool, addressWithout(rail));
    };
  }

  private static String line(HxbConfig.Rail rail) {
    return rail.option("socket", rail.device());
  }

  private static boolean isServer(HxbConfig.Rail rail) {
    return rail.option("role", "server").equals("server");
  }

  /** The address of a rail without a NIC: unique in the cluster, locally administered. */
  private long addressWithout(HxbConfig.Rail rail) {
    return 0x0200_0000_0000L
        | (long) config.node() << 8
        | (long) rail.dimension().ordinal() << 4
        | rail.index();
  }

  /** What it was launched with. */
  public HxbConfig config() {
    return config;
  }

  /** Endpoints, sessions, counters. */
  public PmNode node() {
    return node;
  }

  /** Which way frames take. */
  public DimensionOrderRouting routing() {
    return routing;
  }

  /** Which neighbours were heard, which are missing, and what is paired wrongly. */
  public Discovery discovery() {
    return discovery;
  }

  /** The node's buffers, closed with it. */
  public DpdkPool pool() {
    return pool;
  }

  /** Of this start of the node: another at each, by which peers know it from the last; not 0. */
  public long incarnation() {
    return incarnation;
  }

  /** What ended the poll thread, or null. */
  public Throwable failure() {
    return poller == null ? null : poller.failure();
  }

  /** Every neighbour is known on every rail. */
  public boolean isComplete() {
    return discovery.complete();
  }

  private void closeNode() {
    Throwable thrown = leave(List.of(this));
    try {
      node.close();
    } catch (RuntimeException | Error e) {
      thrown = withAnother(thrown, e);
    } finally {
      pool.handOver();
    }
    rethrow(thrown);
  }

  /**
   * Rounds until the peers know: of all, since they may be each other's. A line of shared memory is
   * torn down with what nobody has read yet.
   *
   * @return the first that a listener threw meanwhile, or what broke a node, or null
   */
  private static Throwable leave(List<HxbNode> nodes) {
    Throwable thrown = null;
    List<HxbNode> leaving = new ArrayList<>();
    for (HxbNode hxb : nodes) {
      try {
        hxb.node.quit();
        leaving.add(hxb);
      } catch (RuntimeException | Error e) {
        thrown = withAnother(thrown, e);
      }
    }
    long startNs = System.nanoTime();
    long answeredNs = startNs;
    long nowNs = startNs;
    while (nowNs - startNs < QUIT_NS && nowNs - answeredNs < LINGER_NS) {
      int work = 0;
      boolean answered = true;
      for (HxbNode hxb : List.copyOf(leaving)) {
        try {
          work += hxb.node.doWork(nowNs);
        } catch (RuntimeException e) {
          thrown = thrown == null ? e : thrown;
        } catch (Error e) {
          thrown = thrown == null ? e : thrown;
          leaving.remove(hxb);
        }
        answered &= hxb.node.isQuitAnswered() || !leaving.contains(hxb);
      }
      if (work == 0) {
        LockSupport.parkNanos(LEAVING_NAP_NS);
      }
      nowNs = System.nanoTime();
      if (!answered) {
        answeredNs = nowNs;
      }
    }
    return thrown;
  }

  private static Throwable withAnother(Throwable first, Throwable next) {
    if (first == null) {
      return next;
    }
    if (first != next) {
      first.addSuppressed(next);
    }
    return first;
  }

  private static void rethrow(Throwable thrown) {
    switch (thrown) {
      case null -> {}
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      default -> throw new AssertionError(thrown);
    }
  }

  /**
   * {@link #close} of inline nodes that one thread drives, and which could not answer each other
   * one after the other. All are closed, whatever one of them throws: the first is thrown, with the
   * others.
   *
   * @throws IllegalStateException within a handler, a listener or a round of one; nothing is done
   */
  public static void closeTogether(List<HxbNode> nodes) {
    List<HxbNode> open = nodes.stream().filter(hxb -> !hxb.closed).toList();
    open.forEach(hxb -> hxb.node.refuseWithinHandler("close"));
    Throwable thrown = leave(open);
    for (HxbNode hxb : open) {
      try {
        hxb.end();
      } catch (RuntimeException | Error e) {
        thrown = withAnother(thrown, e);
      }
    }
    rethrow(thrown);
  }

  private void end() {
    try {
      node.close();
    } finally {
      pool.handOver();
      closed = true;
      pool.close();
    }
  }

  /**
   * Ends the sessions with a word to the peers, closes ports and pool. Again: does nothing. Inline:
   * the program's thread. While loans are out the pool's memory stays mapped, until the process
   * ends; the node can be launched anew.
   *
   * @throws IllegalStateException within a handler, the listener or a round; nothing is done
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    if (poller == null) {
      closeTogether(List.of(this));
      return;
    }
    try {
      poller.close();
    } finally {
      // Refused within a round, the poll thread goes on to carry frames.
      if (!poller.isAlive()) {
        closed = true;
        pool.close();
      }
    }
  }
}
