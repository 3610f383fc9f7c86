package org.pmhxb.cli;

import java.util.Set;
import org.pmhxb.cli.bench.BenchKind;
import org.pmhxb.cli.bench.TrafficPlan;
import org.pmhxb.router.Shape;
import picocli.CommandLine.Command;

/** All nodes to one. */
@Command(
    name = "incast",
    description = {
      "Let all nodes stream to node 0 at once: more than its links carry.",
      ClusterBench.USES,
      "Theoretical is the raw rate of node 0's links; resent counts frames that went again."
    },
    footer = {"", "Example: hxb bench incast --fabric veth --shape 8 --rails 1 --rate 200mbit"})
final class IncastBench extends ClusterBench {
  private static final int SIZE_BYTES = 8_192;

  @Override
  BenchKind kind() {
    return BenchKind.INCAST;
  }

  @Override
  int defaultSizeBytes() {
    return SIZE_BYTES;
  }

  @Override
  Shape smallestShape() {
    return Shape.of(2, 2, 2);
  }

  @Override
  TrafficPlan traffic(Shape shape, int rails, Set<Integer> absent) {
    return TrafficPlan.incast(shape, rails);
  }
}
