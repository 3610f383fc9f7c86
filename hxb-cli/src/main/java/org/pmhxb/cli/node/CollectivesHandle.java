package org.pmhxb.cli.node;

import java.util.concurrent.TimeoutException;

/** A node's place in a group of all, as the command line uses it. Owner: one thread. */
public interface CollectivesHandle extends AutoCloseable {
  /**
   * Repeats a collective; every node at the same time, with the same order.
   *
   * @throws IllegalStateException the last result was wrong
   * @throws TimeoutException it took more than {@code limitMs}
   */
  CollectiveTimes run(CollectiveOrder order, long limitMs)
      throws InterruptedException, TimeoutException;

  @Override
  void close();
}
