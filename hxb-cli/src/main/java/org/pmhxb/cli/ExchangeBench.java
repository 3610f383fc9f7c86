package org.pmhxb.cli;

import java.util.Set;
import org.pmhxb.cli.bench.BenchKind;
import org.pmhxb.cli.bench.TrafficPlan;
import org.pmhxb.router.Shape;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** All nodes with all their neighbours. */
@Command(
    name = "exchange",
    description = {
      "Let every node stream to all its neighbours in all dimensions, both ways at once.",
      ClusterBench.USES
    },
    footer = {
      "",
      "Example: hxb bench exchange --fabric veth --shape 2x2x2 --rails 2 --rate 100mbit --json"
    })
final class ExchangeBench extends ClusterBench {
  private static final int SIZE_BYTES = 8_192;

  @Option(
      names = "--survivors",
      description = "Leave out nodes that do not answer, and name them, instead of refusing.")
  private boolean survivors;

  @Override
  BenchKind kind() {
    return BenchKind.EXCHANGE;
  }

  @Override
  boolean withoutAbsent() {
    return survivors;
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
          "--shape is " + shape + "; an exchange needs 2 nodes or more");
    }
    return TrafficPlan.exchange(shape, rails, absent);
  }
}
