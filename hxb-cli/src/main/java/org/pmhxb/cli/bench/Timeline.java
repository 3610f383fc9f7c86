package org.pmhxb.cli.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * How much arrived when, as the receivers noted it, so that moments of a run can be told apart.
 * Whoever asked them meanwhile would take a part of the processors from what is measured. Times are
 * on the machine's monotonic clock, which its processes share.
 */
public final class Timeline {
  /** Since the timeline began. */
  private record Span(long fromNs, long toNs) {
    boolean touches(long otherFromNs, long otherToNs) {
      return fromNs < otherToNs && otherFromNs < toNs;
    }
  }

  private final long beganNs;
  private final long stepNs;
  private long[] bytes = new long[0];
  private final List<Span> heldUp = new ArrayList<>();
  private final List<Long> incidentsNs = new ArrayList<>();

  /**
   * @param beganNs when it begins
   * @param stepNs what it can tell apart
   */
  Timeline(long beganNs, long stepNs) {
    this.beganNs = beganNs;
    this.stepNs = stepNs;
  }

  /** What one receiver noted, payload bytes for each step. */
  void add(List<Long> received) {
    if (received.size() > bytes.length) {
      bytes = Arrays.copyOf(bytes, received.size());
    }
    for (int i = 0; i < received.size(); i++) {
      bytes[i] += received.get(i);
    }
  }

  /** Something is about to be done to what is measured. */
  void incident(long atNs) {
    incidentsNs.add(atNs);
  }

  /**
   * The process that leads the measurement was held up, and perhaps the whole machine, links
   * included: what arrived meanwhile tells nothing of the goodput. A node's stop is its own doing,
   * and counts.
   */
  void heldUp(long fromNs, long toNs) {
    heldUp.add(new Span(fromNs - beganNs, toNs - beganNs));
  }

  /**
   * Mean goodput between two moments, bytes per second, without the steps in which the leading
   * process was held up; 0 when nothing is left between them.
   */
  public double bytesPerSecond(long fromNs, long toNs) {
    double sum = 0;
    long ns = 0;
    for (int i = 0; i < bytes.length; i++) {
      long begin = i * stepNs;
      long end = begin + stepNs;
      long part = Math.min(end, toNs - beganNs) - Math.max(begin, fromNs - beganNs);
      if (part > 0 && heldUp.stream().noneMatch(span -> span.touches(begin, end))) {
        sum += (double) bytes[i] * part / stepNs;
        ns += part;
      }
    }
    return ns == 0 ? 0 : sum * 1e9 / ns;
  }

  /**
   * What is missing between two moments against a goodput, as the time that it takes.
   *
   * @return nanoseconds; below 0 when more came
   */
  public long missingNs(long fromNs, long toNs, double bytesPerSecond) {
    double share = bytesPerSecond(fromNs, toNs) / bytesPerSecond;
    return Math.round((toNs - fromNs) * (1 - share));
  }

  /** When it begins. */
  public long beganNs() {
    return beganNs;
  }

  /** When incidents began, in order; fewer than were to come when the run ended before. */
  public List<Long> incidentsNs() {
    return incidentsNs;
  }

  /** What the figures can tell apart. */
  public long resolutionNs() {
    return stepNs;
  }

  /** Time that no goodput counts, nanoseconds. */
  public long heldUpNs() {
    return heldUp.stream().mapToLong(s -> s.toNs - s.fromNs).sum();
  }
}
