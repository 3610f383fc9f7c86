package org.pmhxb.cli.node;

import java.util.function.BooleanSupplier;
import org.pmhxb.cli.workload.MessageLink;
import org.pmhxb.cli.workload.Workload;

/** A running node, as the command line sees it. Safe for use by several threads. */
public interface NodeHandle extends AutoCloseable {
  /** Own node number. */
  int self();

  /** Whether traffic may begin. */
  boolean ready();

  /** What the node knows now. */
  NodeStatus status();

  /**
   * Opens an endpoint; messages for it are kept, within its credit, until {@link #drive}.
   *
   * @throws IllegalStateException when it is open already
   */
  MessageLink open(int endpoint);

  /**
   * Runs a workload over a link of this node until it is done or {@code cancelled}; returns then.
   * The workload is called by one thread, not necessarily the caller's.
   */
  void drive(MessageLink link, Workload workload, BooleanSupplier cancelled)
      throws InterruptedException;

  /** Closes sessions, ports and memory. */
  @Override
  void close();
}
