package org.pmhxb.cost;

import java.util.List;
import java.util.Map;
import org.pmhxb.pm.Counter;

/**
 * A node under test: the production node, or its twin in C. Each method is what one phase of a loop
 * times. Owner: the thread that opened the bench; time is virtual.
 */
interface Subject extends AutoCloseable {
  /** What both count; the order is that of {@code enum twin_counter}. */
  List<Counter> COMPARED =
      List.of(
          Counter.FRAMES_RECEIVED,
          Counter.DATA_DELIVERED,
          Counter.BYTES_DELIVERED,
          Counter.RELAYED,
          Counter.DATA_SENT,
          Counter.ACKS_SENT,
          Counter.ACKS_RECEIVED,
          Counter.OUT_OF_ORDER);

  /** Frames dropped for whatever reason: none may be. */
  String DROPPED = "DROPPED";

  /** What a benchmark must not meet: probes, resends, ends of sessions. */
  String TROUBLE = "TROUBLE";

  /**
   * Duty cycles and polls until so many messages went to the handler.
   *
   * @return how many did; fewer: frames were dropped
   */
  int receive(long nowNs, int messages);

  /**
   * Sends a message to each of {@code order[from, from + messages)}, with the words {@code first}
   * and up in front, then runs as many duty cycles as bursts of 32.
   *
   * @return how many were sent; fewer: out of credit or buffers
   */
  int send(long nowNs, Turns order, int from, int messages, long first);

  /** One duty cycle: relays, reads acknowledgements. */
  void cycle(long nowNs);

  /** Order-sensitive digest of what the handler saw. */
  long digest();

  /** Whether the handler reads the contents of messages too. */
  void readContents(boolean contents);

  /**
   * Whether neither {@link #DROPPED} nor {@link #TROUBLE} was counted. Between two iterations,
   * where {@link #counters} would allocate more than what is measured may.
   */
  boolean isClean();

  /** What it has counted since it began, by name; equal for equal steps. Allocates. */
  Map<String, Long> counters();

  /** For a failure's message: what else it has counted. */
  String details();

  @Override
  void close();
}
