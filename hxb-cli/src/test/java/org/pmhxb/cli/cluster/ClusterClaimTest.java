package org.pmhxb.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.pmhxb.cli.UserErrorException;

/** Without processes and namespaces; with both see {@link ClusterIT}. */
class ClusterClaimTest {
  @TempDir private Path folder;
  private ClusterPaths paths;
  private final List<String> said = new ArrayList<>();

  @BeforeEach
  void aCluster() {
    paths = new ClusterPaths(folder, "main");
  }

  private void take() throws IOException {
    ClusterClaim.take(paths, false, said::add);
  }

  /** Leaves a directory of a process as one that was killed does. */
  private Path leftBy(long pid, long startTicks) throws IOException {
    paths.claim();
    try (var files = Files.list(paths.directory())) {
      Path mark = files.findFirst().orElseThrow();
      Files.writeString(mark, pid + " " + startTicks + "\n");
    }
    return Files.writeString(paths.config(0), "key = \"k\"");
  }

  /** Of any command: those that run a job write no state. */
  @Test
  void whatAKilledCommandLeftIsRemoved() throws Exception {
    Process ended = new ProcessBuilder("true").start();
    ended.waitFor();
    Path file = leftBy(ended.pid(), 1);

    take();
    assertThat(said).containsExactly("removing what is left of an earlier cluster \"main\"");
    assertThat(file).doesNotExist();
    assertThat(paths.directory()).exists();
  }

  /** Its number may have come to somebody else since. */
  @Test
  void aLaterProcessOfTheSameNumberDidNotMakeIt() throws Exception {
    long other = ProcessHandle.current().parent().orElseThrow().pid();
    Path file = leftBy(other, NodeProcesses.startTicks(other) + 1);

    take();
    assertThat(file).doesNotExist();
  }

  @Test
  void whatACommandIsAtWorkOnIsLeftAlone() throws Exception {
    long other = ProcessHandle.current().parent().orElseThrow().pid();
    Path file = leftBy(other, NodeProcesses.startTicks(other));

    assertThatThrownBy(this::take)
        .isInstanceOf(UserErrorException.class)
        .hasMessageContaining("by process " + other)
        .hasMessageContaining("--cluster");
    assertThat(said).isEmpty();
    assertThat(file).exists();
  }

  private Process waiting(String command) throws IOException {
    String file = paths.config(0).toString();
    return new ProcessBuilder("sh", "-c", "read _; :", command, "--config", file).start();
  }

  /** As {@code watch hxb status --config FILE}, which would else be ended with the cluster. */
  @Test
  void whoLooksAtANodesFileIsNoNode() throws Exception {
    Process looks = waiting("status");
    Process node = waiting("node");
    try {
      assertThat(NodeProcesses.find(paths)).containsExactly(node.pid());
    } finally {
      looks.destroyForcibly().waitFor();
      node.destroyForcibly().waitFor();
    }
  }

  /** Whose maker is not known may be one that is about to write it. */
  @Test
  void anUnmarkedDirectoryIsNotTaken() throws Exception {
    Files.createDirectory(paths.directory());
    assertThatThrownBy(this::take)
        .isInstanceOf(UserErrorException.class)
        .hasMessageContaining("hxb down --run-dir " + folder);
    assertThat(paths.directory()).exists();
  }

  @Test
  void aRootThatIsAFileIsNamed() throws Exception {
    Path file = Files.writeString(folder.resolve("passwd"), "root");
    paths = new ClusterPaths(file, "main");
    assertThatThrownBy(this::take)
        .isInstanceOf(UserErrorException.class)
        .hasMessage(file + " is no directory, nor a link to one; choose another --run-dir");
  }
}
