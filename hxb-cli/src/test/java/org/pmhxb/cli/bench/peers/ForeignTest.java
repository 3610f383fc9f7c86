package org.pmhxb.cli.bench.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ForeignTest {
  @TempDir private Path directory;

  @Test
  void nothingOutlivesARun() throws Exception {
    Foreign.Running server;
    Path scratch;
    try (Foreign programs = new Foreign(directory, directory, null)) {
      scratch = programs.scratch();
      Files.writeString(Files.createDirectory(scratch.resolve("dpdk")).resolve("config"), "left");
      server =
          programs.onB(PeerSite.local(), Map.of(), List.of("sh", "-c", "sleep 60 & echo up; wait"));
      Foreign.Running client =
          programs.onA(
              PeerSite.local(), Map.of("WORD", "there"), List.of("sh", "-c", "echo $WORD"));
      assertThat(programs.await(client, 10)).isEqualTo("there\n");
    }
    assertThat(server.process().isAlive()).isFalse();
    assertThat(server.process().descendants()).isEmpty();
    assertThat(directory).isEmptyDirectory();
    assertThat(scratch).doesNotExist();
  }

  @Test
  void aFailureHoldsWhatTheProgramSaid() throws Exception {
    try (Foreign programs = new Foreign(directory, directory, null)) {
      Foreign.Running client =
          programs.onA(PeerSite.local(), Map.of(), List.of("sh", "-c", "echo no route; exit 3"));
      assertThatThrownBy(() -> programs.await(client, 10))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("ended with 3")
          .hasMessageContaining("no route");
      Foreign.Running slow = programs.onA(PeerSite.local(), Map.of(), List.of("sleep", "60"));
      assertThatThrownBy(() -> programs.await(slow, 0)).hasMessageContaining("has not ended");
    }
  }
}
