package org.pmhxb.sim;

import java.util.Collections;
import java.util.List;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.fault.Fault;
import org.pmhxb.sim.fault.Schedule;
import org.pmhxb.sim.net.LinkSpec;
import org.pmhxb.sim.work.Workload;

/** Simulations of nodes whose windows and credit are wide enough for links to be the limit. */
final class StreamOptions {
  private StreamOptions() {}

  static SimOptions of(
      Shape shape, int rails, LinkSpec link, Workload work, List<Fault> stalls, long seed) {
    NodeOptions node = NodeOptions.small();
    NodeOptions wide =
        new NodeOptions(
            256,
            2_048,
            256,
            node.loanBuffers(),
            256,
            node.reserveBuffers(),
            4_096,
            node.peerTimeoutNs(),
            node.firstSeq(),
            node.inline(),
            node.idleGapNs(),
            node.parkGapNs());
    return new SimOptions(
        shape,
        rails,
        seed,
        wide,
        Collections.nCopies(3, link),
        new Schedule(shape, rails, node.peerTimeoutNs(), stalls),
        work,
        SimOptions.PROGRESS_BOUND_NS,
        1_000,
        false);
  }
}
