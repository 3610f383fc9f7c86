package org.pmhxb.cli.node;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.pmhxb.cli.workload.MessageLink;
import org.pmhxb.cli.workload.Workload;
import org.pmhxb.cli.workload.WorkloadReport;
import org.pmhxb.pm.DownReason;
import org.pmhxb.pm.PeerListener;
import org.pmhxb.pm.PeerStatus;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.PmNode;
import org.pmhxb.pm.PollIdle;
import org.pmhxb.pm.PollThread;
import org.pmhxb.pm.port.Port;
import org.pmhxb.router.Discovery;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.MissingNeighbour;
import org.pmhxb.router.Neighbour;
import org.pmhxb.router.PairingFault;
import org.pmhxb.router.RailLayout;
import org.pmhxb.router.node.HxbNode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A node over DPDK with one poll thread, which also drives its workloads. */
public final class HxbNodeHandle implements NodeHandle {
  private static final Logger LOG = LoggerFactory.getLogger(HxbNodeHandle.class);
  private static final long CANCEL_POLL_MS = 20;

  private final HxbNode hxb;
  private final HxbConfig config;
  private final LoopWork loop = new LoopWork();
  private final PollThread poller;
  private final Greeter greeter;
  private final long startNs = System.nanoTime();

  /** When each peer's session last went up or down. */
  private final ConcurrentHashMap<Integer, Long> changedNs = new ConcurrentHashMap<>();

  private HxbNodeHandle(HxbConfig config) {
    this.config = config;
    this.hxb = HxbNode.launch(config, HxbNode.Progress.INLINE);
    PmNode node = hxb.node();
    node.peerListener(new Listener());
    this.greeter = new Greeter(node, hxb.discovery());
    loop.add(greeter);
    hxb.pool().handOver();
    this.poller =
        new PollThread(
            "hxb-poll-" + node.self(),
            List.of(node, loop),
            node.wakeFds(),
            PollIdle.valueOf(config.idle().name()),
            config.pollCpu(),
            this::end);
    loop.doorbell(poller);
    node.doorbell(poller);
    poller.start();
  }

  /** Starts a node; the exception of what refused leaves nothing running. */
  public static HxbNodeHandle launch(HxbConfig config) {
    return new HxbNodeHandle(config);
  }

  /** Poll thread, after its last round. */
  private void end() {
    loop.end();
    hxb.close();
  }

  @Override
  public int self() {
    return hxb.node().self();
  }

  @Override
  public boolean ready() {
    return greeter.complete() && poller.isAlive();
  }

  @Override
  public NodeStatus status() {
    return loop.call(this::statusNow);
  }

  /** Poll thread. */
  private NodeStatus statusNow() {
    PmNode node = hxb.node();
    Discovery discovery = hxb.discovery();
    return new NodeStatus(
        true,
        node.self(),
        config.coordinates().toList(),
        config.shape().toString(),
        ProcessHandle.current().pid(),
        (System.nanoTime() - startNs) / 1_000_000,
        ready(),
        rails(discovery.neighbours()),
        node.peerStatus().stream().map(this::peer).toList(),
        discovery.missing().stream().map(MissingNeighbour::toString).toList(),
        discovery.faults().stream().map(PairingFault::toString).toList(),
        node.counters().snapshot());
  }

  private List<NodeStatus.Rail> rails(List<Neighbour> heard) {
    RailLayout layout = config.railLayout();
    List<Port> ports = hxb.node().ports();
    List<NodeStatus.Rail> rails = new ArrayList<>();
    for (int rail = 0; rail < ports.size(); rail++) {
      int number = rail;
      rails.add(
          new NodeStatus.Rail(
              layout.name(rail),
              config.rails().get(rail).device(),
              mac(ports.get(rail).macAddress()),
              ports.get(rail).linkUp(),
              heard.stream()
                  .filter(n -> n.rail() == number)
                  .map(n -> new NodeStatus.Neighbour(n.node(), mac(n.mac())))
                  .toList()));
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
        (System.nanoTime() - sinceNs) / 1_000_000);
  }

  private static String mac(long address) {
    StringBuilder text = new StringBuilder();
    for (int shift = 40; shift >= 0; shift -= 8) {
      text.append(String.format(shift == 0 ? "%02x" : "%02x:", address >>> shift & 0xff));
    }
    return text.toString();
  }

  @Override
  public MessageLink open(int endpoint) {
    PmNode node = hxb.node();
    PmEndpoint opened = loop.call(() -> node.open(endpoint));
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
  public WorkloadReport drive(Workload workload, BooleanSupplier cancelled)
      throws InterruptedException {
    CountDownLatch ended = new CountDownLatch(1);
    Driven driven = new Driven(workload, ended);
    loop.call(() -> loop.add(driven));
    try {
      boolean over = false;
      while (!over) {
        over =
            ended.await(CANCEL_POLL_MS, TimeUnit.MILLISECONDS)
                || cancelled.getAsBoolean()
                || !poller.isAlive();
      }
    } finally {
      loop.call(() -> loop.remove(driven));
    }
    if (driven.failure != null) {
      throw driven.failure;
    }
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

  /** Tells when a workload is done, and keeps its exceptions from the poll thread. */
  private static final class Driven implements LoopWork.Task {
    private final Workload workload;
    private final CountDownLatch ended;
    private RuntimeException failure;

    private Driven(Workload workload, CountDownLatch ended) {
      this.workload = workload;
      this.ended = ended;
    }

    @Override
    public int doWork(long nowNs) {
      if (failure != null || workload.done()) {
        return 0;
      }
      int work = 0;
      try {
        work = workload.doWork(nowNs);
      } catch (RuntimeException e) {
        failure = e;
      }
      if (failure != null || workload.done()) {
        ended.countDown();
      }
      return work;
    }
  }

  /** Logs what happens to sessions. Called by the poll thread; sessions are rare events. */
  private final class Listener implements PeerListener {
    @Override
    public void onPeerUp(int node, int session) {
      changedNs.put(node, System.nanoTime());
      LOG.info("session {} with node {} is up", Integer.toHexString(session), node);
    }

    @Override
    public void onPeerDown(int node, int session, DownReason reason, int lastAcknowledgedSeq) {
      changedNs.put(node, System.nanoTime());
      LOG.warn(
          "session {} with node {} ended: {}; last acknowledged {}",
          Integer.toHexString(session),
          node,
          reason.explanation(),
          Integer.toUnsignedString(lastAcknowledgedSeq));
    }
  }
}
