package org.pmhxb.cli.node;

import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/** A node's place in a group of all, as the command line uses it. Owner: one thread. */
public interface CollectivesHandle extends AutoCloseable {
  /**
   * Repeats a collective; every node at the same time, with the same order.
   *
   * @param gone whether nobody waits for it any more
   * @throws IllegalStateException the last result was wrong
   * @throws TimeoutException it took more than {@code limitMs}, or nobody waits
   */
  CollectiveTimes run(CollectiveOrder order, long limitMs, BooleanSupplier gone)
      throws InterruptedException, TimeoutException;

  @Override
  void close();
}
