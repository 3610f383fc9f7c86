package org.pmhxb.pm;

/**
 * Who takes part in collective operations on a node: hears of COLLECTIVE frames and of peers. All
 * calls are the poll thread's: be brief, never block, allocate nothing. What it throws, the duty
 * cycle throws at its end.
 */
public interface CollectiveHandler {
  /**
   * A COLLECTIVE frame of a live session (PROTOCOL.md section 3.1). It may be a duplicate, and
   * frames may overtake one another.
   *
   * @param source its first sender
   * @param line whether it went to everyone on a line
   */
  void onCollective(int source, boolean line, long word0, long word1, long word2);

  /** A session with {@code node} ended, or none came about within the peer timeout. */
  void onPeerDown(int node, DownReason reason);

  /**
   * Its part of a duty cycle, after what arrived was handed over and before frames leave.
   *
   * @return work done; 0 = nothing
   */
  int doWork(long nowNs);

  /** The latest moment at which {@link #doWork} has to be called if nothing arrives. */
  long nextDeadlineNs(long nowNs);
}
