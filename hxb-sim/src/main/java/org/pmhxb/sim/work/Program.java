package org.pmhxb.sim.work;

/**
 * A program on a simulated node, as a state machine: it never blocks. It opens endpoints of its
 * node when it is made. Owner: the simulation's thread, as the node's.
 */
public interface Program {
  /**
   * Goes on as far as possible; called after each of the node's duty cycles.
   *
   * @param nowNs the node's own time
   * @return work done; 0 when it can only wait
   */
  int step(long nowNs);

  /** It has nothing more to send; it may still receive. */
  boolean isDone();

  /** Closes its endpoints, and gives back what it was lent. */
  void close();
}
