package org.pmhxb.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.pmhxb.cli.UserErrorException;

class ClusterPathsTest {
  @TempDir private Path folder;

  @Test
  void aClustersDirectoryGoesAndWithTheLastOneItsRoot() throws IOException {
    ClusterPaths first = new ClusterPaths(folder.resolve("run"), "first");
    ClusterPaths second = new ClusterPaths(folder.resolve("run"), "second");
    first.claim();
    second.claim();
    Files.writeString(first.state(), "{}");

    first.delete();
    assertThat(first.directory()).doesNotExist();
    assertThat(second.directory()).exists();
    second.delete();
    assertThat(folder.resolve("run")).doesNotExist();
  }

  @Test
  void aRootThatWasThereStaysAlsoByALink() throws IOException {
    Path real = Files.createDirectory(folder.resolve("real"));
    Path link = Files.createSymbolicLink(folder.resolve("link"), real);
    for (int life = 0; life < 2; life++) {
      ClusterPaths paths = new ClusterPaths(link, "main");
      paths.claim();
      paths.delete();
      assertThat(real).isEmptyDirectory();
    }
    Files.delete(real);
    assertThatThrownBy(() -> new ClusterPaths(link, "main").claim())
        .isInstanceOf(UserErrorException.class)
        .hasMessage(link + " is no directory, nor a link to one; choose another --run-dir");
  }

  @Test
  void whatNoClusterMadeStays() throws IOException {
    Path file = Files.writeString(folder.resolve("passwd"), "root");
    Path own = Files.createDirectory(folder.resolve("docs"));
    Path page = Files.writeString(own.resolve("page"), "text");
    Path empty = Files.createDirectory(folder.resolve("empty"));

    new ClusterPaths(file, "main").delete();
    new ClusterPaths(empty, "main").delete();
    ClusterPaths docs = new ClusterPaths(folder, "docs");
    ClusterPaths passwd = new ClusterPaths(folder, "passwd");
    for (ClusterPaths paths : List.of(docs, passwd)) {
      assertThatThrownBy(() -> ClusterRemover.remove(paths))
          .isInstanceOf(UserErrorException.class)
          .hasMessageStartingWith(paths.directory() + " is not a cluster's")
          .hasMessageContaining("--run-dir");
    }

    assertThat(file).hasContent("root");
    assertThat(page).hasContent("text");
    assertThat(empty).exists();
  }

  @Test
  void whatIsThereIsNotClaimed() throws IOException {
    Path file = Files.writeString(folder.resolve("passwd"), "root");
    ClusterPaths paths = new ClusterPaths(folder, "main");
    paths.claim();

    assertThatThrownBy(paths::claim)
        .isInstanceOf(UserErrorException.class)
        .hasMessageContaining("hxb down --run-dir " + folder);
    assertThatThrownBy(() -> new ClusterPaths(file, "main").claim())
        .isInstanceOf(UserErrorException.class)
        .hasMessage(file + " is no directory, nor a link to one; choose another --run-dir");
  }

  /** Left by one who was killed before it was marked. */
  @Test
  void anEmptyDirectoryGoes() throws IOException {
    ClusterPaths paths = new ClusterPaths(folder, "main");
    Files.createDirectory(paths.directory());

    paths.delete();
    assertThat(paths.directory()).doesNotExist();
  }

  /** A hint that is typed as it stands must mean this very cluster. */
  @Test
  void hintsNameTheClusterUnlessItIsTheDefault() {
    Path root = Path.of(ClusterPaths.DEFAULT_ROOT);
    assertThat(new ClusterPaths(root, "main").command("down")).isEqualTo("hxb down");
    assertThat(new ClusterPaths(root, "a1").command("down")).isEqualTo("hxb down --cluster a1");
    assertThat(new ClusterPaths(Path.of("/tmp/r"), "a1").command("status"))
        .isEqualTo("hxb status --cluster a1 --run-dir /tmp/r");
    assertThat(new ClusterPaths(Path.of("/tmp/it's a folder"), "main").command("down"))
        .isEqualTo("hxb down --run-dir '/tmp/it'\\''s a folder'");
  }
}
