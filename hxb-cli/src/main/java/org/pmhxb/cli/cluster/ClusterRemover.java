package org.pmhxb.cli.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;
import org.pmhxb.cli.veth.VethFabric;

/** Takes a cluster down, or what a crash of anything left of it. May be repeated. */
public final class ClusterRemover {
  private ClusterRemover() {}

  /**
   * What was there.
   *
   * @param processes ended
   * @param namespaces removed
   * @param directory whether there was a directory
   * @param leftovers what remains because it is not the cluster's own, for people
   */
  public record Removed(int processes, int namespaces, boolean directory, List<String> leftovers) {}

  /** Ends the nodes' processes; namespaces and links stay. */
  public static void endNodes(ClusterPaths paths) throws IOException {
    NodeProcesses.end(paths);
  }

  /**
   * {@link #remove} for who made the cluster and fails: not where another command has made one of
   * that name since, when hxb down had removed the first.
   */
  public static void removeOwn(ClusterPaths paths) throws IOException {
    if (!paths.isOfAnother()) {
      remove(paths);
    }
  }

  /**
   * Ends the processes first: a namespace lives on as long as a process is in it. Namespaces in
   * which nodes of another run directory live, or are about to, stay: their cluster has the same
   * name.
   *
   * @throws IllegalStateException when something of the cluster is left all the same
   * @throws org.pmhxb.cli.UserErrorException the cluster's directory is not one; nothing is touched
   */
  public static Removed remove(ClusterPaths paths) throws IOException {
    paths.requireOwn();
    int processes = NodeProcesses.end(paths);
    int namespaces = VethFabric.namespaces(paths.cluster()).size();
    List<String> leftovers = List.of();
    if (namespaces > 0 || NameLock.isThere(paths.cluster())) {
      Optional<NameLock> lock = NameLock.take(paths.cluster());
      try {
        if (lock.isPresent() && lock.get().isDenied()) {
          // Another user's, whose cluster has the same name: ours has none.
          leftovers = namespaces > 0 ? List.of(notOurs(paths.cluster())) : List.of();
          namespaces = 0;
        } else if (areOurs(paths, lock.isPresent())) {
          leftovers =
              VethFabric.remove(paths.cluster()).stream()
                  .map(VethFabric.Leftover::toString)
                  .toList();
        } else {
          namespaces = 0;
        }
      } finally {
        lock.ifPresent(NameLock::close);
      }
    }
    boolean directory = Files.exists(paths.directory());
    paths.delete();
    return new Removed(processes, namespaces, directory, leftovers);
  }

  private static String notOurs(String cluster) {
    return "the network namespaces of a cluster \""
        + cluster
        + "\", which are not this user's to remove; as root: hxb down --cluster "
        + cluster;
  }

  /** Another command at work on the name may be the one that made this directory. */
  private static boolean areOurs(ClusterPaths paths, boolean locked) throws IOException {
    return (locked || paths.runningMaker().isPresent()) && NodeProcesses.elsewhere(paths).isEmpty();
  }
}
