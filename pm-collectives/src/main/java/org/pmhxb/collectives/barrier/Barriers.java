package org.pmhxb.collectives.barrier;

import java.util.Arrays;
import java.util.BitSet;
import org.pmhxb.collectives.barrier.plan.BarrierPlan;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.collectives.barrier.plan.Planner;
import org.pmhxb.collectives.logp.BarrierChoice;
import org.pmhxb.collectives.logp.LogP;
import org.pmhxb.collectives.logp.ParallelModel;
import org.pmhxb.pm.CollectiveFrames;
import org.pmhxb.pm.CollectiveHandler;
import org.pmhxb.pm.DownReason;
import org.pmhxb.pm.PeerState;
import org.pmhxb.pm.PeerStatus;
import org.pmhxb.pm.PmNode;

/**
 * The barriers of one node, many at once. {@link #of} and {@link #open} may be called by any
 * thread; the rest belongs to the poll thread.
 */
public final class Barriers implements CollectiveHandler {
  /** Barriers have numbers below this one. */
  public static final int NUMBERS = 65_536;

  /** Groups and algorithms that one number has had, at most: it goes on where each of them was. */
  static final int AGREEMENTS_MOST = 64;

  private final PmNode node;
  private final CollectiveFrames frames;
  private final boolean inline;

  /**
   * By number, the agreement that was opened last first; closed ones stay, to answer who lost what
   * they sent last, and to know their epoch.
   */
  private Machine[] byNumber = new Machine[8];

  /** Those that the duty cycle looks after: open, or arrived at an epoch that is not over. */
  private Machine[] active = new Machine[4];

  private int activeCount;

  /** Nodes with which no session came about when one was wanted last. */
  private final BitSet unreachable = new BitSet();

  /** Of the last duty cycle. */
  private long nowNs;

  /** COLLECTIVE frames of barriers that are not open here, or of another agreement. */
  private long strangers;

  private EchoListener echoListener = EchoListener.NONE;

  private Barriers(PmNode node) {
    this.node = node;
    this.frames = node.collectives();
    this.inline = node.isInline();
    for (PeerStatus peer : node.peerStatus()) {
      unreachable.set(peer.node(), peer.reason() == DownReason.UNREACHABLE);
    }
  }

  /**
   * The barriers of a node: made at the first call, the same at every other.
   *
   * @throws IllegalStateException the node is closed, or something else handles its collectives
   */
  public static Barriers of(PmNode node) {
    Barriers[] found = new Barriers[1];
    boolean done =
        node.control(
            () -> {
              if (node.collectives().handler() instanceof Barriers known) {
                found[0] = known;
              } else {
                found[0] = new Barriers(node);
                node.collectives().handler(found[0]);
              }
            });
    if (!done) {
      throw new IllegalStateException("node " + node.self() + " is closed");
    }
    return found[0];
  }

  PmNode node() {
    return node;
  }

  /**
   * Opens a barrier on this node. All participants open the same number with the same group and
   * algorithm; one that is late is waited for.
   *
   * @param number 0 to 65,535
   * @throws IllegalArgumentException the number is out of range, this node is no member, or the
   *     algorithm does not suit the group
   * @throws IllegalStateException the number is open, or was broken with this group, or had too
   *     many other groups and algorithms, or the node is closed
   */
  public Barrier open(int number, Participants group, BarrierSpec spec) {
    if (number < 0 || number >= NUMBERS) {
      throw new IllegalArgumentException("barrier " + number + " is out of range 0..65535");
    }
    BarrierPlan plan = Planner.plan(group, spec, node.self());
    Barrier[] opened = new Barrier[1];
    boolean done =
        node.control(
            () -> opened[0] = new Barrier(this, register(number, group, spec, plan), group, spec));
    if (!done) {
      throw new IllegalStateException("node " + node.self() + " is closed");
    }
    return opened[0];
  }

  /**
   * Opens a barrier by the algorithm that LogP chooses with {@link LogP#typical()}; {@link
   * Barrier#explanation} says why.
   *
   * <p>The choice plays every algorithm for all members, on the calling thread: a fraction of a
   * second for a few hundred nodes or for 2,560 of three dimensions, once the code has run, and a
   * few times that before. In inline mode the node is not polled meanwhile. It takes as long as
   * there are frames, and with all on one line an exchange has n^2: several seconds for 2,560 of a
   * line. Who cannot wait for that opens with a spec.
   *
   * @throws IllegalArgumentException as {@link #open(int, Participants, BarrierSpec)} does
   * @throws IllegalStateException the same
   */
  public Barrier open(int number, Participants group) {
    return open(number, group, LogP.typical());
  }

  /**
   * The same with what was measured on this fabric ({@code hxb logp}). All participants have to
   * give the same figures, or they may choose differently and never meet.
   */
  public Barrier open(int number, Participants group, LogP logp) {
    BarrierChoice choice = BarrierChoice.of(group, new ParallelModel(logp));
    return open(number, group, choice.best()).because(choice.explanation());
  }

  private Machine register(int number, Participants group, BarrierSpec spec, BarrierPlan plan) {
    if (number >= byNumber.length) {
      byNumber = Arrays.copyOf(byNumber, Math.max(number + 1, 2 * byNumber.length));
    }
    if (byNumber[number] != null && byNumber[number].open) {
      throw new IllegalStateException("barrier " + number + " is open already");
    }
    Machine machine = find(number, group.hash(spec));
    if (machine == null) {
      machine = new Machine(number, group, spec, plan, frames);
      checkAgreements(number);
    } else if (machine.gate.downNode() != Gate.NONE) {
      throw new IllegalStateException(
          "barrier " + number + " was broken with this group; take another number");
    }
    putFirst(machine);
    machine.open = true;
    activate(machine);
    for (int neighbour : machine.neighbours()) {
      frames.connect(neighbour);
      if (isUnreachable(neighbour)) {
        machine.onPeerDown(neighbour);
      }
    }
    return machine;
  }

  private Machine find(int number, int group) {
    Machine machine = number < byNumber.length ? byNumber[number] : null;
    while (machine != null && machine.group != group) {
      machine = machine.next;
    }
    return machine;
  }

  private void checkAgreements(int number) {
    int agreements = 0;
    for (Machine m = byNumber[number]; m != null; m = m.next) {
      agreements++;
    }
    if (agreements == AGREEMENTS_MOST) {
      throw new IllegalStateException(
          "barrier %d had %d other groups or algorithms, as many as one number can; take another number"
              .formatted(number, agreements));
    }
  }

  private void putFirst(Machine machine) {
    Machine first = byNumber[machine.number];
    if (first == machine) {
      return;
    }
    for (Machine m = first; m != null; m = m.next) {
      if (m.next == machine) {
        m.next = machine.next;
      }
    }
    machine.next = first;
    byNumber[machine.number] = machine;
  }

  private void activate(Machine machine) {
    if (machine.active) {
      return;
    }
    if (activeCount == active.length) {
      active = Arrays.copyOf(active, 2 * activeCount);
    }
    active[activeCount++] = machine;
    machine.active = true;
  }

  /** Told once that nothing is heard of a node: whoever begins later would wait for ever. */
  private boolean isUnreachable(int peer) {
    if (node.peerState(peer) == PeerState.UP) {
      unreachable.clear(peer);
    }
    return unreachable.get(peer);
  }

  /** The program arrived: in inline mode its thread is the poll thread. */
  void arrived(Machine machine) {
    if (inline) {
      machine.takeArrival();
      frames.flush();
    } else {
      node.ring();
    }
  }

  /** Frames that were of no barrier here. Poll thread. */
  public long strangers() {
    return strangers;
  }

  // --- the poll thread --------------------------------------------------------------------------

  /**
   * Queues a frame that measures the fabric (PROTOCOL.md section 13): it goes the way that a
   * barrier's frames go. Poll thread.
   *
   * @param way as {@link CollectiveFrames#send} has it, 0 to 255; the echo takes the same
   * @param echo whether the other node is to answer
   * @return false when there is no session, which is asked for, or no room
   */
  public boolean ping(int to, int way, int sequence, boolean echo) {
    long word0 = BarrierFrame.word0(BarrierFrame.PING, way, 0, 0);
    return frames.send(to, way, word0, BarrierFrame.word1(sequence), echo ? 1 : 0);
  }

  /**
   * Queues such a frame to everyone on the line of a rail. Nobody answers. Poll thread.
   *
   * @param rail number of the rail among this node's
   * @return false when there is no room
   */
  public boolean pingLine(int rail, int sequence) {
    long word0 = BarrierFrame.word0(BarrierFrame.PING, 0, 0, 0);
    return frames.sendToLine(rail, word0, BarrierFrame.word1(sequence), 0);
  }

  /** Hands to the ports what {@link #ping} queued. Poll thread. */
  public void flush() {
    frames.flush();
  }

  /** Names who hears of echoes from now on; {@link EchoListener#NONE} ends it. Poll thread. */
  public void echoListener(EchoListener who) {
    echoListener = who;
  }

  private void onProbe(int source, long word0, long word1, long word2) {
    int way = BarrierFrame.step(word0);
    switch (BarrierFrame.operation(word0)) {
      case BarrierFrame.PING -> {
        if (word2 == 1) {
          frames.send(source, way, BarrierFrame.word0(BarrierFrame.ECHO, way, 0, 0), word1, 0);
        }
      }
      case BarrierFrame.ECHO -> echoListener.onEcho(source, BarrierFrame.epoch(word1));
      default -> strangers++;
    }
  }

  @Override
  public void onCollective(int source, boolean line, long word0, long word1, long word2) {
    if (BarrierFrame.operation(word0) > BarrierFrame.BROKEN) {
      onProbe(source, word0, word1, word2);
      return;
    }
    Machine machine = find(BarrierFrame.number(word0), BarrierFrame.group(word0));
    if (machine == null) {
      strangers++;
      return;
    }
    int epoch = BarrierFrame.epoch(word1);
    int step = BarrierFrame.step(word0);
    switch (BarrierFrame.operation(word0)) {
      case BarrierFrame.ARRIVE ->
          machine.onArrive(source, step, epoch, BarrierFrame.isAsked(word1), nowNs);
      case BarrierFrame.ASK -> machine.onAsk(source, step, epoch);
      case BarrierFrame.BROKEN -> machine.onBroken(source, epoch, word2);
      default -> strangers++;
    }
  }

  @Override
  public void onPeerDown(int peer, DownReason reason) {
    unreachable.set(peer, reason == DownReason.UNREACHABLE);
    for (Machine first : byNumber) {
      for (Machine m = first; m != null; m = m.next) {
        m.onPeerDown(peer);
      }
    }
  }

  @Override
  public int doWork(long timeNs) {
    nowNs = timeNs;
    int work = 0;
    for (int i = 0; i < activeCount; i++) {
      Machine machine = active[i];
      if (!inline && machine.takeArrival()) {
        work++;
      }
      if (machine.isWaiting()) {
        machine.onTime(nowNs);
      } else if (!machine.open && machine.isAtRest()) {
        machine.active = false;
        active[i--] = active[--activeCount];
        active[activeCount] = null;
      }
    }
    return work;
  }

  @Override
  public long nextDeadlineNs(long nowNs) {
    long next = Long.MAX_VALUE;
    for (int i = 0; i < activeCount; i++) {
      if (active[i].isWaiting()) {
        next = Math.min(next, active[i].nextDeadlineNs(nowNs));
      }
    }
    return next;
  }

  /** Barriers that each duty cycle looks at. Poll thread. */
  int activeCount() {
    return activeCount;
  }
}
