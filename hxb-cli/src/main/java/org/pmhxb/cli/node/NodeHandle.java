package org.pmhxb.cli.node;

import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.pmhxb.cli.workload.MessageLink;
import org.pmhxb.cli.workload.Workload;
import org.pmhxb.cli.workload.WorkloadReport;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.probe.FabricLogp;

/** A running node, as the command line sees it. Safe for use by several threads. */
public interface NodeHandle extends AutoCloseable {
  /** Own node number. */
  int self();

  /** Whether traffic may begin. */
  boolean ready();

  /** What the node knows now. */
  NodeStatus status();

  /**
   * Gives each pairing fault that began since the last call, and each neighbour that went missing,
   * as a line for people. One thread.
   *
   * @return how many
   */
  int reportNewFaults(Consumer<String> listener);

  /** What its log is to speak of. Disturbs no poll thread. */
  NodeWatch.Signs signs();

  /**
   * Opens an endpoint; messages for it are kept, within its credit, until {@link #drive}.
   *
   * @param ownFrames whether what it sends travels in a frame a message, small as it may be
   * @throws IllegalStateException when it is open already
   */
  MessageLink open(int endpoint, boolean ownFrames);

  /**
   * Runs a workload over links of this node until it is done or {@code cancelled}, and returns its
   * report. The workload is called by one thread, not necessarily the caller's.
   *
   * @param cancelled asked by the caller's thread, every 20 ms or more often
   */
  WorkloadReport drive(Workload workload, BooleanSupplier cancelled) throws InterruptedException;

  /**
   * Opens a barrier of all nodes.
   *
   * @throws IllegalStateException when one of that number is open already
   */
  BarrierHandle openBarrier(int number, BarrierSpec spec);

  /**
   * Measures LogP between this node and others, which need a barrier that is or was open.
   *
   * @param count repetitions of each measurement
   * @param gone whether nobody waits for it any more
   * @throws TimeoutException it took more than {@code limitMs}, or nobody waits
   */
  FabricLogp probe(int count, long limitMs, BooleanSupplier gone)
      throws InterruptedException, TimeoutException;

  /**
   * Joins a group of all nodes for collectives.
   *
   * @throws IllegalStateException it is joined already
   */
  CollectivesHandle joinCollectives();

  /** What broke the node; null while it is well. */
  Throwable failure();

  /** Closes sessions, ports and memory. */
  @Override
  void close();
}
