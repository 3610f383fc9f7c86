package org.pmhxb.cli.process;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * Ends processes with all that they have started. What has left its parent behind, and what is
 * started while the end is under way, is not found.
 */
public final class ProcessTree {
  private static final Path PROC = Path.of("/proc");
  private static final long KILL_MS = 5_000;
  private static final long POLL_NS = 5_000_000;

  private ProcessTree() {}

  /**
   * Waits for a process to end. One that does not in time, or whose waiter is interrupted, is ended
   * by force.
   *
   * @return whether it ended by itself
   */
  public static boolean awaitOrEnd(Process root, Duration limit) throws InterruptedException {
    try {
      return root.waitFor(limit);
    } finally {
      // Of one that has ended nothing is found any more, and to look for it takes milliseconds.
      if (root.isAlive()) {
        end(root);
      }
    }
  }

  /** Ends a process by force; none of it runs any more unless it outlives SIGKILL for 5 s. */
  public static void end(Process root) {
    end(List.of(root), 0);
  }

  /** Ends processes: politely, then by force what still runs after {@code graceMs}. */
  public static void end(List<Process> roots, long graceMs) {
    // Before any is ended: a child whose parent is dead cannot be found any more. Parents first: a
    // script whose command is ended goes on to the next.
    List<ProcessHandle> all =
        roots.stream()
            .map(Process::toHandle)
            .filter(ProcessHandle::isAlive)
            .flatMap(root -> Stream.concat(Stream.of(root), root.descendants()))
            .toList();
    if (graceMs > 0) {
      all.forEach(ProcessHandle::destroy);
      awaitEnd(roots, all, graceMs);
    }
    all.forEach(ProcessHandle::destroyForcibly);
    awaitEnd(roots, all, KILL_MS);
  }

  /** An interrupt does not shorten it, and is kept. */
  static void awaitEnd(List<Process> roots, List<ProcessHandle> all, long limitMs) {
    long deadlineNs = System.nanoTime() + limitMs * 1_000_000;
    boolean interrupted = false;
    while ((roots.stream().anyMatch(Process::isAlive)
            || all.stream().anyMatch(ProcessTree::isRunning))
        && System.nanoTime() - deadlineNs < 0) {
      LockSupport.parkNanos(POLL_NS);
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** A zombie does not: not every first process of a container asks how its orphans ended. */
  private static boolean isRunning(ProcessHandle process) {
    return process.isAlive()
        && ProcStat.ofProcess(PROC, process.pid()).filter(stat -> !stat.hasEnded()).isPresent();
  }
}
