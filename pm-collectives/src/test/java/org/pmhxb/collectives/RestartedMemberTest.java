package org.pmhxb.collectives;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.pmhxb.collectives.algorithm.StandardAlgorithms;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.NodeOptions;
import org.pmhxb.sim.SimOptions;
import org.pmhxb.sim.SimResult;
import org.pmhxb.sim.Simulation;
import org.pmhxb.sim.fault.Fault;
import org.pmhxb.sim.fault.FaultKind;
import org.pmhxb.sim.fault.Place;
import org.pmhxb.sim.fault.Schedule;
import org.pmhxb.sim.net.LinkSpec;
import org.pmhxb.sim.work.Host;
import org.pmhxb.sim.work.Program;

/** Node 1 sends to a group that node 0 has not joined, dies, comes back and sends again. */
class RestartedMemberTest {
  private static final long MS = 1_000_000L;
  private static final int GROUP = 3;

  /** What node 0 got. */
  private final List<Integer> got = new ArrayList<>();

  private Collectives first;

  @Test
  void whatItsEarlierLifeSentIsNoDataOfAGroupThatIsJoinedLater() {
    SimResult result = run(FaultKind.RESTART);

    assertThat(result.violation()).isNull();
    assertThat(got).containsExactly(221, 222);
    assertThat(first.strangersReleased()).as("messages of the life before").isEqualTo(2);
    assertThat(result.leakedBuffers()).isZero();
  }

  /**
   * Once it had used something its new life counts from 0, which no member's count goes back to.
   */
  @Test
  void itsNewLifeIsToldThatTheGroupIsBroken() {
    List<String> ends = new ArrayList<>();
    SimResult result = run(FaultKind.RESTART, host -> new TurnAbout(host, ends));

    assertThat(result.violation()).isNull();
    assertThat(ends).hasSize(2).allMatch(end -> end.contains("node 1 is down"));
    assertThat(first.malformed()).isZero();
  }

  private SimResult run(FaultKind how) {
    return run(how, Member::new);
  }

  private SimResult run(FaultKind how, Function<Host, Program> program) {
    Shape shape = Shape.of(2);
    NodeOptions node = NodeOptions.small();
    Fault fault = new Fault(how, Place.node(1), 20 * MS, 20 * MS, 0, 0, 1);
    return Simulation.run(
        new SimOptions(
            shape,
            1,
            1,
            node,
            Collections.nCopies(3, LinkSpec.gigabit()),
            new Schedule(shape, 1, node.peerTimeoutNs(), List.of(fault)),
            host -> List.of(program.apply(host)),
            SimOptions.PROGRESS_BOUND_NS + 2 * node.peerTimeoutNs(),
            1,
            false));
  }

  private Collectives open(Host host) {
    Collectives collectives =
        new Collectives(
            host.node(),
            1,
            StandardAlgorithms.registry(),
            CostModel.gigabit(),
            CollectiveLimits.defaults());
    if (host.self() == 0) {
      first = collectives;
    }
    return collectives;
  }

  /** Both broadcast by turns until it fails, as each life finds it: so each uses something. */
  private final class TurnAbout implements Program {
    private final Host host;
    private final List<String> ends;
    private final Collectives collectives;
    private final Communicator group;
    private final int[] value = {0};
    private CollectiveCall call;
    private int calls;
    private boolean over;

    TurnAbout(Host host, List<String> ends) {
      this.host = host;
      this.ends = ends;
      this.collectives = open(host);
      this.group = collectives.join(Group.of(GROUP, host.self(), 0, 1), Topology.flat());
    }

    @Override
    public int step(long nowNs) {
      int work = collectives.poll();
      if (call != null && call.isDone()) {
        over = call.failure() != null;
        if (over) {
          ends.add(host.self() + ": " + call.failure().getMessage());
        }
        call = null;
        calls++;
        work++;
      }
      if (call == null && !over) {
        // Of its new life the first call is one in which it sends.
        call = group.broadcast(MemorySegment.ofArray(value), (calls + host.life()) % 2);
        work++;
      }
      return work;
    }

    @Override
    public boolean isDone() {
      return over && collectives.isSettled();
    }

    @Override
    public void close() {
      collectives.close();
    }
  }

  /** Node 1 broadcasts twice in each life; node 0 joins after half a second, and takes two. */
  private final class Member implements Program {
    private final Host host;
    private final Collectives collectives;
    private final int[] value = {0};
    private long beganNs = -1;
    private int calls;
    private Communicator group;
    private CollectiveCall call;

    Member(Host host) {
      this.host = host;
      collectives = open(host);
    }

    @Override
    public int step(long nowNs) {
      beganNs = beganNs < 0 ? nowNs : beganNs;
      int work = collectives.poll();
      if (group == null && (host.self() == 1 || nowNs - beganNs > 500 * MS)) {
        group = collectives.join(Group.of(GROUP, host.self(), 0, 1), Topology.flat());
      }
      if (call != null && call.isDone()) {
        call.check();
        if (host.self() == 0) {
          got.add(value[0]);
        }
        call = null;
        calls++;
        work++;
      }
      if (group != null && call == null && calls < 2) {
        value[0] = host.self() == 1 ? 111 + 110 * host.life() + calls : 0;
        call = group.broadcast(MemorySegment.ofArray(value), 1);
        work++;
      }
      return work;
    }

    @Override
    public boolean isDone() {
      return calls == 2 && collectives.isSettled();
    }

    @Override
    public void close() {
      collectives.close();
    }
  }
}
