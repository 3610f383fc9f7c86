package org.pmhxb.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
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

  /** It is another one's that came when this one had been taken away from who made it. */
  @Test
  void aDirectoryIsAnothersWhoeverThatIs() throws Exception {
    ClusterPaths paths = new ClusterPaths(folder, "main");
    assertThat(paths.isOfAnother()).as("there is none").isFalse();
    paths.claim();
    assertThat(paths.isOfAnother()).isFalse();
    Path mark;
    try (var files = Files.list(paths.directory())) {
      mark = files.findFirst().orElseThrow();
    }
    String own = Files.readString(mark);
    Process ended = new ProcessBuilder("true").start();
    ended.waitFor();
    Files.writeString(mark, ended.pid() + " 1\n");
    assertThat(paths.isOfAnother()).isTrue();
    Files.writeString(mark, own.replaceFirst(" .*", " 1"));
    assertThat(paths.isOfAnother()).as("of an earlier process of this number").isTrue();
  }

  /** It finds the root, which another command then takes away with the root's last cluster. */
  @Test
  void clustersOfOneRootComeAndGo() throws Exception {
    List<Throwable> failed = new CopyOnWriteArrayList<>();
    List<Thread> threads = new ArrayList<>();
    for (String name : List.of("first", "second")) {
      ClusterPaths paths = new ClusterPaths(folder.resolve("run"), name);
      threads.add(
          Thread.startVirtualThread(
              () -> {
                try {
                  for (int i = 0; i < 300; i++) {
                    paths.claim();
                    paths.delete();
                  }
                } catch (IOException | RuntimeException e) {
                  failed.add(e);
                }
              }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(failed).isEmpty();
  }

  @Test
  void ofALongLogTheEndIsRead() throws IOException {
    Path log = folder.resolve("node-0.log");
    try (SeekableByteChannel file =
        Files.newByteChannel(log, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      file.position(3L << 30); // without a byte on the disk
      file.write(ByteBuffer.wrap("\nthe last line\n".getBytes(StandardCharsets.UTF_8)));
    }
    assertThat(ClusterLauncher.logTail(log)).endsWith("\n  the last line");
    assertThat(ClusterLauncher.logTail(Files.writeString(folder.resolve("short"), "one\ntwo\n")))
        .isEqualTo("  one\n  two");
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
