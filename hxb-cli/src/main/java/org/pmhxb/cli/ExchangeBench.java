package org.pmhxb.cli;

import java.util.Set;
import org.pmhxb.cli.bench.BenchKind;
import org.pmhxb.cli.bench.TrafficPlan;
import org.pmhxb.router.Shape;
import picocli.CommandLine.Command;

/** All nodes with all their neighbours. */
@Command(
    name = "exchange",
    description = {
      "Let every node stream to all its neighbours in all dimensions, both ways at once.",
      "Uses the cluster that is up, or brings one up for the run and takes it down again.",
      "Nodes that do not answer are left out, named, and the command then ends with 1."
    },
    footer = {
      "",
      "Example: hxb bench exchange --fabric veth --shape 2x2x2 --rails 2 --rate 100mbit --json"
    })
final class ExchangeBench extends ClusterBench {
  private static final int SIZE_BYTES = 8_192;

  @Override
  BenchKind kind() {
    return BenchKind.EXCHANGE;
  }

  @Override
  boolean both() {
    return true;
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
    if (shape.nodes() < 2) {
      throw new IllegalArgumentException(
          "an exchange needs two nodes or more; the shape is " + shape);
    }
    return TrafficPlan.exchange(shape, rails, absent);
  }
}
