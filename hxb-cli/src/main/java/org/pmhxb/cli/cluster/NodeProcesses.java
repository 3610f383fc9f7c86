package org.pmhxb.cli.cluster;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongPredicate;
import java.util.function.Predicate;
import org.pmhxb.cli.process.Arguments;
import org.pmhxb.cli.process.ProcStat;

/**
 * Finds and ends the processes of a cluster. A process belongs to it when its command line names a
 * configuration in the cluster's directory, or is a rank's of the cluster; nothing else is ever
 * signalled.
 */
final class NodeProcesses {
  private static final Path PROC = Path.of("/proc");

  /** Commands that are given a node's file, also by way of watch or sudo, and are no node. */
  private static final Set<String> ONLOOKERS = Set.of("status", "doctor");

  static final long GRACE_MS = 3_000;
  private static final long KILL_MS = 5_000;
  private static final long POLL_MS = 10;

  private NodeProcesses() {}

  /** All processes of a cluster, whatever its state file says. */
  static List<Long> find(ClusterPaths paths) throws IOException {
    return all(pid -> belongs(pid, paths));
  }

  private static List<Long> all(LongPredicate wanted) throws IOException {
    List<Long> pids = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(PROC, "[0-9]*")) {
      for (Path entry : entries) {
        long pid = Long.parseLong(entry.getFileName().toString());
        if (wanted.test(pid)) {
          pids.add(pid);
        }
      }
    }
    return pids;
  }

  private static boolean belongs(long pid, ClusterPaths paths) {
    return hasConfig(pid, file -> file.startsWith(paths.directory() + "/node-"))
        || isRank(pid, paths);
  }

  /** Of another launcher's, which may be killed and leave its ranks: each finds its file itself. */
  private static boolean isRank(long pid, ClusterPaths paths) {
    return Collections.indexOfSubList(Arguments.of(pid), paths.rankArguments()) >= 0;
  }

  private static boolean hasConfig(long pid, Predicate<String> wanted) {
    List<String> words = Arguments.of(pid);
    for (int i = 1; i < words.size() && !ONLOOKERS.contains(words.get(i - 1)); i++) {
      if (words.get(i - 1).equals("--config") && wanted.test(words.get(i))) {
        return true;
      }
    }
    return false;
  }

  /**
   * Nodes of a cluster of the same name that another run directory has, in network namespaces:
   * those have the cluster's name alone.
   */
  static List<Long> elsewhere(ClusterPaths paths) throws IOException {
    return all(pid -> hasItsName(pid, paths) && !belongs(pid, paths) && hasOtherNetwork(pid));
  }

  private static boolean hasItsName(long pid, ClusterPaths paths) {
    // Any program may have an option of that name, and what this JVM takes for no path.
    return hasConfig(pid, file -> file.matches("(.*/)?" + paths.cluster() + "/+node-[^/]*"));
  }

  private static boolean hasOtherNetwork(long pid) {
    try {
      return !network(Long.toString(pid)).equals(network("self"));
    } catch (IOException e) {
      return true; // another user's
    }
  }

  private static Path network(String process) throws IOException {
    return Files.readSymbolicLink(PROC.resolve(process).resolve("ns/net"));
  }

  /** Whether the very process still runs that was started as this node. */
  static boolean alive(ClusterState.Node node) {
    return isRunning(node.pid(), node.startTicks());
  }

  static boolean isRunning(long pid, long startTicks) {
    return ProcStat.isRunning(PROC, pid, startTicks);
  }

  /** {@link ProcStat#startTicks()}; 0 when the process has ended. */
  static long startTicks(long pid) {
    return ProcStat.ofProcess(PROC, pid)
        .filter(stat -> !stat.hasEnded())
        .map(ProcStat::startTicks)
        .orElse(0L);
  }

  /**
   * Ends all processes of a cluster: politely, then by force.
   *
   * @return how many there were
   * @throws IllegalStateException when one survives
   */
  static int end(ClusterPaths paths) throws IOException {
    List<Long> pids = find(paths);
    pids.forEach(pid -> signal(pid, false));
    List<Long> left = awaitEnd(pids, paths, GRACE_MS);
    left.forEach(pid -> signal(pid, true));
    left = awaitEnd(left, paths, KILL_MS);
    if (!left.isEmpty()) {
      throw new IllegalStateException(
          "processes "
              + left
              + " of cluster \""
              + paths.cluster()
              + "\" outlive SIGKILL for "
              + KILL_MS
              + " ms; run again: "
              + paths.command("down"));
    }
    return pids.size();
  }

  private static void signal(long pid, boolean forcibly) {
    ProcessHandle.of(pid)
        .ifPresent(
            handle -> {
              // False means that it has just ended, which is what is wanted.
              if (forcibly) {
                handle.destroyForcibly();
              } else {
                handle.destroy();
              }
            });
  }

  /**
   * An interrupt does not shorten it, and is kept: who cleans up must not leave half of it behind.
   */
  private static List<Long> awaitEnd(List<Long> pids, ClusterPaths paths, long limitMs) {
    long deadlineNs = System.nanoTime() + limitMs * 1_000_000;
    boolean interrupted = false;
    List<Long> left = running(pids, paths);
    while (!left.isEmpty() && System.nanoTime() - deadlineNs < 0) {
      LockSupport.parkNanos(POLL_MS * 1_000_000);
      interrupted |= Thread.interrupted();
      left = running(left, paths);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return left;
  }

  private static List<Long> running(List<Long> pids, ClusterPaths paths) {
    return pids.stream().filter(pid -> startTicks(pid) > 0 && belongs(pid, paths)).toList();
  }
}
