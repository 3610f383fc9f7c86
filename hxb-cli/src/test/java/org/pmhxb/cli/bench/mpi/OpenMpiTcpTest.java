package org.pmhxb.cli.bench.mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.pmhxb.cli.cluster.ClusterPaths;

class OpenMpiTcpTest {
  @TempDir private Path dir;

  /** As mpirun's daemons did once their links were gone. */
  @Test
  void whatDoesNotEndIsEndedWithAllThatItStarted() throws Exception {
    ClusterPaths paths = new ClusterPaths(dir, "ompi");
    Files.createDirectories(paths.directory());
    Path child = dir.resolve("child");
    String waits = "while :; do sleep 0.05; done";
    String script = "(trap '' TERM; echo $$ >>%s; sh -c 'echo $PPID' >>%s; %s) & %s";
    List<String> command =
        List.of("sh", "-c", script.formatted(child, child, waits, waits), "its last word");
    assertThatThrownBy(() -> new OpenMpiTcp(paths).exec(command, Duration.ofSeconds(1)))
        .hasMessageContaining("its last word has not ended after 1 s");
    assertThat(Files.readAllLines(child)).hasSize(2);
    for (String pid : Files.readAllLines(child)) {
      // A zombie, which nobody asks how it ended, has no command line.
      assertThat(ProcessHandle.of(Long.parseLong(pid)).flatMap(p -> p.info().commandLine()))
          .isEmpty();
    }
  }
}
