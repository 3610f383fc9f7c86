package org.pmhxb.sim;

/** Something that happens at a point of virtual time. */
@FunctionalInterface
public interface Event {
  /**
   * @param nowNs the virtual time
   */
  void fire(long nowNs);
}
