package org.pmhxb.cli.cluster;

import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.pmhxb.cli.veth.FabricPlan;

/**
 * Where a cluster keeps its files: one directory per cluster, which exists exactly as long as the
 * cluster or its remains do.
 */
public record ClusterPaths(Path root, String cluster) {
  /** The usual root: emptied at every start of the machine. */
  public static final String DEFAULT_ROOT = "/run/hxb";

  /** The cluster's name when none is given. */
  public static final String DEFAULT_CLUSTER = "main";

  public ClusterPaths {
    root = root.toAbsolutePath().normalize();
    FabricPlan.requireClusterName(cluster);
  }

  /** A command for this very cluster, as in {@code hxb down --cluster a}: what a hint names. */
  public String command(String verb) {
    StringBuilder text = new StringBuilder("hxb ").append(verb);
    if (!cluster.equals(DEFAULT_CLUSTER)) {
      text.append(" --cluster ").append(cluster);
    }
    if (!root.equals(Path.of(DEFAULT_ROOT))) {
      text.append(" --run-dir ").append(root);
    }
    return text.toString();
  }

  public Path directory() {
    return root.resolve(cluster);
  }

  public Path state() {
    return directory().resolve("state.json");
  }

  public Path config(int node) {
    return directory().resolve("node-" + node + ".toml");
  }

  public Path log(int node) {
    return directory().resolve("node-" + node + ".log");
  }

  public Path socket(int node) {
    return directory().resolve("node-" + node + ".sock");
  }

  /** Removes the directory and, when no other cluster is left, the root. */
  void delete() throws IOException {
    if (Files.isDirectory(directory())) {
      List<Path> files;
      try (Stream<Path> tree = Files.walk(directory())) {
        files = tree.sorted(Comparator.reverseOrder()).toList();
      }
      for (Path file : files) {
        Files.deleteIfExists(file);
      }
    }
    try {
      Files.deleteIfExists(root);
    } catch (DirectoryNotEmptyException | NoSuchFileException e) {
      // Another cluster's files are there: its own end removes the root.
      assert root != null;
    }
  }
}
