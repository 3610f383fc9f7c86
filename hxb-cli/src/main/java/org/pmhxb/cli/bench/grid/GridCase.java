package org.pmhxb.cli.bench.grid;

import java.util.ArrayList;
import java.util.List;
import org.pmhxb.collectives.Collective;

/**
 * One thing to measure.
 *
 * @param operation null: a stream from one node to one of the other cluster
 * @param algorithm by name
 * @param aware it knows of the clusters
 * @param bytes of a message; of alltoall the block from one rank to another
 */
record GridCase(
    Collective operation, String algorithm, boolean aware, GridNetwork network, int bytes) {
  static final String STREAM = "point-to-point";

  private record Line(Collective operation, String algorithm, boolean aware) {}

  private static final List<Line> LINES =
      List.of(
          new Line(null, "stream", false),
          new Line(Collective.ALLTOALL, "pairwise", false),
          new Line(Collective.ALLTOALL, "cluster", true),
          new Line(Collective.ALLTOALL, "cluster-one", true),
          new Line(Collective.BROADCAST, GrowingBinomial.NAME, false),
          new Line(Collective.BROADCAST, "binomial", false),
          new Line(Collective.BROADCAST, "chain", false),
          new Line(Collective.BROADCAST, "cluster-tree", true),
          new Line(Collective.BROADCAST, "cluster-stream", true),
          new Line(Collective.REDUCE, "binomial", false),
          new Line(Collective.REDUCE, "chain", false),
          new Line(Collective.REDUCE, "cluster-tree", true),
          new Line(Collective.REDUCE, "cluster-stream", true));

  private static final int[] SIZES = {64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576};
  private static final int[] QUICK_SIZES = {64, 16_384};

  /** An alltoall of more would be 60 MB each way over one link. */
  private static final int MOST_ALLTOALL_BYTES = 262_144;

  /** Everything, the longest first, so that they do not end alone. */
  static List<GridCase> all(boolean quick) {
    List<GridCase> cases = new ArrayList<>();
    int[] sizes = quick ? QUICK_SIZES : SIZES;
    for (int i = sizes.length - 1; i >= 0; i--) {
      for (Line line : LINES) {
        if (line.operation != Collective.ALLTOALL || sizes[i] <= MOST_ALLTOALL_BYTES) {
          for (GridNetwork network : GridNetwork.values()) {
            cases.add(new GridCase(line.operation, line.algorithm, line.aware, network, sizes[i]));
          }
        }
      }
    }
    return cases;
  }

  String operationName() {
    return operation == null ? STREAM : operation.toString();
  }

  /** Bytes that count for the bandwidth, as in the paper (sections 3.3 to 3.6). */
  double countedBytes(int ranks) {
    if (operation == null) {
      return bytes;
    }
    // From one process to all others; else as many bytes as every process has to get or give.
    return operation == Collective.ALLTOALL ? (double) bytes * (ranks - 1) : (double) bytes * ranks;
  }
}
