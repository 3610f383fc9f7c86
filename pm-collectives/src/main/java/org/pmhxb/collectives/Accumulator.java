package org.pmhxb.collectives;

import java.util.Map;
import java.util.TreeMap;

/**
 * A reduction's vector as it grows at one rank: the rank's input at first, memory of its own where
 * something was combined into it. Spares the copy of the input, and the algorithm the difference.
 * For use while a plan is made.
 */
public final class Accumulator implements Span {
  private final PlanBuilder plan;
  private final Area area;

  /** Where the vector begins in the area; -1 as long as scratch memory was not needed. */
  private long base;

  /** Ranges that are in {@link #area}: from where to where, apart from each other. */
  private final TreeMap<Long, Long> moved = new TreeMap<>();

  /**
   * The vector of this rank: it ends up in the output where the rank has one, and in scratch memory
   * elsewhere.
   */
  public Accumulator(PlanBuilder plan) {
    this.plan = plan;
    boolean output = plan.problem().outputBytes() > 0;
    this.area = output ? Area.OUTPUT : Area.SCRATCH;
    this.base = output ? 0 : -1;
  }

  private long at(long offset) {
    if (base < 0) {
      base = plan.scratch(plan.problem().blockBytes());
    }
    return base + offset;
  }

  /** Receives a range and combines it with what is there. */
  public void combine(int fromRank, long offset, long bytes) {
    if (bytes == 0) {
      return;
    }
    if (isInput(offset, bytes)) {
      plan.combine(fromRank, Area.INPUT, offset, area, at(offset), bytes);
    } else {
      move(offset, bytes);
      plan.combine(fromRank, area, at(offset), area, at(offset), bytes);
    }
    mark(offset, bytes);
  }

  @Override
  public void receive(int fromRank, long offset, long bytes) {
    if (bytes > 0) {
      plan.receive(fromRank, area, at(offset), bytes);
      mark(offset, bytes);
    }
  }

  @Override
  public void send(int toRank, long offset, long bytes) {
    if (bytes == 0) {
      return;
    }
    if (isInput(offset, bytes)) {
      plan.send(toRank, Area.INPUT, offset, bytes);
    } else {
      move(offset, bytes);
      plan.send(toRank, area, at(offset), bytes);
    }
  }

  /** Puts all of it into the output: where nothing was combined, the input is copied. */
  public void finish() {
    move(0, plan.problem().blockBytes());
  }

  /** Nothing of a range was changed yet. */
  private boolean isInput(long offset, long bytes) {
    Map.Entry<Long, Long> before = moved.lowerEntry(offset + bytes);
    return before == null || before.getValue() <= offset;
  }

  /** Copies what of a range is still in the input only. */
  private void move(long offset, long bytes) {
    long at = offset;
    while (at < offset + bytes) {
      Map.Entry<Long, Long> here = moved.floorEntry(at);
      if (here != null && here.getValue() > at) {
        at = here.getValue();
        continue;
      }
      Long next = moved.higherKey(at);
      long end = next == null ? offset + bytes : Math.min(next, offset + bytes);
      plan.copy(Area.INPUT, at, area, at(at), end - at);
      mark(at, end - at);
      at = end;
    }
  }

  private void mark(long offset, long bytes) {
    long from = offset;
    long to = offset + bytes;
    Map.Entry<Long, Long> before = moved.floorEntry(from);
    if (before != null && before.getValue() >= from) {
      from = before.getKey();
      to = Math.max(to, before.getValue());
    }
    for (Map.Entry<Long, Long> next = moved.ceilingEntry(from);
        next != null && next.getKey() <= to;
        next = moved.ceilingEntry(from)) {
      to = Math.max(to, next.getValue());
      moved.remove(next.getKey());
    }
    moved.put(from, to);
  }
}
