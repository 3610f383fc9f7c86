package org.pmhxb.cli.rehearsal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.pmhxb.cli.process.ProcStat;

class ScratchDirectoryTest {
  private static final long PID = ProcessHandle.current().pid();

  @TempDir private Path root;

  private static long startTicks(long pid) {
    return ProcStat.ofProcess(Path.of("/proc"), pid).orElseThrow().startTicks();
  }

  /** As a process with that number, which began then, has it. */
  private Path left(long pid, long startTicks) throws IOException {
    Path made = root.resolve("hxb-rehearsal-" + pid + "-" + startTicks + "-123");
    Files.createDirectories(made.resolve("cuts"));
    return Files.writeString(made.resolve("cuts").resolve("node-0.toml"), "x").getParent();
  }

  @Test
  void nothingIsLeftOfOneThatIsClosed() throws IOException {
    try (ScratchDirectory scratch = ScratchDirectory.open(root)) {
      Files.createDirectories(scratch.path().resolve("lines/deep"));
      assertThat(scratch.path()).hasParent(root).isDirectoryContaining("glob:**lines");
    }
    assertThat(root).isEmptyDirectory();
  }

  @Test
  void thoseOfProcessesThatAreGoneAreRemoved() throws Exception {
    Process child = new ProcessBuilder("sleep", "60").start();
    Path ofAChild = left(child.pid(), startTicks(child.pid()));
    Path ofAnEarlierOne = left(PID, startTicks(PID) - 1);
    try (ScratchDirectory scratch = ScratchDirectory.open(root)) {
      assertThat(ofAnEarlierOne).doesNotExist();
      assertThat(ofAChild).exists();
    } finally {
      child.destroyForcibly().waitFor();
    }
    ScratchDirectory.open(root).close();
    assertThat(root).isEmptyDirectory();
  }

  @Test
  void thoseOfRunningProcessesAndOtherFilesStay() throws IOException {
    Path own = left(PID, startTicks(PID));
    Path unnamed = Files.createDirectory(root.resolve("hxb-rehearsal-of-mine"));
    Path target = Files.createDirectory(root.resolve("target"));
    Path kept = Files.createFile(target.resolve("kept"));
    Path link = root.resolve("hxb-rehearsal-" + PID + "-1-1");
    Files.createSymbolicLink(link, target);

    ScratchDirectory.open(root).close();

    assertThat(own).exists();
    assertThat(unnamed).exists();
    assertThat(kept).exists();
    try (Stream<Path> all = Files.list(root)) {
      assertThat(all).containsExactlyInAnyOrder(own.getParent(), unnamed, target);
    }
  }
}
