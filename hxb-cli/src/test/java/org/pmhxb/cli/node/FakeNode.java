package org.pmhxb.cli.node;

import java.nio.file.Path;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.pmhxb.cli.control.ControlServer;
import org.pmhxb.cli.workload.MessageLink;
import org.pmhxb.cli.workload.Workload;
import org.pmhxb.cli.workload.WorkloadReport;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.probe.FabricLogp;
import org.pmhxb.pm.port.PortCounters;
import org.pmhxb.router.HxbConfig;

/**
 * A node without a network, for tests of what surrounds nodes; also a process of its own. What it
 * does is chosen by the system property {@code fake}: {@code ready}, {@code never} (is not ready),
 * {@code dies} (node 1 ends at once), {@code stubborn} (ignores SIGTERM).
 */
public final class FakeNode implements NodeHandle {
  private final HxbConfig config;
  private final boolean ready;
  private final AtomicBoolean open = new AtomicBoolean();

  /** Of barrier and collectives, those that are open. */
  private final Set<String> joined = ConcurrentHashMap.newKeySet();

  /** Of endpoint, barrier and collectives, those that cannot be closed. */
  private volatile Set<String> stuck = Set.of();

  private volatile boolean company;
  private final AtomicBoolean closed = new AtomicBoolean();
  private final AtomicBoolean driving = new AtomicBoolean();

  /** Of every rail. */
  private volatile PortCounters counters = PortCounters.ZERO;

  /** What {@link #reportNewFaults} has not told yet. */
  private final Queue<String> newFaults = new ConcurrentLinkedQueue<>();

  public FakeNode(HxbConfig config, boolean ready) {
    this.config = config;
    this.ready = ready;
  }

  /** Arguments as those of {@code hxb node}: {@code --config FILE}. */
  public static void main(String[] arguments) throws Exception {
    String manner = System.getProperty("fake", "ready");
    HxbConfig config = HxbConfig.read(Path.of(arguments[1]));
    if (manner.equals("dies") && config.node() == 1) {
      System.err.write(0xFC); // no letter of UTF-8
      System.err.println("\nthe fake cable is cut");
      System.exit(7);
    }
    if (manner.equals("stubborn")) {
      Runtime.getRuntime()
          .addShutdownHook(
              new Thread(
                  () -> {
                    while (true) {
                      try {
                        Thread.sleep(60_000);
                      } catch (InterruptedException e) {
                        System.err.println("still here");
                      }
                    }
                  }));
    }
    NodeRunner.serve(
        List.of(
            new NodeRunner.Served(
                new FakeNode(config, !manner.equals("never")),
                ControlServer.open(Path.of(config.controlSocket())))));
    if (manner.equals("stubborn")) {
      Thread.currentThread().join();
    }
    NodeRunner.leave(0);
  }

  @Override
  public int self() {
    return config.node();
  }

  @Override
  public boolean ready() {
    return ready;
  }

  /** What every rail counts from now on. */
  public void counters(PortCounters fresh) {
    counters = fresh;
  }

  void fault(String line) {
    newFaults.add(line);
  }

  @Override
  public int reportNewFaults(Consumer<String> listener) {
    int n = 0;
    for (String line = newFaults.poll(); line != null; line = newFaults.poll()) {
      listener.accept(line);
      n++;
    }
    return n;
  }

  @Override
  public NodeWatch.Signs signs() {
    return new FakeSigns(status().missing(), 0, 0, 0, Collections.emptySortedMap());
  }

  @Override
  public NodeStatus status() {
    return new NodeStatus(
        true,
        self(),
        config.coordinates().toList(),
        config.shape().toString(),
        ProcessHandle.current().pid(),
        "0.fake",
        "1.0",
        1,
        4_096,
        ready,
        config.rails().stream()
            .map(
                rail ->
                    new NodeStatus.Rail(
                        rail.dimension().toString() + rail.index(),
                        rail.device(),
                        "02:00:00:00:00:00",
                        true,
                        List.of(),
                        counters))
            .toList(),
        List.of(),
        ready ? List.of() : List.of("node 99 not heard on rail x0"),
        List.of(),
        Map.of("frames-sent", 3L));
  }

  boolean endpointOpen() {
    return open.get();
  }

  /** Barriers and collectives can be opened, and these parts not be closed any more. */
  void stick(String... parts) {
    company = true;
    stuck = Set.of(parts);
  }

  private void requireNotStuck(String part) {
    if (stuck.contains(part)) {
      throw new IllegalStateException("the " + part + "'s poll thread did not answer for 5 s");
    }
  }

  /** Of endpoint, barrier and collectives, those that are open. */
  Set<String> openParts() {
    Set<String> parts = new HashSet<>(joined);
    if (open.get()) {
      parts.add("endpoint");
    }
    return parts;
  }

  /** Whether a workload is under way. */
  boolean driving() {
    return driving.get();
  }

  boolean closed() {
    return closed.get();
  }

  @Override
  public MessageLink open(int endpoint, boolean ownFrames) {
    if (!open.compareAndSet(false, true)) {
      throw new IllegalStateException("endpoint " + endpoint + " is open already");
    }
    return new SilentLink(
        self(),
        config.shape().nodes(),
        () -> {
          requireNotStuck("endpoint");
          open.set(false);
        });
  }

  @Override
  public WorkloadReport drive(Workload workload, BooleanSupplier cancelled)
      throws InterruptedException {
    while (!workload.done() && !cancelled.getAsBoolean()) {
      workload.doWork(System.nanoTime());
      driving.set(true);
      Thread.sleep(1);
    }
    driving.set(false);
    return workload.report();
  }

  @Override
  public BarrierHandle openBarrier(int number, BarrierSpec spec) {
    if (!company) {
      throw new IllegalStateException("barrier " + number + ": nobody is here to meet");
    }
    joined.add("barrier");
    return new BarrierHandle() {
      @Override
      public boolean connected() {
        return false;
      }

      @Override
      public BarrierTimes run(int count, long limitMs, BooleanSupplier gone)
          throws InterruptedException, TimeoutException {
        throw nobodyCame(gone);
      }

      @Override
      public void close() {
        requireNotStuck("barrier");
        joined.remove("barrier");
      }
    };
  }

  @Override
  public CollectivesHandle joinCollectives() {
    if (!company) {
      throw new IllegalStateException("nobody is here to join");
    }
    joined.add("collectives");
    return new CollectivesHandle() {
      @Override
      public CollectiveTimes run(CollectiveOrder order, long limitMs, BooleanSupplier gone)
          throws InterruptedException, TimeoutException {
        throw nobodyCame(gone);
      }

      @Override
      public void close() {
        requireNotStuck("collectives");
        joined.remove("collectives");
      }
    };
  }

  @Override
  public FabricLogp probe(int count, long limitMs, BooleanSupplier gone)
      throws InterruptedException, TimeoutException {
    throw nobodyCame(gone);
  }

  /** What needs others goes on until nobody waits for it. */
  private TimeoutException nobodyCame(BooleanSupplier gone) throws InterruptedException {
    driving.set(true);
    while (!gone.getAsBoolean()) {
      Thread.sleep(1);
    }
    driving.set(false);
    return new TimeoutException("nobody came");
  }

  @Override
  public Throwable failure() {
    return null;
  }

  @Override
  public void close() {
    closed.set(true);
  }
}
