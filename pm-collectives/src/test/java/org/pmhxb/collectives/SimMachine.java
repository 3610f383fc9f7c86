package org.pmhxb.collectives;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.pmhxb.collectives.algorithm.StandardAlgorithms;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.NodeOptions;
import org.pmhxb.sim.SimOptions;
import org.pmhxb.sim.SimResult;
import org.pmhxb.sim.Simulation;
import org.pmhxb.sim.fault.Fault;
import org.pmhxb.sim.fault.Schedule;
import org.pmhxb.sim.net.LinkSpec;
import org.pmhxb.sim.work.Host;
import org.pmhxb.sim.work.Program;

/** Runs a {@link Script} on a simulated machine. */
final class SimMachine {
  private static final int ENDPOINT = 1;
  private static final int GROUP = 9;

  private final Shape shape;
  private final int rails;
  private final int[] members;
  private final Topology topology;
  private final Script script;
  private final CollectiveLimits limits;
  private final RankRun[] runs;
  private boolean closing;

  /** The rank that joins at once and is started again, or none; the others come later. */
  private int early = -1;

  private Script earlyScript;
  private long joinNs;

  SimMachine(
      Shape shape,
      int rails,
      int[] members,
      Topology topology,
      Script script,
      CollectiveLimits limits) {
    this.shape = shape;
    this.rails = rails;
    this.members = members;
    this.topology = topology;
    this.script = script;
    this.limits = limits;
    this.runs = new RankRun[members.length];
  }

  /** Everyone leaves the group at once when it has no more calls. */
  void closeAtEnd() {
    closing = true;
  }

  /**
   * One rank goes through another script in its first life, and through this one in its second; all
   * others join after a time.
   */
  void joinLater(int earlyRank, Script script, long afterNs) {
    early = earlyRank;
    earlyScript = script;
    joinNs = afterNs;
  }

  SimResult run(long seed, NodeOptions node, List<Fault> faults) {
    return Simulation.run(
        new SimOptions(
            shape,
            rails,
            seed,
            node,
            Collections.nCopies(3, LinkSpec.gigabit()),
            schedule(faults),
            this::programs,
            SimOptions.PROGRESS_BOUND_NS + 2 * node.peerTimeoutNs(),
            1,
            false));
  }

  Schedule schedule(List<Fault> faults) {
    return new Schedule(shape, rails, NodeOptions.small().peerTimeoutNs(), faults);
  }

  private List<Program> programs(Host host) {
    List<Program> programs = new ArrayList<>();
    for (int rank = 0; rank < members.length; rank++) {
      if (members[rank] == host.self()) {
        programs.add(program(host, rank));
      }
    }
    return programs;
  }

  private Program program(Host host, int rank) {
    if (rank == early) {
      return new Member(host, rank, host.life() == 0 ? earlyScript : script, 0);
    }
    return host.life() == 0 ? new Member(host, rank, script, joinNs) : new Returned(host);
  }

  /** Nodes by rank. */
  int[] members() {
    return members;
  }

  /** By rank. */
  RankRun[] runs() {
    return runs;
  }

  private Collectives collectives(Host host) {
    return new Collectives(
        host.node(), ENDPOINT, StandardAlgorithms.registry(), CostModel.gigabit(), limits);
  }

  /** A member that was started again: what it knew is gone, so it leaves the group. */
  private final class Returned implements Program {
    private final Collectives collectives;

    Returned(Host host) {
      collectives = collectives(host);
      collectives.join(Group.of(GROUP, host.self(), members), topology).abandon();
    }

    @Override
    public int step(long nowNs) {
      return collectives.poll();
    }

    @Override
    public boolean isDone() {
      return collectives.isSettled();
    }

    @Override
    public void close() {
      collectives.close();
    }
  }

  private final class Member implements Program {
    private final Collectives collectives;
    private final Group group;
    private final int rank;
    private final Script mine;
    private final long afterNs;
    private long beganNs = -1;
    private RankRun run;

    Member(Host host, int rank, Script mine, long afterNs) {
      this.collectives = collectives(host);
      this.group = Group.of(GROUP, host.self(), members);
      this.rank = rank;
      this.mine = mine;
      this.afterNs = afterNs;
      if (afterNs == 0) {
        join();
      }
    }

    private void join() {
      run = new RankRun(mine, collectives, group, topology);
      runs[rank] = closing ? run.closing() : run;
    }

    @Override
    public int step(long nowNs) {
      beganNs = beganNs < 0 ? nowNs : beganNs;
      if (run == null && nowNs - beganNs >= afterNs) {
        join();
      }
      return run == null ? collectives.poll() : run.step();
    }

    @Override
    public boolean isDone() {
      return run != null && run.isOver();
    }

    @Override
    public void close() {
      collectives.close();
    }
  }
}
