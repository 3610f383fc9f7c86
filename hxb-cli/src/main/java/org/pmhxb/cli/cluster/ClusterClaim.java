package org.pmhxb.cli.cluster;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.pmhxb.cli.UserErrorException;
import org.pmhxb.cli.veth.VethFabric;

/**
 * Takes a cluster's name for the command that brings it up, and clears away first what an earlier
 * one left that was killed. Close it when the nodes run, by which others find them, or when nothing
 * of the cluster is left.
 */
public final class ClusterClaim implements AutoCloseable {
  /** Null: it needs none. */
  private final NameLock lock;

  private ClusterClaim(NameLock lock) {
    this.lock = lock;
  }

  /**
   * Makes the cluster's directory. Where a command is at work on a cluster of that name, or any of
   * its processes runs, nothing is touched.
   *
   * @param needsNamespaces it will have network namespaces: those go by the cluster's name alone,
   *     whatever its directory
   * @param progress takes lines for people
   * @throws UserErrorException the name is taken; the message says by whom and how to go on
   */
  public static ClusterClaim take(
      ClusterPaths paths, boolean needsNamespaces, Consumer<String> progress) throws IOException {
    if (!needsNamespaces) {
      claim(paths, false, progress);
      return new ClusterClaim(null);
    }
    Optional<NameLock> lock = NameLock.take(paths.cluster());
    if (lock.isEmpty()) {
      refuseWhatRuns(paths, true); // which knows more
      throw new UserErrorException(
          "network namespaces of a cluster \""
              + paths.cluster()
              + "\" are being made or removed by another command; wait for that, or name another with"
              + " --cluster");
    }
    try {
      claim(paths, true, progress);
    } catch (IOException | RuntimeException e) {
      lock.get().close();
      throw e;
    }
    return new ClusterClaim(lock.get());
  }

  /** Lets other commands make namespaces of that name. */
  @Override
  public void close() {
    if (lock != null) {
      lock.close();
    }
  }

  private static void claim(ClusterPaths paths, boolean needsNamespaces, Consumer<String> progress)
      throws IOException {
    refuseWhatRuns(paths, needsNamespaces);
    boolean namespaces = needsNamespaces && !VethFabric.namespaces(paths.cluster()).isEmpty();
    if (paths.isMarked() || namespaces) {
      progress.accept("removing what is left of an earlier cluster \"" + paths.cluster() + "\"");
      ClusterRemover.remove(paths);
    }
    paths.claim();
  }

  private static void refuseWhatRuns(ClusterPaths paths, boolean needsNamespaces)
      throws IOException {
    String cluster = "cluster \"" + paths.cluster() + "\"";
    List<Long> running = NodeProcesses.find(paths);
    if (!running.isEmpty()) {
      throw new UserErrorException(
          cluster
              + " runs already (processes "
              + running
              + "); end it with "
              + paths.command("down")
              + ", or name another with --cluster");
    }
    Optional<Long> maker = paths.runningMaker();
    if (maker.isPresent()) {
      throw new UserErrorException(
          cluster
              + " is being brought up or taken down by process "
              + maker.get()
              + "; wait for that, or name another with --cluster");
    }
    List<Long> elsewhere = needsNamespaces ? NodeProcesses.elsewhere(paths) : List.of();
    if (!elsewhere.isEmpty()) {
      throw new UserErrorException(
          "the network namespaces of a "
              + cluster
              + " are those of processes "
              + elsewhere
              + ", which were started with another --run-dir; name another with --cluster");
    }
  }
}
