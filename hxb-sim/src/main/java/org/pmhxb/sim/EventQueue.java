package org.pmhxb.sim;

import java.util.Arrays;

/**
 * What is to happen, by virtual time; events of one instant fire in the order in which they were
 * added, so that a run depends on its seed alone. A binary heap over parallel arrays: nothing is
 * allocated for an event. Owner: one thread.
 */
public final class EventQueue {
  private long[] atNs = new long[1024];
  private long[] order = new long[1024];
  private Event[] events = new Event[1024];
  private int size;
  private long added;
  private long nowNs;

  /** The virtual time: that of the last event fired. */
  public long nowNs() {
    return nowNs;
  }

  /** Events fired so far. */
  public long fired() {
    return added - size;
  }

  public boolean isEmpty() {
    return size == 0;
  }

  /** Adds an event; what lies in the past happens now. */
  public void add(long whenNs, Event event) {
    if (size == events.length) {
      atNs = Arrays.copyOf(atNs, size * 2);
      order = Arrays.copyOf(order, size * 2);
      events = Arrays.copyOf(events, size * 2);
    }
    long at = Math.max(whenNs, nowNs);
    int i = size++;
    while (i > 0 && at < atNs[i - 1 >> 1]) {
      move(i - 1 >> 1, i);
      i = i - 1 >> 1;
    }
    put(i, at, added++, event);
  }

  /** Fires the next event; the queue is not empty. */
  public void fireNext() {
    nowNs = atNs[0];
    Event event = events[0];
    int last = --size;
    long lastAt = atNs[last];
    long lastOrder = order[last];
    Event lastEvent = events[last];
    events[last] = null;
    int i = 0;
    for (int child = 1; child < last; child = 2 * i + 1) {
      if (child + 1 < last && isBefore(child + 1, atNs[child], order[child])) {
        child++;
      }
      if (!isBefore(child, lastAt, lastOrder)) {
        break;
      }
      move(child, i);
      i = child;
    }
    if (last > 0) {
      put(i, lastAt, lastOrder, lastEvent);
    }
    event.fire(nowNs);
  }

  private boolean isBefore(int i, long at, long orderThere) {
    return atNs[i] < at || atNs[i] == at && order[i] < orderThere;
  }

  private void move(int from, int to) {
    put(to, atNs[from], order[from], events[from]);
  }

  private void put(int i, long at, long orderThere, Event event) {
    atNs[i] = at;
    order[i] = orderThere;
    events[i] = event;
  }
}
