package org.pmhxb.cli;

import java.util.Set;
import org.pmhxb.cli.bench.BenchKind;
import org.pmhxb.cli.bench.TrafficPlan;
import org.pmhxb.router.Shape;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Streams between two nodes. */
@Command(
    name = "bandwidth",
    description = {
      "Stream between two nodes and measure the goodput.",
      ClusterBench.USES,
      "Theoretical is the raw rate of the links in use; without --rate links have none."
    },
    footer = {
      "",
      "Example: hxb bench bandwidth --fabric veth --links 4 --rate 200mbit --size 8192"
    })
final class BandwidthBench extends PairBench {
  private static final int SIZE_BYTES = 8_192;

  @Option(
      names = "--own-frames",
      description = "Each message in a frame of its own, small as it may be.")
  private boolean ownFrames;

  @Option(names = "--both", description = "Stream both ways at once.")
  private boolean both;

  @Override
  BenchKind kind() {
    return BenchKind.BANDWIDTH;
  }

  @Override
  int defaultSizeBytes() {
    return SIZE_BYTES;
  }

  @Override
  TrafficPlan traffic(Shape shape, int rails, Set<Integer> absent) {
    TrafficPlan plan = super.traffic(shape, rails, absent);
    return ownFrames ? plan.withOwnFrames() : plan;
  }

  @Override
  boolean both() {
    return both;
  }
}
