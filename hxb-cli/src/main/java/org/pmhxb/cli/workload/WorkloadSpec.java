package org.pmhxb.cli.workload;

import java.util.List;

/**
 * What one node does in a workload. Travels as JSON over the control socket.
 *
 * @param endpoint endpoint number to open, the same on all nodes, 1 to 65,534
 * @param kind streams, or one of the two sides of a ping-pong
 * @param destinations nodes to send to; of a ping-pong the one other side
 * @param sources nodes to expect messages from
 * @param sizeBytes length of each message, 4 up to {@link #LARGEST_BYTES}, of a ping-pong up to
 *     what one frame takes
 * @param ownFrames whether each message travels in a frame of its own, small as it may be
 * @param warmUpMs time before the measurement begins, at full traffic
 * @param measureMs length of the measurement; traffic ends with it
 * @param drainMs how long what is under way may take to arrive after that
 * @param timelineMs what arrives in each so many milliseconds of the measurement is told, of
 *     streams; 0: it is not. At most {@link #TIMELINE_STEPS_MAX} of them
 */
public record WorkloadSpec(
    int endpoint,
    Kind kind,
    List<Integer> destinations,
    List<Integer> sources,
    int sizeBytes,
    boolean ownFrames,
    long warmUpMs,
    long measureMs,
    long drainMs,
    long timelineMs) {

  /** Longest message of a stream, bytes. Beyond what one frame takes it travels as fragments. */
  public static final int LARGEST_BYTES = 16 << 20;

  /** What fits into an answer of the control socket. */
  public static final int TIMELINE_STEPS_MAX = 65_536;

  /** What a node does. */
  public enum Kind {
    /** Sends to every destination as fast as credit allows and verifies what comes. */
    STREAM,
    /** Sends a message, waits for its answer, measures. */
    PING,
    /** Answers. */
    PONG
  }

  public WorkloadSpec {
    destinations = List.copyOf(destinations);
    sources = List.copyOf(sources);
    require(endpoint >= 1 && endpoint <= 65_534, "endpoint", endpoint, "1 to 65534");
    require(sizeBytes >= PayloadPattern.MIN_BYTES, "sizeBytes", sizeBytes, "at least 4");
    require(warmUpMs >= 0 && warmUpMs <= 600_000, "warmUpMs", warmUpMs, "0 to 600000");
    require(measureMs >= 1 && measureMs <= 86_400_000, "measureMs", measureMs, "1 to 86400000");
    require(drainMs >= 0 && drainMs <= 600_000, "drainMs", drainMs, "0 to 600000");
    require(timelineMs >= 0, "timelineMs", timelineMs, "at least 0");
    require(
        timelineMs == 0 || measureMs / timelineMs < TIMELINE_STEPS_MAX,
        "timelineMs",
        timelineMs,
        "0, or more than measureMs / " + TIMELINE_STEPS_MAX);
    if (kind != Kind.STREAM) {
      require(destinations.size() == 1, "destinations", destinations.size(), "1 of a ping-pong");
    }
  }

  private static void require(boolean fits, String name, long value, String range) {
    if (!fits) {
      throw new IllegalArgumentException(name + " is " + value + "; must be " + range);
    }
  }

  /** Steps of the timeline, the last one perhaps shorter. */
  int timelineSteps() {
    return timelineMs == 0 ? 0 : (int) Math.ceilDiv(measureMs, timelineMs);
  }

  /** Refuses destinations, sources and sizes that the node cannot serve. */
  void check(int self, int nodes, int maxMessageBytes) {
    int most = kind == Kind.STREAM ? LARGEST_BYTES : maxMessageBytes;
    require(sizeBytes <= most, "sizeBytes", sizeBytes, "at most " + most);
    for (List<Integer> side : List.of(destinations, sources)) {
      for (int node : side) {
        require(
            node >= 0 && node < nodes && node != self,
            "node",
            node,
            "another of 0 to " + (nodes - 1));
      }
    }
  }
}
