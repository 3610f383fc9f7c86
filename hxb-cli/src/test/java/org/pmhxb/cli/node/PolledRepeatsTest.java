package org.pmhxb.cli.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.pmhxb.cli.control.ControlClient;
import org.pmhxb.cli.control.ControlJson;
import org.pmhxb.cli.control.ControlServer;
import org.pmhxb.pm.PollIdle;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;

/** What a node is told to repeat, when it is alone: it waits for nobody then. */
class PolledRepeatsTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final int MOST = 1_000_000_000;

  @TempDir private Path folder;
  private Path path;
  private PolledNode node;
  private ControlServer server;
  private ControlClient client;

  @BeforeEach
  void start() throws IOException {
    RingCluster one = RingCluster.create(RingCluster.Options.of(Shape.of(1), 1));
    node = PolledNode.launch(one, PollIdle.YIELD).getFirst();
    path = folder.resolve("s");
    server = ControlServer.start(path, new NodeService(node)::conversation);
    client = ControlClient.connect(path);
    client.call(
        ControlJson.request("barrier-open").put("number", 1).put("spec", "dissemination"), LIMIT);
    client.call(ControlJson.request("collective-join"), LIMIT);
  }

  @AfterEach
  void stop() throws IOException {
    client.close();
    server.close();
    node.close();
  }

  private static ObjectNode barriers(long count) {
    return ControlJson.request("barrier-run").put("count", count);
  }

  private static ObjectNode collectives(long count) {
    ObjectNode request = ControlJson.request("collective-run");
    request
        .putObject("order")
        .put("collective", "ALLREDUCE")
        .put("algorithm", "recursive-doubling")
        .put("bytes", 8)
        .put("count", count)
        .put("fill", 1);
    return request;
  }

  @Test
  void repeatsWhatIsInRange() throws IOException {
    for (int count : new int[] {1, 2, 1_000}) {
      ObjectNode times = client.call(barriers(count), LIMIT).withObject("times");
      assertThat(times.path("barriers").asInt()).isEqualTo(count);
      times = client.call(collectives(count), LIMIT).withObject("times");
      assertThat(times.path("operations").asInt()).isEqualTo(count);
    }
  }

  /** The poll thread of a node that is alone would do all of it in one round. */
  @Test
  void theNodeAnswersWhileItRepeatsAndTheLimitEndsIt() throws IOException {
    client.send(barriers(MOST).put("limitMs", 500));
    answers();
    assertThatThrownBy(() -> client.receive("barrier-run", LIMIT))
        .hasMessageContaining(MOST + " barriers")
        .hasMessageContaining("not over in 500 ms");
    client.send(collectives(MOST).put("limitMs", 500));
    answers();
    assertThatThrownBy(() -> client.receive("collective-run", LIMIT))
        .hasMessageContaining(MOST + " times allreduce")
        .hasMessageContaining("not over in 500 ms");
    assertThat(client.call(barriers(2), LIMIT).has("times")).isTrue();
  }

  private void answers() throws IOException {
    ObjectNode status = ControlClient.ask(path, ControlJson.request("status"), LIMIT);
    assertThat(status.path("node").asInt(-1)).isZero();
  }

  @ParameterizedTest
  @CsvSource({"0", "-1", "1000000001", "-2147483648", "2147483647"})
  void refusesACountOutOfRange(long count) {
    String wrong = "count is " + count + "; must be 1 to 1000000000";
    assertThatThrownBy(() -> client.call(barriers(count), LIMIT)).hasMessageContaining(wrong);
    assertThatThrownBy(() -> client.call(collectives(count), LIMIT)).hasMessageContaining(wrong);
  }

  @Test
  void refusesANumberThatIsNone() {
    // What is left of it in an int is 1.
    assertThatThrownBy(() -> client.call(barriers(4_294_967_297L), LIMIT))
        .hasMessageContaining("count is 4294967297; must be 1 to 1000000000");
    assertThatThrownBy(
            () -> client.call(ControlJson.request("barrier-run").put("count", "many"), LIMIT))
        .hasMessageContaining("count is \"many\"; must be 1 to 1000000000");
    assertThatThrownBy(
            () -> client.call(ControlJson.request("barrier-run").put("count", 1.5), LIMIT))
        .hasMessageContaining("count is 1.5; must be 1 to 1000000000");
    assertThatThrownBy(() -> client.call(ControlJson.request("probe").put("count", 0), LIMIT))
        .hasMessageContaining("count is 0; must be 1 to 1000000");
  }

  @ParameterizedTest
  @CsvSource({"0", "-1", "86400001", "-9223372036854775808"})
  void refusesALimitOutOfRange(long limitMs) {
    String wrong = "limitMs is " + limitMs + "; must be 1 to 86400000";
    for (ObjectNode request :
        new ObjectNode[] {barriers(1), collectives(1), ControlJson.request("probe")}) {
      assertThatThrownBy(() -> client.call(request.put("limitMs", limitMs), LIMIT))
          .hasMessageContaining(wrong);
    }
  }
}
