package org.pmhxb.collectives;

/**
 * LogGP with two kinds of link, in nanoseconds: what predictions are made with. All members of a
 * group must use the same.
 *
 * @param overheadNs processor time to send a message, and as much to receive it (os + or)
 * @param latencyNs from a node to another within a cluster (L)
 * @param nsPerByte of one node's rails of one dimension together (G)
 * @param reduceNsPerByte to combine a received byte
 * @param relayNs added by each relay on the way
 * @param frameBytes of a message that travel together: what passes on a message does so by these
 * @param slowLatencyNs from a cluster to another
 * @param slowNsPerByte of one of the links that join clusters
 * @param slowQueueBytes that a switch keeps in front of such a link; 0: it is not known, and
 *     predictions go without loss
 */
public record CostModel(
    double overheadNs,
    double latencyNs,
    double nsPerByte,
    double reduceNsPerByte,
    double relayNs,
    int frameBytes,
    double slowLatencyNs,
    double slowNsPerByte,
    int slowQueueBytes) {

  /** Gigabit Ethernet with one rail per dimension, as the simulator has it; no slow links. */
  public static CostModel gigabit() {
    return new CostModel(1_500, 12_000, 8, 0.1, 14_000, 8_000, 12_000, 8, 0);
  }

  /** With other links between clusters. */
  public CostModel withSlow(double latency, double perByte, int queueBytes) {
    return new CostModel(
        overheadNs,
        latencyNs,
        nsPerByte,
        reduceNsPerByte,
        relayNs,
        frameBytes,
        latency,
        perByte,
        queueBytes);
  }
}
