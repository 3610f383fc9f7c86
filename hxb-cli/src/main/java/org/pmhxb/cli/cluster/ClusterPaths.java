package org.pmhxb.cli.cluster;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.pmhxb.cli.FailureMessage;
import org.pmhxb.cli.UserErrorException;
import org.pmhxb.cli.Words;
import org.pmhxb.cli.process.DirectoryTree;
import org.pmhxb.cli.veth.FabricPlan;

/**
 * Where a cluster keeps its files: one directory per cluster, which exists exactly as long as the
 * cluster or its remains do.
 */
public record ClusterPaths(Path root, String cluster) {
  /** The usual root: emptied at every start of the machine. */
  public static final String DEFAULT_ROOT = "/run/hxb";

  /** In each cluster's directory: tells it from a user's own, and who made it. */
  private static final String MARK = "hxb-cluster";

  /** In a root that a command made, which goes with its last cluster; one without it stays. */
  private static final String ROOT_MARK = ".hxb-root";

  private static final int CLAIM_TRIES = 10;

  /** The cluster's name when none is given. */
  public static final String DEFAULT_CLUSTER = "main";

  public ClusterPaths {
    root = real(root.toAbsolutePath().normalize());
    FabricPlan.requireClusterName(cluster);
  }

  /** One name for one folder, also of one that is to be made: processes are found by it. */
  private static Path real(Path path) {
    for (Path there = path; there != null; there = there.getParent()) {
      try {
        return there.toRealPath().resolve(there.relativize(path)).normalize();
      } catch (IOException _) {
        // Not there, or not to be looked at: from further above.
      }
    }
    return path;
  }

  /** A command for this very cluster, as in {@code hxb down --cluster a}: what a hint names. */
  public String command(String verb) {
    StringBuilder text = new StringBuilder("hxb ").append(verb);
    if (!cluster.equals(DEFAULT_CLUSTER)) {
      text.append(" --cluster ").append(cluster);
    }
    if (!root.equals(Path.of(DEFAULT_ROOT))) {
      text.append(" --run-dir ").append(Words.forShell(root.toString()));
    }
    return text.toString();
  }

  /** What starts a rank on this machine that another launcher numbers; ranks are found by it. */
  public List<String> rankArguments() {
    return List.of("mpirank", "--local", "--cluster", cluster, "--run-dir", root.toString());
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

  /**
   * Makes the directory, and marks it as a cluster's and this process's. Of several commands at a
   * time one succeeds. Commands take it by {@link ClusterClaim}.
   *
   * @throws UserErrorException the directory is there already, or the root is none, or not ours
   */
  void claim() throws IOException {
    for (int i = 1; ; i++) {
      try {
        claimOnce();
        return;
      } catch (NoSuchFileException e) {
        // The last cluster of the root has just gone, and the root with it.
        if (i == CLAIM_TRIES) {
          throw notWritten(directory(), FailureMessage.reason(e), e);
        }
      }
    }
  }

  private void claimOnce() throws IOException {
    boolean isThere = Files.exists(root, LinkOption.NOFOLLOW_LINKS);
    if (isThere && !Files.isDirectory(root)) {
      if (!Files.exists(root, LinkOption.NOFOLLOW_LINKS)) {
        throw new NoSuchFileException(root.toString()); // it has just gone
      }
      throw new UserErrorException(
          root + " is no directory, nor a link to one; choose another --run-dir");
    }
    try {
      Files.createDirectories(root);
      if (!isThere) {
        Files.writeString(root.resolve(ROOT_MARK), "");
      }
      Files.createDirectory(
          directory(),
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    } catch (AccessDeniedException e) {
      throw new UserErrorException(
          root
              + " cannot be made or written: permission denied; run hxb as root, or name a folder"
              + " that you can write with --run-dir",
          e);
    } catch (FileAlreadyExistsException e) {
      if (!Files.exists(directory(), LinkOption.NOFOLLOW_LINKS)) {
        throw new NoSuchFileException(root.toString()); // it was there, and then it was not
      }
      throw new UserErrorException(
          directory()
              + " exists: a cluster \""
              + cluster
              + "\" is there, or is being brought up; name another with --cluster, or remove it"
              + " with: "
              + command("down"),
          e);
    } catch (NoSuchFileException e) {
      throw e;
    } catch (FileSystemException e) {
      throw notWritten(directory(), FailureMessage.reason(e), e);
    }
    long self = ProcessHandle.current().pid();
    Path mark = directory().resolve(MARK);
    try {
      write(mark, self + " " + NodeProcesses.startTicks(self) + "\n");
    } catch (IOException | RuntimeException e) {
      Files.deleteIfExists(mark);
      Files.deleteIfExists(directory());
      throw e;
    }
  }

  /**
   * Writes a file of the cluster.
   *
   * @throws UserErrorException it cannot be written, as on a full disk; the JDK's exception of a
   *     write names no file
   */
  public static void write(Path file, String text) throws IOException {
    try {
      Files.writeString(file, text);
    } catch (FileSystemException e) {
      throw notWritten(file, FailureMessage.reason(e), e);
    } catch (IOException e) {
      throw notWritten(file, e.getMessage(), e);
    }
  }

  private static UserErrorException notWritten(Path file, String why, IOException cause) {
    return new UserErrorException(
        "%s cannot be written: %s; make room or mend it there, or name another folder with --run-dir"
            .formatted(file, why),
        cause);
  }

  /** Its directory is there, and says who made it. */
  boolean isMarked() {
    return maker().isPresent();
  }

  /** Whether another command made the directory that is there now, running or not. */
  boolean isOfAnother() {
    long self = ProcessHandle.current().pid();
    Maker own = new Maker(self, NodeProcesses.startTicks(self));
    return maker().filter(maker -> !maker.equals(own)).isPresent();
  }

  /** The process of another command that made the directory and has not ended. */
  Optional<Long> runningMaker() {
    return maker()
        .filter(maker -> maker.pid() != ProcessHandle.current().pid())
        .filter(maker -> NodeProcesses.isRunning(maker.pid(), maker.startTicks()))
        .map(Maker::pid);
  }

  /** The process that made the directory. */
  private record Maker(long pid, long startTicks) {}

  private Optional<Maker> maker() {
    try {
      String[] words = Files.readString(directory().resolve(MARK)).strip().split(" ");
      return words.length == 2
          ? Optional.of(new Maker(Long.parseLong(words[0]), Long.parseLong(words[1])))
          : Optional.empty();
    } catch (IOException | NumberFormatException e) {
      return Optional.empty(); // it says nothing, or it is not for us to read
    }
  }

  /**
   * Refuses a directory that no cluster made: {@code --run-dir} and {@code --cluster} may name
   * anything, and what they name is removed with all that is in it.
   *
   * @throws UserErrorException it is not empty and lacks the mark
   */
  void requireOwn() throws IOException {
    if (!Files.exists(directory(), LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    if (Files.isDirectory(directory(), LinkOption.NOFOLLOW_LINKS)) {
      try (Stream<Path> files = Files.list(directory())) {
        // One that was killed between the directory and its mark left it empty.
        if (Files.exists(directory().resolve(MARK)) || files.findAny().isEmpty()) {
          return;
        }
      }
    }
    throw new UserErrorException(
        directory()
            + " is not a cluster's: no hxb up made it, it lacks the file "
            + MARK
            + "; nothing was removed; name another --cluster or --run-dir");
  }

  /**
   * Removes the directory, if there is one, and then the root when a command made it and no other
   * cluster is left.
   *
   * @throws UserErrorException it is not a cluster's
   */
  void delete() throws IOException {
    requireOwn();
    if (!Files.exists(directory(), LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    Path mark = directory().resolve(MARK);
    List<Path> files;
    try (Stream<Path> all = Files.list(directory())) {
      files = all.filter(file -> !file.equals(mark)).toList();
    }
    for (Path file : files) {
      DirectoryTree.delete(file);
    }
    // The mark last: who is killed in between can be called again.
    Files.deleteIfExists(mark);
    Files.deleteIfExists(directory());
    deleteRoot();
  }

  private void deleteRoot() throws IOException {
    Path rootMark = root.resolve(ROOT_MARK);
    try {
      while (isAlone(rootMark)) {
        Files.delete(rootMark);
        try {
          Files.delete(root);
          return;
        } catch (DirectoryNotEmptyException e) {
          Files.writeString(rootMark, ""); // of a cluster that has just come, and goes perhaps
        }
      }
    } catch (FileSystemException _) {
      // Another command has removed it; or it lies in a folder that we cannot write.
    }
  }

  private boolean isAlone(Path rootMark) throws IOException {
    try (Stream<Path> files = Files.list(root)) {
      return files.toList().equals(List.of(rootMark));
    }
  }
}
