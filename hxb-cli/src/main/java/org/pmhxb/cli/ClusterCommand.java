package org.pmhxb.cli;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Path;
import java.util.Optional;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.cluster.ClusterState;
import picocli.CommandLine.Option;

/** What the commands share that deal with a cluster of processes on this machine. */
abstract class ClusterCommand extends HxbCommand {
  @Option(
      names = "--cluster",
      paramLabel = "NAME",
      defaultValue = ClusterPaths.DEFAULT_CLUSTER,
      description = "Name of the cluster: a letter, then up to 11 letters or digits; lower case.")
  private String cluster;

  @Option(
      names = "--run-dir",
      paramLabel = "DIR",
      defaultValue = ClusterPaths.DEFAULT_ROOT,
      description = "Where clusters keep their state, logs and sockets.")
  private Path root;

  private boolean told;
  private boolean saidBeside;

  /** What {@link #up} found, and whether it has looked. */
  private ClusterState found;

  private boolean looked;

  ClusterPaths paths() {
    return paths(cluster);
  }

  ClusterPaths paths(String name) {
    try {
      return new ClusterPaths(root, name);
    } catch (IllegalArgumentException e) {
      throw wrongUsage(e.getMessage());
    }
  }

  /**
   * Of a cluster that this command makes for itself. Says its name, which nobody gave, and how to
   * remove what SIGKILL would leave of it: its nodes end with this process, links and files do not.
   */
  final ClusterPaths ownPaths(String name) throws IOException {
    sayBeside();
    ClusterPaths own = paths(name);
    if (!told) {
      progress().say("cluster " + name + " (should this be killed: " + own.command("down") + ")");
      told = true;
    }
    return own;
  }

  /**
   * Says once that a cluster is up, if one is, and that this command measures another: nobody has
   * to guess which one the figures are of.
   */
  final void sayBeside() throws IOException {
    if (saidBeside) {
      return;
    }
    saidBeside = true;
    up().ifPresent(
            state ->
                progress()
                    .say(
                        "cluster \"%s\" is up (%s, %s) and stays as it is; this runs on one of its own"
                            .formatted(cluster, state.fabric(), state.shape())));
  }

  /**
   * The cluster that is up when it is asked first; none where it is another user's, whose files are
   * not for us to read, which is said once.
   */
  final Optional<ClusterState> up() throws IOException {
    if (!looked) {
      looked = true;
      try {
        found = withNodes().orElse(null);
      } catch (AccessDeniedException e) {
        progress().say("cluster \"%s\" is another user's and stays as it is".formatted(cluster));
      }
    }
    return Optional.ofNullable(found);
  }

  private Optional<ClusterState> withNodes() throws IOException {
    return ClusterState.read(paths()).filter(state -> !state.nodes().isEmpty());
  }

  /** The cluster that is up, or the exception that says how to bring it up. */
  ClusterState running() throws IOException {
    return withNodes()
        .orElseThrow(
            () ->
                new UserErrorException(
                    "no cluster \""
                        + cluster
                        + "\" is up; start one with: "
                        + paths().command("up")
                        + " --shape 2x2x2"));
  }
}
