package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.pmhxb.cli.control.ControlJson;
import org.pmhxb.cli.control.ControlServer;
import org.pmhxb.cli.node.FakeNode;
import org.pmhxb.cli.node.NodeService;
import org.pmhxb.pm.port.PortCounters;
import org.pmhxb.router.Coordinates;
import org.pmhxb.router.Dimension;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.Shape;

/** {@code hxb status} of one node, which {@code hxb up} knows nothing of. */
class NodeStatusTest {
  @TempDir private Path folder;

  private HxbConfig config() {
    return HxbConfig.builder()
        .key("test")
        .shape(Shape.of(2))
        .coordinates(new Coordinates(1, 0, 0))
        .controlSocket(folder.resolve("s").toString())
        .rail(new HxbConfig.Rail(Dimension.X, 0, HxbConfig.Driver.PACKET, "eth1"))
        .build();
  }

  private Path file() throws IOException {
    return Files.writeString(folder.resolve("node.toml"), config().toToml());
  }

  private ControlServer serve(FakeNode node) throws IOException {
    return ControlServer.start(folder.resolve("s"), new NodeService(node)::conversation);
  }

  @Test
  void aNodeIsAskedByItsConfigurationAndByItsSocket() throws IOException {
    FakeNode node = new FakeNode(config(), true);
    node.counters(new PortCounters(10, 1_000, 1, 64, 3, 2, 4));
    try (ControlServer serving = serve(node)) {
      assertThat(serving).isNotNull();
      CommandRun byFile = CommandRun.of("status", "--json", "--config", file().toString());
      CommandRun bySocket =
          CommandRun.of("status", "--json", "--socket", folder.resolve("s").toString());
      assertThat(byFile.code()).as(byFile.err()).isEqualTo(Main.OK);
      assertThat(bySocket.json()).isEqualTo(byFile.json());

      JsonNode json = byFile.json();
      assertThat(json.path("ok").asBoolean()).isTrue();
      assertThat(json.path("socket").asText()).isEqualTo(folder.resolve("s").toString());
      assertThat(json.path("node").asInt()).isEqualTo(1);
      assertThat(json.path("shape").asText()).isEqualTo("2");
      assertThat(json.path("ready").asBoolean()).isTrue();
      assertThat(json.path("version").asText()).isEqualTo("0.fake");
      assertThat(json.path("wire").asText()).isEqualTo("1.0");
      assertThat(json.path("poolPageBytes").asInt()).isEqualTo(4_096);
      assertThat(json.path("counters").path("frames-sent").asInt()).isEqualTo(3);
      assertThat(json.path("peersDown").isArray()).isTrue();
      assertThat(json.path("rails").get(0).path("counters").path("rxDropped").asInt()).isEqualTo(3);

      CommandRun text = CommandRun.of("status", "--config", file().toString());
      assertThat(text.code()).isEqualTo(Main.OK);
      assertThat(text.out())
          .contains("node 1 at (1,0,0) of shape 2: process ", ", version 0.fake, wire 1.0")
          .contains("  ready, 0 sessions, pool in pages of 4 KB")
          .contains(
              "rail x0 (eth1): link up, 0 neighbours; received 10 frames, 1000 B, dropped 3,"
                  + " damaged 2; sent 1 frame, 64 B, lost 4")
          .endsWith("all well" + System.lineSeparator());
    }
  }

  @Test
  void aNodeThatWaitsIsNotWell() throws IOException {
    try (ControlServer serving = serve(new FakeNode(config(), false))) {
      assertThat(serving).isNotNull();
      CommandRun run = CommandRun.of("status", "--config", file().toString());
      assertThat(run.code()).isEqualTo(Main.FAILED);
      assertThat(run.out())
          .contains("NOT ready", "missing: node 99 not heard on rail x0", "NOT well");
      assertThat(CommandRun.of("status", "--json", "--config", file().toString()).json().path("ok"))
          .hasToString("false");
    }
  }

  @Test
  void aNodeThatDoesNotAnswerIsNamedByItsSocketWithTheMend() throws IOException {
    String file = file().toString();
    CommandRun run = CommandRun.of("status", "--json", "--config", file);
    assertThat(run.code()).isEqualTo(Main.FAILED);
    assertThat(run.json().path("ok").asBoolean(true)).isFalse();
    assertThat(run.err())
        .contains(
            "no answer on " + folder.resolve("s") + ": ",
            "no node runs there; start it: hxb node --config " + file)
        .doesNotContain("HXB_TRACE", "\tat ");
  }

  @Test
  void aSocketThatIsNoNodesIsNamed() throws IOException {
    ControlServer.Conversation other =
        new ControlServer.Conversation() {
          @Override
          public ObjectNode reply(ObjectNode request, BooleanSupplier gone) {
            return ControlJson.object().put("ok", true).put("node", "none");
          }

          @Override
          public void close() {}
        };
    Path socket = folder.resolve("s");
    try (ControlServer serving = ControlServer.start(socket, () -> other)) {
      assertThat(serving).isNotNull();
      CommandRun run = CommandRun.of("status", "--socket", socket.toString());
      assertThat(run.code()).isEqualTo(Main.FAILED);
      assertThat(run.err()).contains(socket + " is no node's control-socket: ");
    }
  }

  @Test
  void aConfigurationWithoutASocketIsWrong() throws IOException {
    Path file = folder.resolve("node.toml");
    Files.writeString(file, config().toBuilder().controlSocket("").build().toToml());
    CommandRun run = CommandRun.of("status", "--json", "--config", file.toString());
    assertThat(run.code()).isEqualTo(Main.USAGE);
    assertThat(run.json().path("error").asText())
        .startsWith(file + ": control-socket: is missing, so its node cannot be asked; add a path");
  }
}
