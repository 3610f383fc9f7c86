package org.pmhxb.cli.node;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.cli.Version;
import org.pmhxb.cli.workload.MessageLink;
import org.pmhxb.cli.workload.Workload;
import org.pmhxb.cli.workload.WorkloadReport;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.probe.FabricLogp;
import org.pmhxb.ffi.Hugepages;
import org.pmhxb.pm.Counter;
import org.pmhxb.pm.DownReason;
import org.pmhxb.pm.DropReason;
import org.pmhxb.pm.PeerListener;
import org.pmhxb.pm.PeerStatus;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.PmNode;
import org.pmhxb.pm.PollIdle;
import org.pmhxb.pm.PollThread;
import org.pmhxb.pm.PollWork;
import org.pmhxb.pm.port.Port;
import org.pmhxb.pm.port.PortCounters;
import org.pmhxb.pm.wire.FrameHeader;
import org.pmhxb.router.Discovery;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.MissingNeighbour;
import org.pmhxb.router.Neighbour;
import org.pmhxb.router.PairingFault;
import org.pmhxb.router.RailLayout;
import org.pmhxb.router.fabric.RingCluster;
import org.pmhxb.router.node.HxbNode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * A node whose poll thread also drives its workloads; several nodes of one process may share the
 * thread.
 */
public final class PolledNode implements NodeHandle {
  private static final Logger LOG = LoggerFactory.getLogger(PolledNode.class);

  private static final String VERSION = Version.project();
  private static final String WIRE = FrameHeader.VERSION_MAJOR + "." + FrameHeader.VERSION_MINOR;

  private final PmNode node;
  private final Discovery discovery;
  private final LoopWork loop;
  private final Greeter greeter;
  private final long poolPageBytes;
  private final long startNs = System.nanoTime();

  /** When each peer's session last went up or down. */
  private final ConcurrentHashMap<Integer, Long> changedNs = new ConcurrentHashMap<>();

  /** The poll thread sleeps as soon as it has nothing to do. */
  private final boolean sleeps;

  private PollThread poller;

  /**
   * @param node in inline mode: it is used by the poll thread alone
   */
  private PolledNode(
      PmNode node, Discovery discovery, long poolPageBytes, LoopWork loop, PollIdle idle) {
    this.poolPageBytes = poolPageBytes;
    this.sleeps = idle == PollIdle.PARK;
    this.node = node;
    this.discovery = discovery;
    this.loop = loop;
    this.greeter = new Greeter(node, discovery);
    node.peerListener(new Listener());
    loop.add(greeter);
  }

  /**
   * Starts nodes of this process, on one poll thread that behaves as the first one's configuration
   * says. Closing any of them closes all. The exception of what refused leaves nothing running.
   *
   * @param configs at least one
   */
  public static List<PolledNode> launch(List<HxbConfig> configs) {
    List<HxbNode> started = new ArrayList<>();
    try {
      for (HxbConfig config : configs) {
        started.add(HxbNode.launch(config, HxbNode.Progress.INLINE, configs));
      }
      return polled(configs.getFirst(), started);
    } catch (RuntimeException | Error e) {
      try {
        HxbNode.closeTogether(started);
      } catch (RuntimeException | Error second) {
        e.addSuppressed(second);
      }
      throw e;
    }
  }

  private static List<PolledNode> polled(HxbConfig first, List<HxbNode> started) {
    for (HxbNode hxb : started) {
      smallPages(hxb.config().hugepages(), hxb.pool())
          .ifPresent(line -> LOG.warn("node {}: {}", hxb.config().node(), line));
    }
    PollIdle idle = PollIdle.valueOf(first.idle().name());
    LoopWork loop =
        new LoopWork(
            started.stream()
                .map(hxb -> (LoopWork.Outlet) hxb.node()::sendNow)
                .toArray(LoopWork.Outlet[]::new));
    List<PolledNode> nodes = new ArrayList<>();
    List<PollWork> work = new ArrayList<>();
    for (HxbNode hxb : started) {
      nodes.add(new PolledNode(hxb.node(), hxb.discovery(), hxb.pool().pageBytes(), loop, idle));
      work.add(hxb.node());
      hxb.pool().handOver();
    }
    work.add(loop);
    PollThread poller =
        new PollThread(
            "hxb-poll-" + first.node(),
            work,
            wakeFds(started),
            idle,
            first.pollCpu(),
            () -> {
              loop.end();
              HxbNode.closeTogether(started);
            });
    startOn(poller, nodes);
    return nodes;
  }

  /** Of a pool that got small pages though nobody asked for them: what that means, and the mend. */
  static Optional<String> smallPages(HxbConfig.Hugepages asked, DpdkPool pool) {
    if (asked != HxbConfig.Hugepages.AUTO || pool.hugepages()) {
      return Optional.empty();
    }
    long bytes = pool.memory().byteSize();
    return Optional.of(
        "no hugepages for the pool of %d MB, which lies in pages of %d KB and is slower; %s"
            .formatted(
                Math.ceilDiv(bytes, 1 << 20), pool.pageBytes() >> 10, Hugepages.shortage(bytes)));
  }

  /** Of all nodes; none when one of them has a port without. */
  private static int[] wakeFds(List<HxbNode> nodes) {
    List<int[]> fds = nodes.stream().map(hxb -> hxb.node().wakeFds()).toList();
    return fds.stream().anyMatch(of -> of.length == 0)
        ? new int[0]
        : fds.stream().flatMapToInt(Arrays::stream).toArray();
  }

  /**
   * Starts the nodes of a cluster within this process, on one poll thread. Closing any of them
   * closes all, the cluster included.
   *
   * @param cluster in inline mode
   */
  public static List<PolledNode> launch(RingCluster cluster, PollIdle idle) {
    LoopWork loop = new LoopWork();
    List<PolledNode> nodes = new ArrayList<>();
    for (int n = 0; n < cluster.size(); n++) {
      nodes.add(
          new PolledNode(
              cluster.node(n), cluster.discovery(n), cluster.pool(n).pageBytes(), loop, idle));
      cluster.pool(n).handOver();
    }
    PollThread poller =
        new PollThread(
            "hxb-poll-ring",
            List.of(cluster, loop),
            new int[0],
            idle,
            -1,
            () -> {
              loop.end();
              cluster.close();
            });
    startOn(poller, nodes);
    return nodes;
  }

  private static void startOn(PollThread thread, List<PolledNode> nodes) {
    for (PolledNode each : nodes) {
      each.poller = thread;
      each.node.doorbell(thread);
    }
    nodes.getFirst().loop.doorbell(thread);
    thread.start();
  }

  @Override
  public int self() {
    return node.self();
  }

  @Override
  public boolean ready() {
    return greeter.ready() && poller.isAlive();
  }

  @Override
  public NodeStatus status() {
    // Not on the poll thread: a driver may take a while.
    List<PortCounters> counted = node.ports().stream().map(Port::counters).toList();
    return loop.call(() -> statusNow(counted));
  }

  @Override
  public int reportNewFaults(Consumer<String> listener) {
    return discovery.reportNewFaults(fault -> listener.accept(fault.toString()));
  }

  @Override
  public NodeWatch.Signs signs() {
    return new Signs();
  }

  /** Poll thread. */
  private NodeStatus statusNow(List<PortCounters> counted) {
    return new NodeStatus(
        true,
        node.self(),
        discovery.coordinates().toList(),
        discovery.shape().toString(),
        ProcessHandle.current().pid(),
        VERSION,
        WIRE,
        (System.nanoTime() - startNs) / 1_000_000,
        poolPageBytes,
        ready(),
        rails(discovery.neighbours(), counted),
        node.peerStatus().stream().map(this::peer).toList(),
        missingNow(),
        discovery.faults().stream().map(PairingFault::toString).toList(),
        node.counters().snapshot());
  }

  private List<String> missingNow() {
    return discovery.missing(System.nanoTime()).stream().map(MissingNeighbour::toString).toList();
  }

  private List<NodeStatus.Rail> rails(List<Neighbour> heard, List<PortCounters> counted) {
    RailLayout layout = discovery.layout();
    List<Port> ports = node.ports();
    List<NodeStatus.Rail> rails = new ArrayList<>();
    for (int rail = 0; rail < ports.size(); rail++) {
      int number = rail;
      rails.add(
          new NodeStatus.Rail(
              layout.name(rail),
              ports.get(rail).name(),
              mac(ports.get(rail).macAddress()),
              ports.get(rail).linkUp(),
              heard.stream()
                  .filter(n -> n.rail() == number)
                  .map(n -> new NodeStatus.Neighbour(n.node(), mac(n.mac())))
                  .toList(),
              counted.get(rail)));
    }
    return rails;
  }

  private NodeStatus.Peer peer(PeerStatus status) {
    long sinceNs = changedNs.getOrDefault(status.node(), startNs);
    return new NodeStatus.Peer(
        status.node(),
        status.state().name(),
        status.reason() == null ? "" : status.reason().explanation(),
        Integer.toUnsignedLong(status.session()),
        Integer.toUnsignedLong(status.lastAcknowledgedSeq()),
        (System.nanoTime() - sinceNs) / 1_000_000,
        status.paths(),
        status.pathsEvicted());
  }

  private static String mac(long address) {
    StringBuilder text = new StringBuilder();
    for (int shift = 40; shift >= 0; shift -= 8) {
      text.append(String.format(shift == 0 ? "%02x" : "%02x:", address >>> shift & 0xff));
    }
    return text.toString();
  }

  @Override
  public MessageLink open(int endpoint, boolean ownFrames) {
    PmEndpoint opened =
        loop.make(
            () -> {
              PmEndpoint made = node.open(endpoint);
              if (ownFrames) {
                made.coalesceUpTo(-1);
              }
              return made;
            },
            PmEndpoint::close);
    return new PmLink(node, opened, () -> closeEndpoint(opened));
  }

  private void closeEndpoint(PmEndpoint endpoint) {
    if (poller.isAlive()) {
      loop.call(
          () -> {
            endpoint.close();
            return null;
          });
    }
  }

  @Override
  public BarrierHandle openBarrier(int number, BarrierSpec spec) {
    return new PolledBarrier(node, loop, number, spec);
  }

  @Override
  public CollectivesHandle joinCollectives() {
    return PolledCollectives.join(node, loop, discovery.shape());
  }

  @Override
  public FabricLogp probe(int count, long limitMs, BooleanSupplier gone)
      throws InterruptedException, TimeoutException {
    return PolledProbe.measure(node, loop, count, sleeps, limitMs, gone);
  }

  @Override
  public WorkloadReport drive(Workload workload, BooleanSupplier cancelled)
      throws InterruptedException {
    LoopWork.Task task =
        new LoopWork.Task() {
          @Override
          public int doWork(long nowNs) {
            return workload.doWork(nowNs);
          }

          @Override
          public boolean isBrief() {
            return true;
          }

          @Override
          public boolean over() {
            return workload.done();
          }
        };
    AwaitedTask.drive(loop, task, () -> cancelled.getAsBoolean() || !poller.isAlive());
    // The endpoint belongs to the poll thread, and the report asks it.
    return loop.call(workload::report);
  }

  @Override
  public Throwable failure() {
    return poller.failure();
  }

  @Override
  public void close() {
    poller.close();
  }

  private final class Signs implements NodeWatch.Signs {
    @Override
    public List<String> missing() {
      return missingNow();
    }

    @Override
    public long tagDrops() {
      return node.counters().dropped(DropReason.TAG);
    }

    @Override
    public long evicted() {
      return node.counters().get(Counter.PATHS_EVICTED);
    }

    @Override
    public long restored() {
      return node.counters().get(Counter.PATHS_RESTORED);
    }

    @Override
    public SortedMap<Integer, Integer> outOfUse() {
      SortedMap<Integer, Integer> byPeer = new TreeMap<>();
      for (PeerStatus peer : node.peerStatus()) {
        if (peer.pathsEvicted() > 0) {
          byPeer.put(peer.node(), peer.pathsEvicted());
        }
      }
      return byPeer;
    }
  }

  /** Logs what happens to sessions. Called by the poll thread; sessions are rare events. */
  private final class Listener implements PeerListener {
    @Override
    public void onPeerUp(int node, int session) {
      changedNs.put(node, System.nanoTime());
      LOG.info(
          "session {} of node {} with node {} is up", Integer.toHexString(session), self(), node);
    }

    @Override
    public void onPeerDown(int node, int session, DownReason reason, int lastAcknowledgedSeq) {
      long nowNs = System.nanoTime();
      changedNs.put(node, nowNs);
      if (greeter.lost(node, nowNs)) {
        loop.add(greeter);
      }
      boolean wanted = reason == DownReason.LOCAL_CLOSE || reason == DownReason.CLOSED;
      LOG.atLevel(wanted ? Level.INFO : Level.WARN)
          .log(
              "session {} of node {} with node {} ended: {}; last acknowledged {}",
              Integer.toHexString(session),
              self(),
              node,
              reason.explanation(),
              Integer.toUnsignedString(lastAcknowledgedSeq));
    }
  }
}
