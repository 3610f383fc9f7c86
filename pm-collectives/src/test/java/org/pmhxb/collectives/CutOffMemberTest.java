package org.pmhxb.collectives;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.pmhxb.collectives.algorithm.StandardAlgorithms;
import org.pmhxb.pm.PeerDownException;
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

/**
 * Node 1 sends to a group that node 0 joins later, and the session of the two ends before: what was
 * sent went down with it.
 */
class CutOffMemberTest {
  private static final long MS = 1_000_000L;
  private static final int BEFORE = 2;
  private static final int GROUP = 3;
  private static final int VALUE = 111;

  private final int[] got = {0};
  private CollectiveCall waits;
  private Collectives late;

  /**
   * It waits at node 0 as one of a group not joined, or is lost on its way; or it went to node 0's
   * life before; or node 0 was out of reach, and in no session, when node 1 was to send.
   */
  @ParameterizedTest(name = "{0}: sent at {1} ms, joined at {2} ms, node 1 leaves the group: {3}")
  @CsvSource({
    "cut@0:20ms+8s, 10, 9000, false, 1",
    "cut@0:20ms+8s, 10, 9000, true, 1",
    "cut@0:20ms+8s, 25, 9000, false, 0",
    "cut@0:20ms+8s, 25, 9000, true, 0",
    "restart@0:20ms+20ms, 10, 1000, false, 0",
    "restart@0:20ms+20ms, 10, 1000, true, 0",
    "cut@0:0ms+9s, 10, 8900, false, 0",
    "cut@0:0ms+9s, 10, 8900, true, 0"
  })
  void whoJoinsBehindTheEndOfTheSessionDoesNotWaitForever(
      String fault, long sendMs, long joinMs, boolean leaves, long released) {
    SimResult result = run(Fault.parse(fault), sendMs, joinMs, leaves);

    assertThat(result.violation()).isNull();
    assertThat(waits.failure()).isInstanceOf(PeerDownException.class);
    assertThat(late.strangersReleased()).isEqualTo(released);
    assertThat(result.leakedBuffers()).isZero();
  }

  /** What ended before node 1 had joined is no reason: who waits asks in vain, and gets it. */
  @Test
  void aGroupThatIsJoinedBehindTheEndOfTheSessionGoesOn() {
    SimResult result = run(Fault.parse("cut@0:20ms+8s"), 9_500, 9_000, false);

    assertThat(result.violation()).isNull();
    waits.check();
    assertThat(got).containsExactly(VALUE);
    assertThat(result.leakedBuffers()).isZero();
  }

  private SimResult run(Fault fault, long sendMs, long joinMs, boolean leaves) {
    Shape shape = Shape.of(2);
    NodeOptions node = NodeOptions.small();
    boolean isWithin = sendMs * MS > fault.startNs() && fault.startNs() > 0;
    return Simulation.run(
        new SimOptions(
            shape,
            1,
            1,
            node,
            Collections.nCopies(3, LinkSpec.gigabit()),
            new Schedule(shape, 1, node.peerTimeoutNs(), List.of(fault)),
            host -> List.of(new Member(host, host.self() == 1 ? sendMs : joinMs, leaves, isWithin)),
            SimOptions.PROGRESS_BOUND_NS + 2 * node.peerTimeoutNs(),
            1,
            false));
  }

  private final class Member implements Program {
    private final Host host;
    private final long joinNs;
    private final boolean leaves;
    private final Collectives collectives;
    private final Communicator before;
    private long beganNs = -1;
    private int callsBefore;
    private CollectiveCall callBefore;
    private Communicator group;
    private CollectiveCall call;

    /**
     * @param meets each gets a message of the other first, so that node 1 has credit in a cut
     */
    Member(Host host, long joinMs, boolean leaves, boolean meets) {
      this.host = host;
      this.joinNs = joinMs * MS;
      this.leaves = leaves && host.self() == 1;
      this.callsBefore = meets ? 0 : 2;
      collectives =
          new Collectives(
              host.node(),
              1,
              StandardAlgorithms.registry(),
              CostModel.gigabit(),
              CollectiveLimits.defaults());
      before = collectives.join(Group.of(BEFORE, host.self(), 0, 1), Topology.flat());
      late = host.self() == 0 ? collectives : late;
    }

    @Override
    public int step(long nowNs) {
      beganNs = beganNs < 0 ? nowNs : beganNs;
      int work = collectives.poll();
      if (callsBefore < 2 && (callBefore == null || callBefore.isDone())) {
        callBefore = before.broadcast(MemorySegment.ofArray(new int[1]), callsBefore);
        callsBefore++;
        return 1;
      }
      if (group == null && nowNs - beganNs >= joinNs) {
        group = collectives.join(Group.of(GROUP, host.self(), 0, 1), Topology.flat());
        int[] message = host.self() == 1 ? new int[] {VALUE} : got;
        call = group.broadcast(MemorySegment.ofArray(message), 1);
        waits = host.self() == 0 ? call : waits;
        return 1;
      }
      if (leaves && call != null && call.isDone()) {
        group.close();
      }
      return work;
    }

    @Override
    public boolean isDone() {
      return call != null && call.isDone() && collectives.isSettled();
    }

    @Override
    public void close() {
      collectives.close();
    }
  }
}
