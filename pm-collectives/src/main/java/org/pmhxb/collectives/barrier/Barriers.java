package org.pmhxb.collectives.barrier;

import java.util.Arrays;
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
import org.pmhxb.pm.PmNode;

/**
 * The barriers of one node, many at once. {@link #of} and {@link #open} may be called by any
 * thread; the rest belongs to the poll thread.
 */
public final class Barriers implements CollectiveHandler {
  private static final int NUMBERS = 65_536;

  private final PmNode node;
  private final CollectiveFrames frames;
  private final boolean inline;

  /** By number; closed ones stay, to answer who lost what they sent last. */
  private Machine[] byNumber = new Machine[8];

  /** The same without gaps. */
  private Machine[] machines = new Machine[4];

  private int count;
  private boolean[] open = new boolean[8];

  /** Of the last duty cycle. */
  private long nowNs;

  /** COLLECTIVE frames of barriers that are not open here, or of another agreement. */
  private long strangers;

  private EchoListener echoListener = EchoListener.NONE;

  private Barriers(PmNode node) {
    this.node = node;
    this.frames = node.collectives();
    this.inline = node.isInline();
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
   * @throws IllegalStateException the number is open, or was broken with this group, or the node is
   *     closed
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
      int length = Math.max(number + 1, 2 * byNumber.length);
      byNumber = Arrays.copyOf(byNumber, length);
      open = Arrays.copyOf(open, length);
    }
    if (open[number]) {
      throw new IllegalStateException("barrier " + number + " is open already");
    }
    Machine known = byNumber[number];
    if (known != null && known.group == group.hash(spec)) {
      if (known.gate.downNode() != Gate.NONE) {
        throw new IllegalStateException(
            "barrier " + number + " was broken with this group; take another number");
      }
    } else {
      Machine made = new Machine(number, group, spec, plan, frames);
      replace(known, made);
      byNumber[number] = made;
    }
    open[number] = true;
    for (int neighbour : byNumber[number].neighbours()) {
      frames.connect(neighbour);
    }
    return byNumber[number];
  }

  private void replace(Machine old, Machine made) {
    for (int i = 0; i < count; i++) {
      if (machines[i] == old) {
        machines[i] = made;
        return;
      }
    }
    if (count == machines.length) {
      machines = Arrays.copyOf(machines, 2 * count);
    }
    machines[count++] = made;
  }

  void closed(Machine machine) {
    node.control(() -> open[machine.number] = false);
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
    int number = BarrierFrame.number(word0);
    Machine machine = number < byNumber.length ? byNumber[number] : null;
    if (machine == null || machine.group != BarrierFrame.group(word0)) {
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
    for (int i = 0; i < count; i++) {
      machines[i].onPeerDown(peer);
    }
  }

  @Override
  public int doWork(long timeNs) {
    nowNs = timeNs;
    int work = 0;
    for (int i = 0; i < count; i++) {
      Machine machine = machines[i];
      if (!inline && machine.takeArrival()) {
        work++;
      }
      if (machine.isWaiting()) {
        machine.onTime(nowNs);
      }
    }
    return work;
  }

  @Override
  public long nextDeadlineNs(long nowNs) {
    long next = Long.MAX_VALUE;
    for (int i = 0; i < count; i++) {
      if (machines[i].isWaiting()) {
        next = Math.min(next, machines[i].nextDeadlineNs(nowNs));
      }
    }
    return next;
  }
}
