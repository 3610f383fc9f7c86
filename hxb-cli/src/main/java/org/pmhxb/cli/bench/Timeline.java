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

  /**
   * Something that was done to what is measured.
   *
   * @param fromNs before it was begun
   * @param doneNs when it had taken effect at the latest
   */
  public record Happened(long fromNs, long doneNs) {}

  private final long beganNs;
  private final long stepNs;
  private long[] bytes = new long[0];
  private final List<Span> heldUp = new ArrayList<>();
  private final List<Happened> incidents = new ArrayList<>();

  /**
   * @param beganNs when it begins
   * @param stepNs what it can tell apart
   */
  Timeline(long beganNs, long stepNs) {
    this.beganNs = beganNs;
    this.stepNs = stepNs;
  }

  /** What one receiver noted, payload bytes by step; one cut short at the end counts as whole. */
  void add(List<Long> received) {
    if (received.size() > bytes.length) {
      bytes = Arrays.copyOf(bytes, received.size());
    }
    for (int i = 0; i < received.size(); i++) {
      bytes[i] += received.get(i);
    }
  }

  void incident(long fromNs, long doneNs) {
    incidents.add(new Happened(fromNs, doneNs));
  }

  /**
   * The process that leads the measurement was held up, and perhaps the whole machine, links
   * included: what arrived meanwhile tells nothing of the goodput. A node's stop is its own doing,
   * and counts.
   */
  void heldUp(long fromNs, long toNs) {
    heldUp.add(new Span(fromNs - beganNs, toNs - beganNs));
  }

  /** What arrived in so much time, without that in which the leading process was held up. */
  private record Arrived(double bytes, long ns) {
    double perSecond() {
      return ns == 0 ? 0 : bytes * 1e9 / ns;
    }

    Arrived and(Arrived other) {
      return new Arrived(bytes + other.bytes, ns + other.ns);
    }
  }

  private Arrived arrived(long fromNs, long toNs) {
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
    return new Arrived(sum, ns);
  }

  /**
   * Mean goodput between two moments, bytes per second, without the steps in which the leading
   * process was held up; 0 when nothing is left between them.
   */
  public double bytesPerSecond(long fromNs, long toNs) {
    return arrived(fromNs, toNs).perSecond();
  }

  /**
   * What is missing from an incident on, at most: as if it had taken effect only when it was done.
   *
   * @param toNs end of what is looked at
   * @param before goodput that would have gone on until then, bytes per second
   * @param after goodput from then on, which says how long what is missing takes
   * @return nanoseconds, by up to {@link #uncertaintyNs} too many; below 0 when more came
   */
  public long missingNs(Happened incident, long toNs, double before, double after) {
    double lengthNs = toNs - incident.fromNs;
    if (after <= 0) {
      return Math.round(lengthNs);
    }
    double untilDoneNs = incident.doneNs - incident.fromNs;
    double expectedNs = untilDoneNs * before / after + (lengthNs - untilDoneNs);
    double cameNs = lengthNs * bytesPerSecond(incident.fromNs, toNs) / after;
    return Math.round(expectedNs - cameNs);
  }

  /**
   * How far {@link #missingNs} may be off: a step, and what went on until the incident was done.
   */
  public long uncertaintyNs(Happened incident, double before, double after) {
    double more = after <= 0 ? 0 : Math.max(0, before / after - 1);
    return stepNs + Math.round((incident.doneNs - incident.fromNs) * more);
  }

  /**
   * What is missing where nothing was done: of each length of time between two moments, in order,
   * beside the goodput of the rest of the time between them. A host that withholds processors makes
   * it so, and what an incident cost is to be read beside it.
   *
   * @return nanoseconds each, below 0 when more came; without the lengths, and without the rests,
   *     through all of which the leading process was held up
   */
  public List<Long> missingOfItself(long fromNs, long toNs, long lengthNs) {
    List<Long> missing = new ArrayList<>();
    for (long at = fromNs; toNs - at >= lengthNs; at += lengthNs) {
      Arrived rest = arrived(fromNs, at).and(arrived(at + lengthNs, toNs));
      if (rest.ns > 0 && arrived(at, at + lengthNs).ns > 0) {
        double perSecond = rest.perSecond();
        missing.add(missingNs(new Happened(at, at), at + lengthNs, perSecond, perSecond));
      }
    }
    return missing;
  }

  /** When it begins. */
  public long beganNs() {
    return beganNs;
  }

  /** In order; fewer than were to come when the run ended before. */
  public List<Happened> incidents() {
    return incidents;
  }

  /** Time that no goodput counts, nanoseconds. */
  public long heldUpNs() {
    long endNs = bytes.length * stepNs;
    return heldUp.stream()
        .mapToLong(s -> Math.clamp(s.toNs, 0, endNs) - Math.clamp(s.fromNs, 0, endNs))
        .sum();
  }
}
