package org.pmhxb.cli.rehearsal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.cluster.ClusterSpec;
import org.pmhxb.cli.cluster.NodeConfigs;
import org.pmhxb.cli.cluster.NodeOptions;
import org.pmhxb.cli.cluster.PollPolicy;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.Shape;

class StageTest {
  private static final Shape PAIR = Shape.of(2);

  @TempDir private Path root;

  private static List<Thread> pollThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("hxb-poll"))
        .toList();
  }

  /** No file can be removed where a directory with something in it is. */
  private static void obstruct(Path socket) throws IOException {
    Files.delete(socket);
    Files.createDirectories(socket.resolve("something"));
  }

  @Test
  void allEndsWhateverSomeOfItThrows() throws Exception {
    ClusterPaths paths = new ClusterPaths(root, "stage");
    Files.createDirectories(paths.directory());
    ClusterSpec spec =
        new ClusterSpec(
            ClusterSpec.Fabric.MEMIF, PAIR, 1, null, PollPolicy.suiting(2), NodeOptions.NONE);
    List<HxbConfig> configs = new ArrayList<>();
    for (int node = 0; node < 2; node++) {
      configs.add(NodeConfigs.of(spec, paths, node));
    }
    Stage stage = new Stage(configs, line -> {});
    assertThat(pollThreads()).hasSize(2);
    obstruct(paths.socket(0));
    obstruct(paths.socket(1));

    assertThatThrownBy(stage::close)
        .isInstanceOf(DirectoryNotEmptyException.class)
        .hasMessageContaining("node-0")
        .satisfies(
            first ->
                assertThat(first.getSuppressed())
                    .singleElement()
                    .satisfies(second -> assertThat(second).hasMessageContaining("node-1")));
    assertThat(pollThreads()).isEmpty();
  }
}
