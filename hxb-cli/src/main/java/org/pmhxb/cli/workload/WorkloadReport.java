package org.pmhxb.cli.workload;

import java.util.List;

/**
 * What one node saw of a workload. Travels as JSON over the control socket.
 *
 * @param node own number
 * @param measuredNs length of the measurement on this node's clock
 * @param sent one entry per destination
 * @param received one entry per source
 * @param latency base64 of a compressed HdrHistogram of nanoseconds: half round trips of a ping,
 *     one-way times of a stream of messages that carry a time, else empty
 * @param timeline payload bytes that came in each {@link WorkloadSpec#timelineMs} of the
 *     measurement; empty when it was not asked for
 * @param failures what kept the workload from its regular end, for people; empty when nothing did
 */
public record WorkloadReport(
    int node,
    long measuredNs,
    List<Sent> sent,
    List<Received> received,
    String latency,
    List<Long> timeline,
    List<String> failures) {

  /**
   * One stream from this node.
   *
   * @param messages accepted for sending, without the one that ends the stream
   * @param unacknowledged of these and the ending one, how many the peer's node had not stored when
   *     the run ended
   */
  public record Sent(int dst, long messages, long unacknowledged) {}

  /**
   * One stream to this node; the counts as {@link StreamVerifier} gives them.
   *
   * @param measuredMessages of the messages those that came during the measurement
   * @param measuredBytes their payload
   * @param longestStopNs longest time of the measurement in which none of them came, its beginning
   *     and end included; 0 where no stream was measured
   * @param ended whether the stream's end came
   */
  public record Received(
      int src,
      long messages,
      long measuredMessages,
      long measuredBytes,
      long longestStopNs,
      long lost,
      long duplicated,
      long misordered,
      long corrupt,
      boolean ended) {}
}
