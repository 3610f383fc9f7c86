package org.pmhxb.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ClusterPathsTest {
  /** A hint that is typed as it stands must mean this very cluster. */
  @Test
  void hintsNameTheClusterUnlessItIsTheDefault() {
    Path root = Path.of(ClusterPaths.DEFAULT_ROOT);
    assertThat(new ClusterPaths(root, "main").command("down")).isEqualTo("hxb down");
    assertThat(new ClusterPaths(root, "a1").command("down")).isEqualTo("hxb down --cluster a1");
    assertThat(new ClusterPaths(Path.of("/tmp/r"), "a1").command("status"))
        .isEqualTo("hxb status --cluster a1 --run-dir /tmp/r");
  }
}
