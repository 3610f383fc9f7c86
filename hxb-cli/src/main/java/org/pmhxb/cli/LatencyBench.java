package org.pmhxb.cli;

import org.pmhxb.cli.bench.BenchKind;
import picocli.CommandLine.Command;

/** A ping-pong between two nodes. */
@Command(
    name = "latency",
    description = {
      "Send a message to and fro between two nodes and measure half round trips.",
      ClusterBench.USES
    },
    footer = {"", "Example: hxb bench latency --fabric shm --size 64"})
final class LatencyBench extends PairBench {
  private static final int SIZE_BYTES = 64;

  @Override
  BenchKind kind() {
    return BenchKind.LATENCY;
  }

  @Override
  int defaultSizeBytes() {
    return SIZE_BYTES;
  }
}
