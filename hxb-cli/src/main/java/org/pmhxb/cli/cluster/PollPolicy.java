package org.pmhxb.cli.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.pmhxb.router.HxbConfig;

/**
 * How the poll threads of a cluster's nodes behave.
 *
 * @param idle what they do when a round found nothing
 * @param pinned whether the poll threads are bound to processors, in turn: two spinning ones must
 *     not meet on one
 * @param shared nodes that share a process and its poll thread; all others have one each
 */
public record PollPolicy(HxbConfig.Idle idle, boolean pinned, List<SortedSet<Integer>> shared) {
  /** Spins, yields, then sleeps; the kernel places the threads. */
  public static final PollPolicy DEFAULT = new PollPolicy(HxbConfig.Idle.BACKOFF, false);

  /** A process for each node. */
  public PollPolicy(HxbConfig.Idle idle, boolean pinned) {
    this(idle, pinned, List.of());
  }

  /**
   * Spinning on a processor for each of so many processes where there are enough; else asleep as
   * soon as there is nothing to do, so that who has something finds a processor.
   */
  public static PollPolicy suiting(int nodes) {
    return nodes <= Runtime.getRuntime().availableProcessors()
        ? new PollPolicy(HxbConfig.Idle.SPIN, true)
        : new PollPolicy(HxbConfig.Idle.PARK, false);
  }

  /** The same with nodes that share a process. */
  public PollPolicy sharing(List<SortedSet<Integer>> nodes) {
    return new PollPolicy(idle, pinned, List.copyOf(nodes));
  }

  /** The nodes of each process, those that share one first. */
  List<SortedSet<Integer>> processes(int nodes) {
    List<SortedSet<Integer>> all = new ArrayList<>(shared);
    for (int node = 0; node < nodes; node++) {
      int alone = node;
      if (shared.stream().noneMatch(set -> set.contains(alone))) {
        all.add(new TreeSet<>(Set.of(node)));
      }
    }
    return all;
  }

  /** Processor for the poll thread of a node's process, or -1. */
  int cpu(int node, int nodes) {
    return pinned ? cpu(node, nodes, UsableCpus.here()) : -1;
  }

  /** Of these: each process has its turn. */
  int cpu(int node, int nodes, UsableCpus cpus) {
    List<SortedSet<Integer>> all = processes(nodes);
    int process = 0;
    while (!all.get(process).contains(node)) {
      process++;
    }
    return cpus.inTurn(process);
  }
}
