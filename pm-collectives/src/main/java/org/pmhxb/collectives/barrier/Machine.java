package org.pmhxb.collectives.barrier;

import java.util.Arrays;
import java.util.TreeSet;
import org.pmhxb.collectives.barrier.plan.BarrierPlan;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.pm.CollectiveFrames;

/**
 * One barrier of one node on the poll thread: goes through its plan's steps as ARRIVEs come in,
 * asks for what does not, answers those who ask (PROTOCOL.md section 13). Owner: the poll thread.
 */
final class Machine {
  private static final long FIRST_WAIT_NS = 1_000_000L;
  private static final long USUAL_WAIT_MAX_NS = 10_000_000L;

  /** Who is this many usual times late is overdue. */
  private static final int PATIENCE = 4;

  private static final long ASK_MAX_NS = 50_000_000L;

  /** Epochs that a participant can be ahead by when it says that one cannot end. */
  private static final int FARTHEST = 3;

  final int number;
  final int group;
  final Gate gate;

  /** Of the same number, with another group or algorithm; null is none. See {@link Barriers}. */
  Machine next;

  /**
   * A program has it. The poll thread opens it, the program closes it: who finds it closed finds
   * all that arrived before.
   */
  volatile boolean open;

  /** The duty cycle looks after it. */
  boolean active;

  private final Participants members;
  private final CollectiveFrames frames;
  private final Awaited[] steps;
  private final Outgoing[][] sends;

  /** Step by its number, or -1. */
  private final byte[] stepOf = new byte[256];

  /** All with whom this node shares an edge of the algorithm. */
  private final int[] neighbours;

  /** Of each: its session ended since this machine counts. Its next life counts from 1 again. */
  private final boolean[] ended;

  /** Epochs at which the program arrived, and that are over here. */
  private int arrived;

  private int left;

  /** The first step that is not done, of epoch {@link #left} + 1. */
  private int step;

  /** A participant that is down, or none; and the first epoch that cannot end without it. */
  private int down = Gate.NONE;

  private int brokenEpoch;

  // --- asking ---
  private boolean waiting;
  private boolean waitBegins;
  private long waitSinceNs;
  private long lastNs;
  private long askAtNs;
  private long askIntervalNs;
  private int way;
  private boolean someLost;

  /** How long it waits when nothing is lost, smoothed: others work, and a tree has a depth. */
  private long usualWaitNs = FIRST_WAIT_NS;

  // --- counted ---
  private final BarrierCounts counts = new BarrierCounts();

  Machine(
      int number,
      Participants members,
      BarrierSpec spec,
      BarrierPlan plan,
      CollectiveFrames frames) {
    this.number = number;
    this.group = members.hash(spec);
    this.members = members;
    this.gate = new Gate();
    this.frames = frames;
    int n = plan.steps().size();
    this.steps = new Awaited[n];
    this.sends = new Outgoing[n][];
    Arrays.fill(stepOf, (byte) -1);
    TreeSet<Integer> edges = new TreeSet<>();
    for (int i = 0; i < n; i++) {
      BarrierPlan.Step of = plan.steps().get(i);
      int after = i;
      steps[i] = new Awaited(of.number(), of.sources());
      stepOf[of.number()] = (byte) i;
      sends[i] =
          of.sends().stream()
              .map(send -> new Outgoing(after, send, members, spec, number))
              .toArray(Outgoing[]::new);
      Arrays.stream(of.sources()).forEach(edges::add);
      for (Outgoing send : sends[i]) {
        Arrays.stream(send.targets).forEach(edges::add);
      }
    }
    this.neighbours = edges.stream().mapToInt(Integer::intValue).toArray();
    this.ended = new boolean[neighbours.length];
  }

  int[] neighbours() {
    return neighbours;
  }

  BarrierCounts counts() {
    return counts;
  }

  /** It waits for arrivals, so that time matters to it. */
  boolean isWaiting() {
    return waiting;
  }

  /** Nothing of it goes on unless its program arrives. */
  boolean isAtRest() {
    return !waiting && gate.arrivedEpoch() == arrived;
  }

  // --- the usual way ----------------------------------------------------------------------------

  /** Takes what the program said at the gate. */
  boolean takeArrival() {
    int said = gate.arrivedEpoch();
    if (said == arrived) {
      return false;
    }
    arrived = said;
    if (!isBrokenAt(said)) {
      advance();
    }
    return true;
  }

  void onArrive(int source, int stepNumber, int epoch, boolean asked, long nowNs) {
    if (isBrokenAt(epoch)) {
      sayBroken(source);
      return;
    }
    int ahead = epoch - left;
    int at = stepOf[stepNumber];
    if (at < 0 || ahead < 1 || ahead > 2 || !steps[at].note(source, epoch & 1)) {
      counts.ignored++;
      return;
    }
    someLost |= asked;
    lastNs = nowNs;
    if (ahead == 1 && at == step) {
      advance();
    }
  }

  private void advance() {
    int epoch = left + 1;
    if (arrived != epoch) {
      return;
    }
    int colour = epoch & 1;
    int from = step;
    while (step < steps.length && steps[step].isComplete(colour)) {
      for (Outgoing send : sends[step]) {
        arrive(send, epoch);
      }
      step++;
    }
    if (step == steps.length) {
      leave(epoch);
    } else if (step != from || !waiting) {
      waiting = true;
      waitBegins = true;
    }
  }

  private void leave(int epoch) {
    for (Awaited awaited : steps) {
      awaited.clear(epoch & 1);
    }
    learn();
    left = epoch;
    step = 0;
    waiting = false;
    counts.barriers++;
    gate.leave(epoch);
    breakIfDue();
  }

  private void learn() {
    if (waiting && !waitBegins && !someLost) {
      long waitNs = Math.min(lastNs - waitSinceNs, USUAL_WAIT_MAX_NS);
      usualWaitNs += waitNs - usualWaitNs >> 3;
    }
    someLost = false;
  }

  private void arrive(Outgoing send, int epoch) {
    long word0 = BarrierFrame.word0(BarrierFrame.ARRIVE, send.number, number, group);
    long word1 = BarrierFrame.word1(epoch);
    boolean sent =
        send.rail >= 0
            ? frames.sendToLine(send.rail, word0, word1, 0)
            : frames.send(send.targets[0], send.way, word0, word1, 0);
    if (!sent) {
      counts.refused++;
    }
  }

  // --- what is lost -----------------------------------------------------------------------------

  /** Asks those who are overdue. Called while it waits. */
  void onTime(long nowNs) {
    if (waitBegins) {
      waitBegins = false;
      waitSinceNs = nowNs;
      askIntervalNs = 0;
      askAtNs = nowNs + firstIntervalNs();
    } else if (nowNs - askAtNs >= 0) {
      long dueNs = Math.max(firstIntervalNs(), askIntervalNs);
      if (nowNs - waitSinceNs < dueNs) {
        askAtNs = waitSinceNs + dueNs; // this node itself stood still
        return;
      }
      askMissing();
      askIntervalNs = Math.min(2 * Math.max(askIntervalNs, firstIntervalNs()), ASK_MAX_NS);
      askAtNs = nowNs + askIntervalNs;
    }
  }

  long nextDeadlineNs(long nowNs) {
    return waitBegins ? nowNs : askAtNs;
  }

  /** The time of an answer of whoever is missing first, and some times what is usual here. */
  private long firstIntervalNs() {
    Awaited awaited = steps[step];
    int colour = left + 1 & 1;
    for (int i = 0; i < awaited.sources.length; i++) {
      if (awaited.isMissing(i, colour)) {
        return Math.max(frames.answerTimeNs(awaited.sources[i]), PATIENCE * usualWaitNs);
      }
    }
    return ASK_MAX_NS;
  }

  private void askMissing() {
    Awaited awaited = steps[step];
    int epoch = left + 1;
    for (int i = 0; i < awaited.sources.length; i++) {
      if (awaited.isMissing(i, epoch & 1)
          && say(BarrierFrame.ASK, awaited.sources[i], awaited.number, epoch)) {
        counts.asks++;
      }
    }
  }

  /**
   * Someone misses what this node sent, or has not sent yet. Whose session ended asks for an epoch
   * of its next life, which this node may have left with the one before: in the life that goes on,
   * the barrier broke with the session.
   */
  void onAsk(int source, int stepNumber, int epoch) {
    if (hasEnded(source)) {
      sayBroken(source, epoch, source);
      return;
    }
    if (isBrokenAt(epoch)) {
      sayBroken(source);
      return;
    }
    int ahead = epoch - left;
    int done = ahead <= 0 ? steps.length : ahead == 1 ? step : 0;
    for (int i = 0; i < done; i++) {
      for (Outgoing send : sends[i]) {
        if (send.number == stepNumber && send.reaches(source)) {
          if (say(BarrierFrame.ARRIVE, source, stepNumber, epoch)) {
            counts.answers++;
          }
          return;
        }
      }
    }
  }

  /** Another way each time: of several rails one may swallow everything. */
  private boolean say(int operation, int to, int stepNumber, int epoch) {
    long word0 = BarrierFrame.word0(operation, stepNumber, number, group);
    way = way + 1 & 0xFF;
    long word1 =
        operation == BarrierFrame.ARRIVE ? BarrierFrame.asked(epoch) : BarrierFrame.word1(epoch);
    return frames.send(to, way, word0, word1, 0);
  }

  // --- the end ----------------------------------------------------------------------------------

  /**
   * A peer's session ended. The first epoch for which something of it is missing here cannot end;
   * where nothing is, it may have left in good order, and whoever misses something will say so.
   * Where this node is closed and at rest, it tells only those who ask.
   */
  void onPeerDown(int node) {
    int neighbour = Arrays.binarySearch(neighbours, node);
    if (neighbour >= 0) {
      ended[neighbour] = true;
    }
    for (int ahead = 1; ahead <= 2; ahead++) {
      if (isMissing(node, left + ahead & 1)) {
        breakAt(left + ahead, node, node, active);
        return;
      }
    }
    if (isSource(node)) {
      breakAt(left + FARTHEST, node, node, active);
    }
  }

  private boolean hasEnded(int node) {
    int neighbour = Arrays.binarySearch(neighbours, node);
    return neighbour >= 0 && ended[neighbour];
  }

  private boolean isMissing(int node, int colour) {
    for (Awaited awaited : steps) {
      int i = Arrays.binarySearch(awaited.sources, node);
      if (i >= 0 && awaited.isMissing(i, colour)) {
        return true;
      }
    }
    return false;
  }

  private boolean isSource(int node) {
    for (Awaited awaited : steps) {
      if (Arrays.binarySearch(awaited.sources, node) >= 0) {
        return true;
      }
    }
    return false;
  }

  /**
   * Another participant says that an epoch cannot end. One that did end here, or lies farther ahead
   * than any of one life of this node, means that the next one cannot. From or about a node that is
   * no member it is nothing.
   */
  void onBroken(int source, int epoch, long node) {
    if (!members.isMember(source) || !members.isMember(node)) {
      counts.ignored++;
      return;
    }
    int ahead = epoch - left;
    breakAt(ahead < 1 || ahead > FARTHEST ? left + 1 : epoch, (int) node, source, true);
  }

  private boolean isBrokenAt(int epoch) {
    return down != Gate.NONE && epoch - brokenEpoch >= 0;
  }

  private void breakAt(int epoch, int node, int heardFrom, boolean tell) {
    if (isBrokenAt(epoch)) {
      return;
    }
    down = node;
    brokenEpoch = epoch;
    breakIfDue();
    for (int neighbour : neighbours) {
      if (tell && neighbour != node && neighbour != heardFrom) {
        sayBroken(neighbour);
      }
    }
  }

  private void breakIfDue() {
    if (isBrokenAt(left + 1)) {
      waiting = false;
      gate.breakBy(down);
    }
  }

  private void sayBroken(int to) {
    sayBroken(to, brokenEpoch, down);
  }

  private void sayBroken(int to, int epoch, int node) {
    long word0 = BarrierFrame.word0(BarrierFrame.BROKEN, 0, number, group);
    if (frames.send(to, 0, word0, BarrierFrame.word1(epoch), node)) {
      counts.brokenSent++;
    }
  }
}
