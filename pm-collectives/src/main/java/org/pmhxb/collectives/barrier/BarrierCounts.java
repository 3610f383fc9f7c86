package org.pmhxb.collectives.barrier;

/** What one barrier of one node sent. Written by the poll thread; read it from there, or idle. */
public final class BarrierCounts {
  long barriers;
  long refused;
  long asks;
  long answers;
  long brokenSent;
  long ignored;

  /** Barriers that were left. */
  public long barriers() {
    return barriers;
  }

  /**
   * ARRIVEs of the algorithm that were not sent, for want of a session, a buffer, room or a route:
   * who misses them asks. One to a line counts as one.
   */
  public long refused() {
    return refused;
  }

  /** Frames beyond those that the algorithm counts: below 0 where it was refused more. */
  public long beyond() {
    return asks + answers - refused;
  }

  /** Questions for what did not come in time. */
  public long asks() {
    return asks;
  }

  /** ARRIVEs sent again because someone asked. */
  public long answers() {
    return answers;
  }

  /** Frames that said that the barrier is broken. */
  public long brokenSent() {
    return brokenSent;
  }

  /**
   * ARRIVEs that were late copies or of no step of this node, and BROKENs from or about no member.
   */
  public long ignored() {
    return ignored;
  }
}
