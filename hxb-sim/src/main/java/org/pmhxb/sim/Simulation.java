package org.pmhxb.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.pmhxb.pm.DropReason;
import org.pmhxb.router.RailLayout;
import org.pmhxb.sim.fault.Fault;
import org.pmhxb.sim.fault.FaultKind;
import org.pmhxb.sim.fault.Reach;
import org.pmhxb.sim.fault.Schedule;
import org.pmhxb.sim.net.Fabric;
import org.pmhxb.sim.net.LinkSpec;
import org.pmhxb.sim.net.SimPort;

/**
 * A whole machine under a virtual clock: nodes, wires, faults, programs, and the oracle that judges
 * them. Single-threaded; everything follows from {@link SimOptions}.
 */
public final class Simulation implements Fabric.Watch {
  private static final long LOOK_NS = 500_000L;

  /** From the word to the peers until the process is gone; less than the shortest stop. */
  private static final long STOP_NS = 2_000_000L;

  /** More events than these are a livelock. Runs of the mixed profile need a twentieth. */
  private static final long EVENTS_LEAST = 2_000_000L;

  private static final long EVENTS_PER_MESSAGE = 2_000L;

  /** Announcements on long lines, each to all nodes there. */
  private static final long EVENTS_PER_NODE = 1_000L;

  /** A peer's death is told within the peer timeout, a fifth of it, and half a second. */
  private static final long DOWN_SLACK_NS = 500_000_000L;

  private final SimOptions options;
  private final Consumer<String> told;
  private final RailLayout layout;
  private final EventQueue queue = new EventQueue();
  private final EventLog log;
  private final Fabric fabric;
  private final Oracle oracle;
  private final SimNode[] nodes;

  /** Of each node's lives, in turn. */
  private final List<List<Long>> incarnations = new ArrayList<>();

  private final boolean[] gone;
  private final SplittableRandom seeds;
  private final Progress progress;
  private final long faultsNs;
  private long limitNs;
  private final List<SimNode> dead = new ArrayList<>();

  private Violation violation;
  private SimNode stepping;
  private long stepsChecked;
  private int downsAwaited;
  private long settledNs = -1;
  private long firstMessageNs;

  private Simulation(SimOptions options, Consumer<String> progress) {
    this.options = options;
    this.told = progress;
    this.layout = new RailLayout(options.shape(), options.rails());
    this.log = new EventLog(queue, options.keepLog());
    this.fabric =
        new Fabric(options.shape(), layout, options.links(), options.trunk(), queue, log, this);
    this.oracle = new Oracle(this);
    this.progress = new Progress(this);
    this.faultsNs = options.schedule().endNs();
    int n = options.shape().nodes();
    this.nodes = new SimNode[n];
    for (int node = 0; node < n; node++) {
      incarnations.add(new ArrayList<>(1));
    }
    this.gone = new boolean[n];
    this.seeds = new SplittableRandom(options.seed());
  }

  /** Runs to the end, or to the first violation. */
  public static SimResult run(SimOptions options) {
    return run(options, null);
  }

  /**
   * Runs to the end, or to the first violation.
   *
   * @param progress takes lines for people, one each half millisecond of virtual time; or null
   */
  public static SimResult run(SimOptions options, Consumer<String> progress) {
    return new Simulation(options, progress).run();
  }

  private SimResult run() {
    int leaked = 0;
    try {
      if (told != null) {
        told.accept("building " + nodes.length + " nodes");
      }
      for (int node = 0; node < nodes.length; node++) {
        start(node);
      }
      options.schedule().faults().forEach(this::plan);
      queue.add(LOOK_NS, this::look);
      fireUntilSettled();
      if (violation == null) {
        leaked = windUp();
      }
    } catch (RuntimeException | AssertionError e) {
      int at = stepping == null ? -1 : stepping.self();
      violation(Violation.Kind.EXCEPTION, at, -1, "node " + at + ": " + describe(e));
    }
    SimResult result = result(leaked);
    close();
    return result;
  }

  /** How many lives a node has had, with the one that it has. */
  int lifeOf(int node) {
    return incarnations.get(node).size();
  }

  /**
   * Which of a node's lives an incarnation is, counted as by {@link #lifeOf(int)}; 0: none. What
   * one life said may arrive in the next.
   */
  int lifeOf(int node, long incarnation) {
    return incarnations.get(node).indexOf(incarnation) + 1;
  }

  /** The session of a flow that is up at both ends, or 0. */
  int sessionOf(Flow flow) {
    SimNode from = nodes[flow.src];
    SimNode to = nodes[flow.dst];
    if (from == null || to == null || from.life() != flow.life) {
      return 0;
    }
    int session = from.session(flow.dst);
    return session == to.session(flow.src) ? session : 0;
  }

  /** Whether a node has not died, or was started again since. */
  boolean lives(int node) {
    return nodes[node] != null;
  }

  /** Frames that a node has dropped for a reason in the life that it has. */
  long dropped(int node, DropReason reason) {
    return nodes[node] == null ? 0 : nodes[node].node().counters().dropped(reason);
  }

  private static String describe(Throwable e) {
    StringBuilder text = new StringBuilder(e.toString());
    StackTraceElement[] trace = e.getStackTrace();
    for (int i = 0; i < Math.min(6, trace.length); i++) {
      text.append(" < ").append(trace[i]);
    }
    return text.toString();
  }

  private void fireUntilSettled() {
    while (violation == null && settledNs < 0 && !queue.isEmpty()) {
      queue.fireNext();
    }
  }

  /** Looks from time to time whether all is done, or will never be. */
  private void look(long nowNs) {
    if (told != null) {
      told.accept(
          String.format(
              Locale.ROOT,
              "%.1f ms of virtual time, %d of %d messages delivered",
              nowNs / 1e6,
              oracle.delivered(),
              oracle.begun()));
    }
    if (oracle.isSettled() && programsDone() && downsAwaited == 0) {
      settledNs = nowNs;
      return;
    }
    boolean busy =
        queue.fired()
            > EVENTS_LEAST + EVENTS_PER_NODE * nodes.length + EVENTS_PER_MESSAGE * oracle.begun();
    if (nowNs > limitNs) {
      limitNs = limitNs(); // it grows with what was sent meanwhile
    }
    if (busy || nowNs > limitNs) {
      List<Flow> missing = oracle.unsettled();
      Flow first = missing.isEmpty() ? null : missing.getFirst();
      violation(
          Violation.Kind.STUCK,
          first == null ? -1 : first.src,
          first == null ? -1 : first.dst,
          first == null
              ? "programs have not finished in %d events".formatted(queue.fired())
              : "%d flows did not finish in %d events, first %s: %s"
                  .formatted(missing.size(), queue.fired(), first, first.describe()));
      return;
    }
    progress.look(nowNs);
    queue.add(nowNs + LOOK_NS, this::look);
  }

  private long limitNs() {
    long downNs = downsAwaited > 0 ? downTimeNs() * 2 : 0;
    long leastNs = faultsNs + options.progressBoundNs() + downNs;
    return nowNs() <= leastNs
        ? leastNs
        : leastNs + 20 * Ideal.timeNs(this, oracle.flows()) + gapsNs();
  }

  /** Where nodes poll seldom a channel brings one frame in a round trip at least. */
  private long gapsNs() {
    long roundTripNs = options.schedule().gapsNs(3);
    for (LinkSpec link : options.links()) {
      roundTripNs += 2 * link.latencyNs();
    }
    int payload = options.node().config(1, 1).maxPayloadBytes();
    long most = 0;
    for (Flow flow : oracle.flows()) {
      most = Math.max(most, flow.begun() + flow.bytes() / payload);
    }
    return roundTripNs * most;
  }

  private boolean programsDone() {
    for (SimNode node : nodes) {
      if (node != null && !node.programsDone()) {
        return false;
      }
    }
    return true;
  }

  /**
   * Runs until each node has had all its buffers at home at one of the looks, for so long at most,
   * and returns who has not. Not all of them at the same look: of a thousand, probes of some are
   * always under way.
   */
  private List<SimNode> awayAfter(long mostNs) {
    long untilNs = nowNs() + mostNs;
    List<SimNode> away = new ArrayList<>();
    for (SimNode node : nodes) {
      if (node != null) {
        away.add(node);
      }
    }
    long lookNs = nowNs() + LOOK_NS;
    while (violation == null && !away.isEmpty() && nowNs() < untilNs) {
      queue.fireNext();
      if (nowNs() >= lookNs) {
        away.removeIf(SimNode::isHome);
        lookNs = nowNs() + LOOK_NS;
      }
    }
    return away;
  }

  /** All is delivered: programs end, and every buffer must come home. */
  private int windUp() {
    for (Fault fault : options.schedule().faults()) {
      if (fault.startNs() <= nowNs() && fault.endNs() > nowNs()) {
        end(fault);
      }
    }
    for (SimNode node : nodes) {
      if (node != null) {
        node.closePrograms();
      }
    }
    // Where a peer died unnoticed by one side, its silence must end the session first.
    List<SimNode> away = awayAfter(2 * downTimeNs());
    if (away.isEmpty()) {
      // Nothing that is asked for is under way any more: what came meanwhile must be free, too.
      away = awayAfter(2 * downTimeNs());
    }
    int leaked = 0;
    for (SimNode node : away) {
      int missing = node.missingBuffers();
      leaked += missing;
      if (missing != 0) {
        violation(
            Violation.Kind.LEAK,
            node.self(),
            -1,
            "node %d misses %d buffers: %s".formatted(node.self(), missing, node.holders()));
      }
    }
    return leaked;
  }

  private SimResult result(int leaked) {
    Map<String, Long> counters = new TreeMap<>();
    List<SimNode> all = new ArrayList<>(dead);
    for (SimNode node : nodes) {
      if (node != null) {
        all.add(node);
      }
    }
    for (SimNode node : all) {
      node.node().counters().snapshot().forEach((name, n) -> counters.merge(name, n, Long::sum));
    }
    counters.put("switch.tail-drops", fabric.tailDrops());
    long messages = 0;
    long excused = 0;
    long lost = 0;
    for (Flow flow : oracle.flows()) {
      messages += flow.begun();
      excused += flow.count(Flow.EXCUSED);
      lost += flow.count(Flow.OPEN) + flow.count(Flow.SENT);
    }
    long neededNs = Math.max(1, (settledNs < 0 ? nowNs() : settledNs) - firstMessageNs);
    return new SimResult(
        options.seed(),
        options.schedule(),
        violation,
        messages,
        oracle.delivered(),
        excused,
        lost,
        oracle.peerDowns(),
        leaked,
        nowNs(),
        (double) Ideal.timeNs(this, oracle.flows()) / neededNs,
        queue.fired(),
        fabric.framesSent(),
        counters,
        log);
  }

  private void close() {
    oracle.closing();
    violation = violation == null ? new Violation(Violation.Kind.STUCK, 0, -1, -1, "") : violation;
    for (SimNode node : nodes) {
      if (node != null) {
        node.close();
      }
    }
    dead.forEach(SimNode::close);
  }

  // --- nodes ------------------------------------------------------------------------------------

  private void start(int number) {
    SimNode node = new SimNode(this, number, lifeOf(number), seeds.split().nextLong());
    nodes[number] = node;
    incarnations.get(number).add(node.node().config().incarnation());
    log.add("start n" + number);
    node.load(options.workload().programs(node));
  }

  /** A node dies, or is stopped with a word to its peers. */
  private void remove(int number, boolean forEver, boolean stopped) {
    SimNode node = nodes[number];
    if (node == null) {
      return;
    }
    gone[number] |= forEver;
    nodes[number] = null;
    if (stopped) {
      node.stop();
      queue.add(nowNs() + STOP_NS, now -> node.die());
    } else {
      node.die();
    }
    dead.add(node);
    oracle.died(node, forEver);
    for (SimNode other : nodes) {
      if (other != null && other.session(number) != 0) {
        awaitDown(other, number, other.session(number));
      }
    }
  }

  private long downTimeNs() {
    return options.node().peerTimeoutNs() * 6 / 5 + DOWN_SLACK_NS;
  }

  /** A node with a session to one that died must say so in time. */
  private void awaitDown(SimNode node, int peer, int session) {
    downsAwaited++;
    long stalledNs = node.stalledNs();
    long lastWordNs = options.schedule().stallsEndNs(nowNs());
    queue.add(lastWordNs + downTimeNs(), now -> checkDown(node, peer, session, stalledNs));
  }

  private void checkDown(SimNode node, int peer, int session, long stalledNs) {
    if (node.isAlive() && node.session(peer) == session) {
      if (node.stalledNs() > stalledNs) {
        long moreNs = node.stalledNs() - stalledNs;
        queue.add(nowNs() + moreNs, now -> checkDown(node, peer, session, node.stalledNs()));
        return;
      }
      violation(
          Violation.Kind.PEER_DOWN_MISSING,
          node.self(),
          peer,
          "node %d did not report the end of node %d within %d ms"
              .formatted(node.self(), peer, downTimeNs() / 1_000_000));
    }
    downsAwaited--;
  }

  /** Nothing can arrive any more: one of the two is gone, or a relay of every way between them. */
  boolean isUnreachable(int a, int b) {
    Reach reach = new Reach(options.shape(), options.rails());
    for (int node = 0; node < gone.length; node++) {
      if (gone[node]) {
        reach.without(node);
      }
    }
    return !reach.isJoined(a, b);
  }

  void sessionOpened() {
    if (firstMessageNs == 0) {
      firstMessageNs = nowNs();
    }
  }

  // --- faults -----------------------------------------------------------------------------------

  private void plan(Fault fault) {
    queue.add(fault.startNs(), now -> begin(fault));
    if (fault.kind() != FaultKind.CRASH) {
      queue.add(fault.endNs(), now -> end(fault));
    }
  }

  private void begin(Fault fault) {
    if (settledNs >= 0) {
      return;
    }
    log.add("begin fault " + fault);
    int at = fault.place().node();
    switch (fault.kind()) {
      case CRASH -> remove(at, true, false);
      case RESTART -> remove(at, false, false);
      case STOP -> remove(at, false, true);
      case STALL, SELDOM, SLOW_CONSUMER, STOPPED_CONSUMER, POOL, SKEW -> {
        for (SimNode node : nodes) {
          if (node != null && (at < 0 || at == node.self())) {
            beginAt(node, fault);
          }
        }
      }
      default -> fabric.begin(fault);
    }
  }

  private static void beginAt(SimNode node, Fault fault) {
    switch (fault.kind()) {
      case STALL -> node.stall(fault.endNs());
      case SELDOM -> node.pollSeldom(fault);
      case SLOW_CONSUMER -> node.programGap(fault.amount());
      case STOPPED_CONSUMER -> node.programStopped(true);
      case POOL -> node.takeBuffers(fault.rate());
      case SKEW -> node.skew(fault.rate(), fault.amount());
      default -> throw new AssertionError(fault);
    }
  }

  private void end(Fault fault) {
    log.add("end fault " + fault);
    int at = fault.place().node();
    switch (fault.kind()) {
      case CRASH, STALL -> {
        // The one has no end, the other ends by itself.
      }
      case RESTART, STOP -> {
        if (nodes[at] == null && !gone[at]) {
          start(at);
        }
      }
      case SELDOM, SLOW_CONSUMER, STOPPED_CONSUMER, POOL, SKEW -> {
        for (SimNode node : nodes) {
          if (node != null && (at < 0 || at == node.self())) {
            endAt(node, fault);
          }
        }
      }
      default -> fabric.end(fault);
    }
  }

  private static void endAt(SimNode node, Fault fault) {
    switch (fault.kind()) {
      case SELDOM -> node.pollSeldom(null);
      case SLOW_CONSUMER -> node.programGap(0);
      case STOPPED_CONSUMER -> node.programStopped(false);
      case POOL -> node.giveBuffersBack();
      case SKEW -> node.skew(0, 0);
      default -> throw new AssertionError(fault);
    }
  }

  // --- judgement --------------------------------------------------------------------------------

  /** The first violation ends the run. */
  void violation(Violation.Kind kind, int src, int dst, String text) {
    if (violation == null) {
      violation = new Violation(kind, nowNs(), src, dst, text);
      log.add("violation " + src + ">" + dst + " " + violation);
    }
  }

  @Override
  public void frameRewritten(SimPort port, String frame) {
    violation(
        Violation.Kind.FRAME_REWRITTEN,
        -1,
        -1,
        "a frame was written while port " + port.name() + " had it: " + frame);
  }

  /** After each duty cycle: windows and credits within their bounds. */
  void checkStep(SimNode node) {
    stepping = node;
    if (++stepsChecked % options.boundsEvery() == 0) {
      String broken = node.node().brokenBound();
      if (broken != null) {
        violation(
            Violation.Kind.BOUND_BROKEN, node.self(), -1, "node " + node.self() + ": " + broken);
      }
    }
  }

  // --- what the parts see -----------------------------------------------------------------------

  SimOptions options() {
    return options;
  }

  RailLayout layout() {
    return layout;
  }

  EventQueue queue() {
    return queue;
  }

  EventLog log() {
    return log;
  }

  Fabric fabric() {
    return fabric;
  }

  Oracle oracle() {
    return oracle;
  }

  Schedule schedule() {
    return options.schedule();
  }

  long nowNs() {
    return queue.nowNs();
  }
}
