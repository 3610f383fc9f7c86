package org.pmhxb.collectives.barrier;

import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.sim.work.Host;
import org.pmhxb.sim.work.Program;

/** Arrives at several barriers again and again, with work between: a simulated node's program. */
final class BarrierProgram implements Program {
  private final Host host;
  private final BarrierJudge judge;
  private final Barrier[] barriers;
  private final int[] names;
  private final int epochs;
  private final long workNs;
  private final int waitForNodes;

  /** By barrier: arrived and not left. */
  private final boolean[] inside;

  private final boolean[] over;
  private final long[] readyAtNs;
  private boolean toldConnected;

  /**
   * @param waitForNodes nodes that must have their sessions before the first arrives; 0: it does
   *     not wait
   * @param workNs between leaving and the next arrival, at most
   */
  BarrierProgram(
      Host host,
      BarrierJudge judge,
      Participants[] groups,
      BarrierSpec[] specs,
      int epochs,
      long workNs,
      int waitForNodes) {
    this.host = host;
    this.judge = judge;
    this.epochs = epochs;
    this.workNs = workNs;
    this.waitForNodes = waitForNodes;
    int mine = 0;
    for (Participants group : groups) {
      mine += group.rank(host.self()) < 0 ? 0 : 1;
    }
    barriers = new Barrier[mine];
    names = new int[mine];
    inside = new boolean[mine];
    over = new boolean[mine];
    readyAtNs = new long[mine];
    Barriers here = Barriers.of(host.node());
    int n = 0;
    for (int i = 0; i < groups.length; i++) {
      if (groups[i].rank(host.self()) >= 0) {
        names[n] = i;
        barriers[n++] = here.open(10 * i + 3, groups[i], specs[i]);
      }
    }
  }

  @Override
  public int step(long nowNs) {
    if (waitForNodes > 0 && !mayBegin()) {
      return 0;
    }
    int work = 0;
    for (int i = 0; i < barriers.length; i++) {
      try {
        work += over[i] ? 0 : step(i, nowNs);
      } catch (BarrierBrokenException e) {
        over[i] = true;
        judge.broken(names[i], host.self(), e.node());
      }
    }
    return work;
  }

  private boolean mayBegin() {
    if (!toldConnected) {
      for (Barrier barrier : barriers) {
        if (!barrier.isConnected()) {
          return false;
        }
      }
      toldConnected = true;
      judge.connected();
    }
    return judge.connectedNodes() >= waitForNodes;
  }

  private int step(int i, long nowNs) {
    Barrier barrier = barriers[i];
    if (inside[i]) {
      if (!barrier.test()) {
        return 0;
      }
      inside[i] = false;
      judge.left(names[i], host.self(), barrier.epoch());
      readyAtNs[i] = nowNs + (workNs == 0 ? 0 : host.random().nextLong(workNs));
      over[i] = barrier.epoch() == epochs;
      return 1;
    }
    if (nowNs - readyAtNs[i] < 0) {
      return 0;
    }
    judge.arrived(names[i], host.self(), barrier.epoch() + 1);
    barrier.arrive();
    inside[i] = true;
    return 1;
  }

  @Override
  public boolean isDone() {
    for (boolean end : over) {
      if (!end) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void close() {
    for (Barrier barrier : barriers) {
      barrier.close();
    }
  }
}
