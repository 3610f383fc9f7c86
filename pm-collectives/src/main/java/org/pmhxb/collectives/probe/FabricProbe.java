package org.pmhxb.collectives.probe;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.pmhxb.collectives.barrier.Barriers;
import org.pmhxb.collectives.barrier.EchoListener;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.collectives.logp.LogP;
import org.pmhxb.pm.PeerState;
import org.pmhxb.pm.PmNode;
import org.pmhxb.router.Dimension;

/**
 * Measures LogP on a running fabric with frames of no barrier: ping-pongs with a direct neighbour
 * and with nodes behind relays, over each rail; trains over one rail and over all; and what
 * receiving costs. The method is that of Culler et al. (1996), with medians. No barrier is run, so
 * nothing is fitted to what the figures shall predict. All other nodes need open {@link Barriers},
 * whose poll thread answers. Owner: the poll thread of the probing node.
 */
public final class FabricProbe implements EchoListener {
  /** Most repetitions of a measurement; each has its times in an array. */
  public static final int COUNT_MAX = 1_000_000;

  private static final int TRAIN_LONG = 24;
  private static final int TRAIN_SHORT = 8;
  private static final int RECEIVED_AT_ONCE = 4;
  private static final long PAUSE_NS_MAX = 20_000_000L;

  /** Sessions that are not up by then have nobody at the other end. */
  private static final long CONNECT_NS_MAX = 20_000_000_000L;

  private final PmNode node;
  private final Barriers barriers;
  private final Participants group;
  private final ProbeClock clock;
  private final Pause pause;
  private final int count;
  private final List<PingPong> pingPongs = new ArrayList<>();
  private final List<Train> trains = new ArrayList<>();
  private final List<Burst> bursts = new ArrayList<>();
  private final LineCopies copies;
  private int at;
  private Burst echoing;
  private ReceiveCost receive;
  private final Waiting connecting = new Waiting();
  private boolean asked;

  /** All sessions were up. */
  private boolean connected;

  /** Lets time go by, so that echoes arrive while nobody polls. */
  @FunctionalInterface
  public interface Pause {
    /** Until then; returns at once where time stands still meanwhile, as in the simulator. */
    void untilNs(long timeNs);
  }

  private record PingPong(int to, int relays, int rail, Burst burst) {}

  private record Train(int rails, Burst brief, Burst longer) {}

  /** Two frames to one node, and the first of two to a line: by what the copies cost more. */
  private record LineCopies(Burst plain, Burst toLine, int copies) {}

  /**
   * @param group all nodes
   * @param clock of the poll thread
   * @param count repetitions of each measurement, and as many before, 1 to {@value #COUNT_MAX};
   *     fewer where they take more than 0.5 s
   * @throws IllegalArgumentException the count is not in its range
   */
  public FabricProbe(PmNode node, Participants group, ProbeClock clock, Pause pause, int count) {
    if (count < 1 || count > COUNT_MAX) {
      throw new IllegalArgumentException("count is " + count + "; must be 1 to " + COUNT_MAX);
    }
    this.node = node;
    this.barriers = Barriers.of(node);
    this.group = group;
    this.clock = clock;
    this.pause = pause;
    this.count = count;
    int rails = group.railsPerDimension();
    for (int relays = 0; relays <= 2; relays++) {
      int to = behind(relays);
      for (int rail = 0; to >= 0 && rail < rails; rail++) {
        Burst burst = burst(new Burst.Shape(to, rail, 1, 1, 1));
        pingPongs.add(new PingPong(to, relays, rail, burst));
      }
    }
    int near = behind(0);
    train(near, 1);
    if (rails > 1) {
      train(near, rails);
    }
    copies = lineCopies(near);
  }

  /** On the longest line; null when that has no third node, and a frame to it no copy. */
  private LineCopies lineCopies(int near) {
    int longest = 0;
    for (int d = 1; d < Dimension.COUNT; d++) {
      longest = group.shape().extent(d) > group.shape().extent(longest) ? d : longest;
    }
    int others = group.shape().extent(longest) - 1;
    if (others < 2) {
      return null;
    }
    Burst plain = burst(new Burst.Shape(near, 0, 1, 2, 1));
    int rail = group.rail(longest, 0);
    return new LineCopies(plain, burst(new Burst.Shape(near, 0, 1, 2, 1, rail)), others - 1);
  }

  private void train(int to, int rails) {
    Burst brief = burst(new Burst.Shape(to, 0, rails, TRAIN_SHORT, rails));
    trains.add(new Train(rails, brief, burst(new Burst.Shape(to, 0, rails, TRAIN_LONG, rails))));
  }

  private Burst burst(Burst.Shape shape) {
    Burst burst = new Burst(barriers, clock, shape, count, count);
    bursts.add(burst);
    return burst;
  }

  /** The first node behind so many relays, or -1. */
  private int behind(int relays) {
    for (int rank = 0; rank < group.size(); rank++) {
      if (group.shape().hops(node.self(), group.node(rank)) == relays + 1) {
        return group.node(rank);
      }
    }
    return -1;
  }

  /**
   * Asks for the sessions; whether all are up.
   *
   * @throws IllegalStateException one was not up in 20 s, or ended after all had been up; it names
   *     the node
   */
  public boolean isConnected() {
    int lacking = -1;
    for (PingPong p : pingPongs) {
      node.collectives().connect(p.to());
      lacking = node.peerState(p.to()) == PeerState.UP ? lacking : p.to();
    }
    if (lacking < 0) {
      connected = true;
    } else {
      requireHope(lacking, clock.nowNs());
    }
    return lacking < 0;
  }

  private void requireHope(int lacking, long nowNs) {
    if (connected) {
      throw new IllegalStateException(
          "the session with node %d ended while LogP was measured; look at that node's log"
              .formatted(lacking));
    }
    if (!asked) {
      asked = true;
      connecting.begin(nowNs);
    } else if (connecting.lookNs(nowNs) > CONNECT_NS_MAX) {
      throw new IllegalStateException(
          "no session with node %d in %d s, which LogP is measured with; look at that node's log"
              .formatted(lacking, CONNECT_NS_MAX / 1_000_000_000));
    }
  }

  /**
   * One round, after the node's own, while {@link #isConnected}; the number of things done.
   *
   * @throws IllegalStateException a node has answered nothing for ten seconds; it is named
   */
  public int step() {
    int work = 0;
    if (at < bursts.size()) {
      work = stepBurst();
    } else if (!receive.isOver()) {
      work = receive.step();
      if (receive.isOver()) {
        barriers.echoListener(EchoListener.NONE);
      }
    }
    if (echoing.isUnanswered()) {
      barriers.echoListener(EchoListener.NONE);
      throw new IllegalStateException(
          "nothing came back for 10 s from %s; it, or a node or link on the way, is gone: hxb status"
              .formatted(echoing.destination()));
    }
    return work;
  }

  private int stepBurst() {
    Burst burst = bursts.get(at);
    if (echoing != burst) {
      echoing = burst;
      barriers.echoListener(this);
    }
    int work = burst.step();
    if (burst.isOver() && ++at == bursts.size()) {
      Burst.Shape shape = new Burst.Shape(behind(0), 0, 1, RECEIVED_AT_ONCE, RECEIVED_AT_ONCE);
      echoing = new Burst(barriers, clock, shape, 0, 1);
      long pauseNs = Math.round(Math.min(PAUSE_NS_MAX, 2 * bursts.getFirst().elapsedNs()));
      receive = new ReceiveCost(echoing, RECEIVED_AT_ONCE, clock, pause, pauseNs, count);
    }
    return work;
  }

  /** Everything is measured. */
  public boolean isOver() {
    return receive != null && receive.isOver();
  }

  @Override
  public void onEcho(int source, int sequence) {
    echoing.onEcho(source, sequence);
  }

  // --- what follows -----------------------------------------------------------------------------

  /** What was measured; once it is over. */
  public FabricLogp found() {
    return found(receive.costNs());
  }

  /**
   * The same with another or: where one thread is all nodes a round's length says nothing of one of
   * them.
   */
  public FabricLogp found(double orNs) {
    double osNs = pingPongs.getFirst().burst().sendNs();
    double busyNs = pingPongs.getFirst().burst().busyNs();
    double wakeNs = clock.sleeps() ? Math.max(0, busyNs - osNs - orNs) : 0;
    List<FabricLogp.Way> ways = new ArrayList<>();
    List<String> notes = new ArrayList<>();
    for (PingPong p : pingPongs) {
      double halfNs = p.burst().elapsedNs() / 2;
      double latencyNs = Math.max(0, halfNs - osNs - orNs - wakeNs);
      ways.add(new FabricLogp.Way(p.to(), p.relays(), p.rail(), halfNs, latencyNs));
      if (halfNs < osNs + orNs + wakeNs) {
        notes.add(
            "L to node %d by rail %d: half of the round trip is less than os, or and wake-up; taken as 0"
                .formatted(p.to(), p.rail()));
      }
    }
    List<FabricLogp.Gap> gaps = trains.stream().map(FabricProbe::gap).toList();
    double gapNs = gaps.getFirst().gapNs();
    noteGap(gapNs, Math.max(osNs, orNs), notes);
    double[] latencyNs = latencies(ways);
    if (latencyNs.length < 3) {
      notes.add(
          "no node of %s is behind %d %s: L of such a way is extrapolated"
              .formatted(group, latencyNs.length, latencyNs.length == 1 ? "relay" : "relays"));
    }
    long lost = bursts.stream().mapToLong(Burst::lost).sum();
    LogP logp = new LogP(osNs, orNs, gapNs, copyNs(), latencyNs);
    return new FabricLogp(logp, wakeNs, receive.idleNs(), ways, gaps, lost, notes);
  }

  private double copyNs() {
    if (copies == null) {
      return 0;
    }
    double moreNs = copies.toLine().allSentNs() - copies.plain().allSentNs();
    return Math.max(0, moreNs / copies.copies());
  }

  private static void noteGap(double gapNs, double overheadNs, List<String> notes) {
    if (gapNs <= overheadNs) {
      notes.add(
          String.format(
              Locale.ROOT,
              "gap: a frame more in a train takes %.0f ns, not more than os or or (%.0f ns): the"
                  + " wire's own gap is hidden behind the processors",
              gapNs,
              overheadNs));
    }
  }

  private static FabricLogp.Gap gap(Train train) {
    double moreNs = train.longer().elapsedNs() - train.brief().elapsedNs();
    return new FabricLogp.Gap(train.rails(), Math.max(0, moreNs / (TRAIN_LONG - TRAIN_SHORT)));
  }

  private static double[] latencies(List<FabricLogp.Way> ways) {
    int most = ways.stream().mapToInt(FabricLogp.Way::relays).max().orElse(0);
    double[] mean = new double[most + 1];
    for (int relays = 0; relays <= most; relays++) {
      int k = relays;
      mean[k] =
          ways.stream()
              .filter(w -> w.relays() == k)
              .mapToDouble(FabricLogp.Way::latencyNs)
              .average()
              .orElseThrow();
    }
    return mean;
  }
}
