package org.pmhxb.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.cli.UserErrorException;

class ClusterStateTest {
  @TempDir private Path folder;

  private ClusterPaths written(byte[] text) throws IOException {
    ClusterPaths paths = new ClusterPaths(folder, "main");
    Files.createDirectory(paths.directory());
    Files.write(paths.state(), text);
    return paths;
  }

  /** /dev/full is a disk without room. */
  @Test
  void onAFullDiskTheFileAndTheMendAreNamed() throws IOException {
    ClusterPaths paths = new ClusterPaths(folder, "main");
    Files.createDirectory(paths.directory());
    Path fresh = paths.directory().resolve("state.json.new");
    Files.createSymbolicLink(fresh, Path.of("/dev/full"));
    ClusterState state = new ClusterState("main", "shm", "2", 1, "", "", List.of());

    assertThatThrownBy(() -> state.write(paths))
        .isInstanceOf(UserErrorException.class)
        .hasMessage(
            "%s cannot be written: No space left on device; make room or mend it there, or name another folder with --run-dir",
            fresh);
    assertThat(paths.state()).doesNotExist();
  }

  /** As a crash of the machine, another version or a stranger may leave it. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "null",
        "[]",
        "{}",
        "{\"cluster\":",
        "\u00ff\u00fe",
        "{'cluster':'main','fabric':'shm','shape':'2','rails':1,'startedAt':'','nodes':[]}",
        "{'cluster':'main','fabric':'shm','shape':'2','rails':1,'rate':'','startedAt':'',"
            + "'nodes':[null]}",
        "{'cluster':'main','fabric':'shm','shape':'2','rails':1,'rate':'','startedAt':'',"
            + "'nodes':[{'node':0,'pid':1}]}"
      })
  void whatIsNoStateSaysHowToGoOn(String text) throws IOException {
    ClusterPaths paths = written(text.replace('\'', '"').getBytes(StandardCharsets.ISO_8859_1));

    assertThatThrownBy(() -> ClusterState.read(paths))
        .isInstanceOf(UserErrorException.class)
        .hasMessageStartingWith(paths.state() + " is damaged (")
        .hasMessageEndingWith("; this removes the cluster: " + paths.command("down"));
  }

  /** A newer one may say more. */
  @Test
  void whatIsMoreIsPassedOver() throws IOException {
    ClusterPaths paths = written(new byte[0]);
    ClusterState state = new ClusterState("main", "shm", "2", 1, "", "", List.of());
    state.write(paths);
    Files.writeString(
        paths.state(), Files.readString(paths.state()).replaceFirst("\\{", "{\"more\":1,"));

    assertThat(ClusterState.read(paths)).contains(state);
  }
}
