package org.pmhxb.cli.bench.mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.veth.LinkRate;

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

  @Test
  void theTimeThatAllOfItTakesGrowsWithWhatIsSent() {
    LinkRate rate = LinkRate.parse("8mbit");
    // At 1 MB a second; half as much again is the warm-up.
    MpiSizes few = new MpiSizes(1_000, 1_000_000, 2, 100);
    double pings = 3e-6 * 100 * 8 + 3e-6 * 100 * 1_000 + 3e-6 * 10 * 1_000_000;
    double streams = 1.5e-6 * 2_000 * 1_000 + 2 * 1.5e-6 * 40 * 1_000_000;
    assertThat(few.secondsOverOneLink(1, rate)).isCloseTo(pings + streams, within(0.01));
    assertThat(new MpiSizes(1_000, 1_000_000, 60, 100).secondsOverOneLink(1, rate))
        .isGreaterThan(300);
  }
}
