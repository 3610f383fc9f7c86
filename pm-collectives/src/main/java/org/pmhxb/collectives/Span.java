package org.pmhxb.collectives;

/**
 * Memory of a plan that patterns of messages move, whatever it is: an area, or a reduction's
 * vector. Offsets count from its beginning.
 */
public interface Span {
  /** Sends a range of it. */
  void send(int toRank, long offset, long bytes);

  /** Receives a range of it, in place of what was there. */
  void receive(int fromRank, long offset, long bytes);

  /** A part of an area. */
  static Span of(PlanBuilder plan, Area area, long base) {
    return new Span() {
      @Override
      public void send(int toRank, long offset, long bytes) {
        plan.send(toRank, area, base + offset, bytes);
      }

      @Override
      public void receive(int fromRank, long offset, long bytes) {
        plan.receive(fromRank, area, base + offset, bytes);
      }
    };
  }
}
