package org.pmhxb.collectives.logp;

import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * What is to happen, by its time; of equal times, what was added first. Nodes that do the same at
 * the same time are the rule, so times are few beside what happens: those of one time wait in one
 * queue, and only times are sorted.
 */
final class Agenda {
  /** All that is to happen at one time. */
  private static final class Moment {
    final IntQueue events = new IntQueue();
    double atNs;
  }

  private final Map<Double, Moment> byTime = new HashMap<>();
  private final PriorityQueue<Moment> coming =
      new PriorityQueue<>(Comparator.comparingDouble(m -> m.atNs));

  /** Past ones, for times to come. */
  private final ArrayDeque<Moment> past = new ArrayDeque<>();

  /** What is being taken, and what was added to last. */
  private Moment now = new Moment();

  private Moment last = now;

  private int size;

  Agenda() {
    byTime.put(now.atNs, now);
  }

  boolean isEmpty() {
    return size == 0;
  }

  /**
   * @param atNs not before {@link #nowNs}
   */
  void add(double atNs, int event) {
    if (last.atNs != atNs) {
      last = at(atNs);
    }
    last.events.add(event);
    size++;
  }

  private Moment at(double atNs) {
    Moment known = byTime.get(atNs);
    if (known != null) {
      return known;
    }
    Moment moment = past.isEmpty() ? new Moment() : past.pop();
    moment.atNs = atNs;
    byTime.put(atNs, moment);
    coming.add(moment);
    return moment;
  }

  /** The next; there is one. */
  int take() {
    if (now.events.isEmpty()) {
      byTime.remove(now.atNs);
      past.push(now);
      now = coming.poll();
      last = now;
    }
    size--;
    return now.events.take();
  }

  /** The time of what was taken last. */
  double nowNs() {
    return now.atNs;
  }
}
