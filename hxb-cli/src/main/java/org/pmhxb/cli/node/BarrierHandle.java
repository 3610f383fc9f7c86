package org.pmhxb.cli.node;

import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/** A barrier that is open on a node, as the command line uses it. Owner: one thread. */
public interface BarrierHandle extends AutoCloseable {
  /** Most barriers of a run. */
  int COUNT_MAX = 1_000_000_000;

  /** Sessions are up with all nodes that this one exchanges frames with. */
  boolean connected();

  /**
   * Arrives and leaves so many times, as soon as it can.
   *
   * @param count 1 to {@value #COUNT_MAX}
   * @param gone whether nobody waits for them any more
   * @throws TimeoutException they took more than {@code limitMs}, or nobody waits
   */
  BarrierTimes run(int count, long limitMs, BooleanSupplier gone)
      throws InterruptedException, TimeoutException;

  @Override
  void close();
}
