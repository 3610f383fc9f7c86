package org.pmhxb.collectives.barrier;

/** What one barrier of one node sent. Written by the poll thread; read it from there, or idle. */
public final class BarrierCounts {
  long barriers;
  long arrivals;
  long asks;
  long answers;
  long brokenSent;
  long ignored;

  /** Barriers that were left. */
  public long barriers() {
    return barriers;
  }

  /** ARRIVEs of the algorithm: without loss all that is sent. One to a line counts as one. */
  public long arrivals() {
    return arrivals;
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

  /** ARRIVEs that were late copies, or of no step of this node. */
  public long ignored() {
    return ignored;
  }
}
