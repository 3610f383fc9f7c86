package org.pmhxb.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.pmhxb.bufpool.OffHeapPool;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.DownReason;
import org.pmhxb.pm.PeerListener;
import org.pmhxb.pm.PmNode;
import org.pmhxb.router.DimensionOrderRouting;
import org.pmhxb.router.Discovery;
import org.pmhxb.router.RailLayout;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.fault.Fault;
import org.pmhxb.sim.net.SimPort;
import org.pmhxb.sim.work.Host;
import org.pmhxb.sim.work.Program;

/**
 * One life of a node: the classes that run over DPDK, over simulated ports, and the programs on it.
 * Its duty cycle runs when a frame arrives, when a timer is due, and as long as there is work; each
 * costs virtual time. Owner: the simulation's thread.
 */
final class SimNode implements Event, Host, SimPort.Host, PeerListener {
  /** A duty cycle without work, and what each frame or message adds: as measured, in order. */
  private static final long CYCLE_NS = 500;

  private static final long WORK_NS = 100;

  /** Links of no greater latency are no long way. */
  private static final long NEAR_NS = 50_000;

  private static final long LEAST_GAP_NS = 1_000;

  private final Simulation simulation;
  private final int self;
  private final int life;
  private final NodeOptions options;
  private final OffHeapPool pool;
  private final List<SimPort> ports;
  private final Discovery discovery;
  private final PmNode node;
  private final NodeClock clock;
  private final SplittableRandom random;
  private final int[] sessions;
  private List<Program> programs = List.of();
  private final List<Integer> takenAway = new ArrayList<>();

  private boolean alive = true;
  private boolean scheduled;
  private long pollAtNs;
  private long busyUntilNs;
  private long blockedNs;
  private long idleGapNs = LEAST_GAP_NS;
  private long programAtNs;
  private long programGapNs;
  private boolean programStopped;
  private long stalledNs;
  private Fault seldom;
  private SplittableRandom seldomRandom;

  SimNode(Simulation simulation, int self, int life, long seed) {
    this.simulation = simulation;
    this.self = self;
    this.life = life;
    this.random = new SplittableRandom(seed);
    this.options = simulation.options().node().ofNode(random);
    Shape shape = simulation.options().shape();
    RailLayout layout = simulation.layout();
    this.pool = OffHeapPool.create(options.strideBytes(), options.budget(layout.count()).buffers());
    this.ports = simulation.fabric().connect(self, pool, this);
    long incarnation = random.nextLong() | 1;
    List<String> devices = ports.stream().map(SimPort::name).toList();
    this.discovery =
        new Discovery(
            shape, shape.coordinates(self), layout, NodeOptions.KEY, incarnation, devices);
    this.node =
        new PmNode(
            options.config(incarnation, 1 + simulation.nowNs()),
            pool,
            new DimensionOrderRouting(discovery),
            ports,
            options.inline());
    this.sessions = new int[shape.nodes()];
    this.clock = new NodeClock(1 + random.nextLong(1L << 40), simulation.nowNs());
    node.peerListener(this);
    if (options.variety().tellsFar()) {
      tellFar(shape);
    }
    wake(simulation.nowNs() + random.nextLong(LEAST_GAP_NS));
  }

  /** What a cluster's file says of ways to another site. */
  private void tellFar(Shape shape) {
    for (int peer = 0; peer < shape.nodes(); peer++) {
      long longerNs = 0;
      for (int d = 0; d < 3; d++) {
        boolean crosses = shape.coordinates(self).get(d) != shape.coordinates(peer).get(d);
        long latencyNs = simulation.options().links().get(d).latencyNs();
        longerNs += crosses && latencyNs > NEAR_NS ? 2 * latencyNs : 0;
      }
      if (longerNs > 0) {
        node.longWay(peer, longerNs);
      }
    }
  }

  void load(List<Program> loaded) {
    programs = List.copyOf(loaded);
  }

  // --- the duty cycle ---------------------------------------------------------------------------

  @Override
  public void wake(long atNs) {
    long at = Math.max(atNs, busyUntilNs);
    if (alive && (!scheduled || at < pollAtNs)) {
      scheduled = true;
      pollAtNs = at;
      simulation.queue().add(at, this);
    }
  }

  @Override
  public void block(long ns) {
    blockedNs += ns;
  }

  @Override
  public void fire(long nowNs) {
    if (!alive || !scheduled || nowNs != pollAtNs) {
      return; // an earlier poll was asked for meanwhile, and has been
    }
    scheduled = false;
    if (nowNs < busyUntilNs) {
      wake(busyUntilNs);
      return;
    }
    long localNs = clock.localNs(nowNs);
    blockedNs = 0;
    int work = node.doWork(localNs) + runPrograms(nowNs, localNs);
    simulation.checkStep(this);
    busyUntilNs = nowNs + CYCLE_NS + WORK_NS * work + blockedNs;
    if (work > 0) {
      idleGapNs = LEAST_GAP_NS;
      wake(busyUntilNs);
      return;
    }
    if (seldom != null) {
      // A program that computes: it does not sleep, and nothing that arrives calls it.
      busyUntilNs = nowNs + seldomGapNs();
      wake(busyUntilNs);
      return;
    }
    long localDeadlineNs = node.nextDeadlineNs(localNs);
    long deadlineNs = clock.untilNs(nowNs, localDeadlineNs);
    node.rests(localDeadlineNs);
    boolean waits = deadlineNs < options.parkGapNs();
    long gapNs = Math.min(deadlineNs, waits ? idleGapNs : options.parkGapNs());
    idleGapNs = Math.min(idleGapNs * 2, options.idleGapNs());
    wake(nowNs + gapNs);
    for (SimPort port : ports) {
      if (port.nextArrivalNs() != Long.MAX_VALUE) {
        wake(port.nextArrivalNs());
      }
    }
  }

  private int runPrograms(long nowNs, long localNs) {
    if (programStopped || nowNs < programAtNs) {
      return 0;
    }
    int work = 0;
    for (Program program : programs) {
      work += program.step(localNs);
    }
    programAtNs = nowNs + programGapNs;
    return work;
  }

  // --- faults -----------------------------------------------------------------------------------

  void stall(long untilNs) {
    stalledNs += Math.max(0, untilNs - Math.max(busyUntilNs, simulation.nowNs()));
    busyUntilNs = Math.max(busyUntilNs, untilNs);
  }

  /** Time that this node stood still so far. */
  long stalledNs() {
    return stalledNs;
  }

  /**
   * From now on the node polls until there is nothing to do, and not again before the fault's time
   * is over; null: it polls as ever.
   */
  void pollSeldom(Fault fault) {
    seldom = fault;
    seldomRandom = fault == null ? null : new SplittableRandom(fault.seed() * 31 + self);
  }

  private long seldomGapNs() {
    double part = 1 - seldom.rate() * seldomRandom.nextDouble();
    return Math.max(LEAST_GAP_NS, (long) (seldom.amount() * part));
  }

  void programGap(long ns) {
    programGapNs = ns;
    programAtNs = simulation.nowNs();
  }

  void programStopped(boolean stopped) {
    programStopped = stopped;
  }

  void skew(double rate, long aheadNs) {
    clock.change(simulation.nowNs(), rate, aheadNs);
  }

  /** Takes a part of the free buffers away. */
  void takeBuffers(double part) {
    int count = (int) (pool.available() * part);
    for (int i = 0; i < count; i++) {
      int id = pool.allocate(Owner.of(Owner.WIRE, self));
      if (id == 0) {
        return;
      }
      takenAway.add(id);
    }
  }

  void giveBuffersBack() {
    takenAway.forEach(id -> pool.release(id, Owner.of(Owner.WIRE, self)));
    takenAway.clear();
  }

  /** The process is gone from one moment to the next. */
  void die() {
    alive = false;
    simulation.fabric().disconnect(self, ports);
  }

  /** The node tells its peers that it stops; what its ports have is still sent. */
  void stop() {
    alive = false;
    node.quit();
  }

  boolean isAlive() {
    return alive;
  }

  // --- the end ----------------------------------------------------------------------------------

  boolean programsDone() {
    return programs.stream().allMatch(Program::isDone);
  }

  void closePrograms() {
    programs.forEach(Program::close);
    programs = List.of();
  }

  /** Nothing of it is under way, and all its buffers are free. */
  boolean isHome() {
    return node.inFlight() == 0
        && ports.stream().allMatch(SimPort::isIdle)
        && missingBuffers() == 0;
  }

  /** Buffers that did not come home. */
  int missingBuffers() {
    pool.flush();
    return pool.capacity() - pool.available();
  }

  /** For people: who has the buffers that did not come home. */
  String holders() {
    StringBuilder text = new StringBuilder();
    for (int id = 1; id <= pool.capacity() && text.length() < 200; id++) {
      if (pool.owner(id) != Owner.FREE) {
        text.append(text.isEmpty() ? "" : ", ").append(Owner.describe(pool.owner(id)));
      }
    }
    return text.toString();
  }

  /** Gives native memory back. */
  void close() {
    closePrograms();
    node.close();
    pool.close();
  }

  // --- sessions ---------------------------------------------------------------------------------

  @Override
  public void onPeerUp(int peer, int session) {
    sessions[peer] = session;
    simulation.oracle().peerUp(this, peer, session);
  }

  @Override
  public void onPeerDown(int peer, int session, DownReason reason, int lastAcknowledgedSeq) {
    sessions[peer] = 0;
    simulation.oracle().peerDown(this, peer, session, reason);
  }

  @Override
  public int session(int peer) {
    return sessions[peer];
  }

  // --- what programs see ------------------------------------------------------------------------

  @Override
  public int self() {
    return self;
  }

  @Override
  public int life() {
    return life;
  }

  @Override
  public Shape shape() {
    return simulation.options().shape();
  }

  @Override
  public PmNode node() {
    return node;
  }

  @Override
  public SplittableRandom random() {
    return random;
  }

  @Override
  public Oracle oracle() {
    return simulation.oracle();
  }

  @Override
  public boolean isGone(int other) {
    return simulation.isUnreachable(self, other);
  }

  Discovery discovery() {
    return discovery;
  }
}
