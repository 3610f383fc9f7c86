package org.pmhxb.pm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.LinkedHashMap;
import java.util.Map;

/** A node's counters. Owner: the poll thread; any thread may read. */
public final class NodeCounters {
  private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(long[].class);
  private static final int COUNTERS = Counter.values().length;

  private final long[] cells = new long[COUNTERS + DropReason.values().length];

  void add(Counter counter, long amount) {
    int i = counter.ordinal();
    CELL.setOpaque(cells, i, cells[i] + amount);
  }

  /** Adds what a round has received, in one go. */
  void addReceived(long frames, long delivered, long deliveredBytes) {
    long[] c = cells;
    int f = Counter.FRAMES_RECEIVED.ordinal();
    int d = Counter.DATA_DELIVERED.ordinal();
    int b = Counter.BYTES_DELIVERED.ordinal();
    CELL.setOpaque(c, f, c[f] + frames);
    CELL.setOpaque(c, d, c[d] + delivered);
    CELL.setOpaque(c, b, c[b] + deliveredBytes);
  }

  /** Adds what a round has sent, in one go. */
  void addSent(long data, long frames) {
    long[] c = cells;
    int d = Counter.DATA_SENT.ordinal();
    int f = Counter.FRAMES_SENT.ordinal();
    CELL.setOpaque(c, d, c[d] + data);
    CELL.setOpaque(c, f, c[f] + frames);
  }

  void increment(Counter counter) {
    add(counter, 1);
  }

  void drop(DropReason reason) {
    dropCode(reason.code());
  }

  void drop(DropReason reason, int frames) {
    dropCode(reason.code(), frames);
  }

  void dropCode(int code) {
    dropCode(code, 1);
  }

  private void dropCode(int code, int frames) {
    int i = COUNTERS - 1 - code;
    CELL.setOpaque(cells, i, cells[i] + frames);
  }

  public long get(Counter counter) {
    return (long) CELL.getOpaque(cells, counter.ordinal());
  }

  public long dropped(DropReason reason) {
    return (long) CELL.getOpaque(cells, COUNTERS + reason.ordinal());
  }

  /** All counters by name, drops as {@code drop.reason}; lower case with hyphens. Allocates. */
  public Map<String, Long> snapshot() {
    Map<String, Long> all = new LinkedHashMap<>();
    for (Counter c : Counter.values()) {
      all.put(name(c), get(c));
    }
    for (DropReason r : DropReason.values()) {
      all.put("drop." + name(r), dropped(r));
    }
    return all;
  }

  private static String name(Enum<?> e) {
    return e.name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
  }
}
