package org.pmhxb.collectives.barrier;

import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.pm.Idle;
import org.pmhxb.pm.PeerState;

/**
 * A barrier as a program holds it: {@link #arrive}, work, {@link #test} or {@link #await} (a fuzzy
 * barrier). Owner: the program's thread. The barrier goes on without it on a poll thread; in inline
 * mode it goes on while the program polls its node.
 */
public final class Barrier implements AutoCloseable {
  private final Barriers barriers;
  private final Machine machine;
  private final Participants group;
  private final BarrierSpec spec;
  private final Gate gate;
  private int epoch;
  private boolean closed;
  private String explanation;

  Barrier(Barriers barriers, Machine machine, Participants group, BarrierSpec spec) {
    this.barriers = barriers;
    this.machine = machine;
    this.group = group;
    this.spec = spec;
    this.gate = machine.gate;
    // What was said under an earlier handle stands: the others may leave by it.
    this.epoch = gate.arrivedEpoch();
    this.explanation = spec + " for " + group + ": named by the program";
  }

  /** Chosen by a model. */
  Barrier because(String reason) {
    explanation = reason;
    return this;
  }

  /** Why this algorithm, in a line. */
  public String explanation() {
    return explanation;
  }

  /** Under which all participants know it, 0 to 65,535. */
  public int number() {
    return machine.number;
  }

  public Participants group() {
    return group;
  }

  public BarrierSpec spec() {
    return spec;
  }

  /**
   * Says that this node arrived. Never blocks.
   *
   * @throws IllegalStateException the barrier before is not left yet, or this one is closed, or the
   *     node is. An arrival that was out when the number was closed stands: await it first
   * @throws BarrierBrokenException a participant is down
   */
  public void arrive() {
    if (closed) {
      throw new IllegalStateException("barrier " + number() + " is closed; open it again");
    }
    throwIfBroken();
    throwIfNodeClosed();
    if (gate.leftEpoch() != epoch) {
      throw new IllegalStateException(
          "barrier %d: arrive again before epoch %d was left; await it first"
              .formatted(number(), epoch));
    }
    epoch++;
    gate.arriveAt(epoch);
    barriers.arrived(machine);
  }

  /**
   * Whether all participants arrived.
   *
   * @throws BarrierBrokenException a participant is down, and this epoch was not left before
   * @throws IllegalStateException the node was closed before all had arrived
   */
  public boolean test() {
    if (gate.leftEpoch() == epoch) {
      return true;
    }
    int down = gate.downNode();
    boolean isNodeClosed = barriers.node().isClosed();
    if (gate.leftEpoch() == epoch) {
      return true; // between the looks
    }
    if (down != Gate.NONE) {
      throw broken(down);
    }
    if (isNodeClosed) {
      throw nodeClosed();
    }
    return false;
  }

  /**
   * Waits until all participants arrived.
   *
   * @param idle called while it waits; in inline mode it has to poll the node
   * @throws BarrierBrokenException a participant is down
   * @throws IllegalStateException the node was closed before all had arrived
   */
  public void await(Idle idle) {
    while (!test()) {
      idle.idle(0);
    }
  }

  private void throwIfBroken() {
    int down = gate.downNode();
    if (down != Gate.NONE) {
      throw broken(down);
    }
  }

  private void throwIfNodeClosed() {
    if (barriers.node().isClosed()) {
      throw nodeClosed();
    }
  }

  private IllegalStateException nodeClosed() {
    return new IllegalStateException(
        "barrier " + number() + ": node " + barriers.node().self() + " is closed");
  }

  private BarrierBrokenException broken(int down) {
    return new BarrierBrokenException(number(), epoch, down, barriers.node().self());
  }

  /** Sessions are up with all nodes that this one exchanges frames with. */
  public boolean isConnected() {
    for (int node : machine.neighbours()) {
      if (barriers.node().peerState(node) != PeerState.UP) {
        return false;
      }
    }
    return true;
  }

  /**
   * The epoch at which this node arrived last, also before the number was closed and opened again;
   * barriers count from 1.
   */
  public int epoch() {
    return epoch;
  }

  /** What was sent for it. */
  public BarrierCounts counts() {
    return machine.counts();
  }

  /**
   * Ends the use of it; once more does nothing. The node goes on answering participants that miss
   * something of its last epoch. An arrival that is out stands, since the others may leave by it:
   * the number, opened again with the same group and algorithm, has arrived, and is awaited first.
   */
  @Override
  public void close() {
    if (!closed) {
      closed = true;
      machine.open = false;
    }
  }
}
