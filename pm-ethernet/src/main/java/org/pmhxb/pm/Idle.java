package org.pmhxb.pm;

/** What a thread does when it finds nothing to do. */
@FunctionalInterface
public interface Idle {
  /**
   * @param workCount what the last round achieved; 0 = nothing, so wait a little
   */
  void idle(int workCount);
}
