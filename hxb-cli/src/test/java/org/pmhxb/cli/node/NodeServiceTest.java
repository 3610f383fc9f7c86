package org.pmhxb.cli.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.cli.control.ControlClient;
import org.pmhxb.cli.control.ControlJson;
import org.pmhxb.cli.control.ControlServer;
import org.pmhxb.cli.workload.WorkloadReport;
import org.pmhxb.cli.workload.WorkloadSpec;
import org.pmhxb.collectives.Collective;
import org.pmhxb.router.Coordinates;
import org.pmhxb.router.Dimension;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.Shape;

class NodeServiceTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);

  @TempDir private Path directory;
  private FakeNode node;
  private ControlServer server;
  private Path path;

  @BeforeEach
  void start() throws IOException {
    node = new FakeNode(config(), true);
    path = directory.resolve("s");
    server = ControlServer.start(path, new NodeService(node)::conversation);
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
  }

  private static HxbConfig config() {
    return HxbConfig.builder()
        .key("test")
        .shape(Shape.of(2))
        .coordinates(new Coordinates(1, 0, 0))
        .rail(new HxbConfig.Rail(Dimension.X, 0, HxbConfig.Driver.AF_PACKET, "x0"))
        .build();
  }

  private static ObjectNode prepare(long measureMs) {
    ObjectNode request = ControlJson.request("prepare");
    request.set(
        "workload",
        ControlJson.from(
            new WorkloadSpec(
                5,
                WorkloadSpec.Kind.STREAM,
                List.of(0),
                List.of(0),
                64,
                false,
                0,
                measureMs,
                0,
                0)));
    return request;
  }

  @Test
  void givesItsStatus() throws Exception {
    NodeStatus status =
        ControlJson.to(
            ControlClient.ask(path, ControlJson.request("status"), LIMIT), NodeStatus.class);

    assertThat(status.node()).isEqualTo(1);
    assertThat(status.ready()).isTrue();
    assertThat(status.counters()).containsEntry("frames-sent", 3L);
    assertThat(status.rails()).extracting(NodeStatus.Rail::name).containsExactly("x0");
  }

  @Test
  void saysWhenItIsReadyAndAfterTheWaitThatItIsNot() throws Exception {
    ObjectNode request = ControlJson.request("ready").put("waitMs", 60_000);
    assertThat(ControlClient.ask(path, request, LIMIT).path("ready").asBoolean()).isTrue();

    Path other = directory.resolve("other");
    try (ControlServer never =
        ControlServer.start(other, new NodeService(new FakeNode(config(), false))::conversation)) {
      long startNs = System.nanoTime();
      ObjectNode answer =
          ControlClient.ask(other, ControlJson.request("ready").put("waitMs", 200), LIMIT);
      assertThat(Duration.ofNanos(System.nanoTime() - startNs))
          .isGreaterThanOrEqualTo(Duration.ofMillis(200));
      assertThat(answer.path("ready").isBoolean()).isTrue();
      assertThat(answer.path("ready").asBoolean()).isFalse();
      assertThat(
              ControlClient.ask(other, ControlJson.request("ready"), LIMIT)
                  .path("ready")
                  .asBoolean(true))
          .isFalse();
    }
  }

  @Test
  void runsAPreparedWorkloadAndReports() throws Exception {
    try (ControlClient client = ControlClient.connect(path)) {
      client.call(prepare(20), LIMIT);
      assertThat(node.endpointOpen()).isTrue();

      ObjectNode answer = client.call(ControlJson.request("run"), LIMIT);

      WorkloadReport report = ControlJson.to(answer.get("report"), WorkloadReport.class);
      assertThat(report.node()).isEqualTo(1);
      assertThat(report.sent().getFirst().messages()).isZero();
      assertThat(report.failures()).hasSize(2);
      assertThat(node.endpointOpen()).isTrue();
    }
    awaitClosed();
  }

  @Test
  void aWorkloadEndsWithTheConnectionThatPreparedIt() throws Exception {
    try (ControlClient client = ControlClient.connect(path)) {
      client.call(prepare(60_000), LIMIT);
      assertThatThrownBy(() -> ControlClient.ask(path, prepare(20), LIMIT))
          .hasMessageContaining("prepared or running on this node already");
    }
    awaitClosed();
    ControlClient.ask(path, prepare(20), LIMIT);
  }

  /** Whoever closes a connection is not told when its workload's endpoint is closed. */
  @Test
  void oneWorkloadAfterAnotherIsNotRefused() throws Exception {
    for (int i = 0; i < 50; i++) {
      ControlClient.ask(path, prepare(20), LIMIT);
    }
    awaitClosed();
  }

  private void awaitClosed() throws InterruptedException {
    await("the endpoint's end", () -> !node.endpointOpen());
  }

  private static void await(String what, BooleanSupplier condition) throws InterruptedException {
    long deadlineNs = System.nanoTime() + LIMIT.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - deadlineNs).as("no sign of %s", what).isNegative();
      Thread.sleep(2);
    }
  }

  @Test
  void stopsARunFromAnotherConnection() throws Exception {
    try (ControlClient client = ControlClient.connect(path)) {
      client.call(prepare(60_000), LIMIT);
      client.send(ControlJson.request("run"));
      await("a run", node::driving);
      ControlClient.ask(path, ControlJson.request("stop"), LIMIT);

      assertThat(client.receive("run", LIMIT).has("report")).isTrue();
    }
  }

  /** It may have a day to go, and every other workload is refused meanwhile. */
  @Test
  void aRunEndsWithItsConnection() throws Exception {
    try (ControlClient client = ControlClient.connect(path)) {
      client.call(prepare(86_400_000), LIMIT);
      client.send(ControlJson.request("run"));
      await("a run", node::driving);
    }
    awaitClosed();
    ControlClient.ask(path, prepare(20), LIMIT);
  }

  /** So may what the node does with others. */
  @ParameterizedTest
  @ValueSource(strings = {"barrier-run", "collective-run", "probe"})
  void whatRepeatsEndsWithItsConnection(String op) throws Exception {
    ObjectNode request = ControlJson.request(op).put("count", 1).put("limitMs", 86_400_000);
    CollectiveOrder order = new CollectiveOrder(Collective.BROADCAST, "binomial", 8, 1, 0);
    request.set("order", ControlJson.from(order));
    node.stick();
    try (ControlClient client = ControlClient.connect(path)) {
      client.call(
          ControlJson.request("barrier-open").put("number", 1).put("spec", "dissemination"), LIMIT);
      client.call(ControlJson.request("collective-join"), LIMIT);
      client.send(request);
      await("its beginning", node::driving);
    }
    await("its end", () -> !node.driving());
    await("the close", () -> node.openParts().isEmpty());
  }

  /** A poll thread that stands still for long closes nothing. */
  @ParameterizedTest
  @ValueSource(strings = {"endpoint", "barrier", "collectives", "endpoint barrier collectives"})
  void whatCannotBeClosedKeepsNeitherTheOthersNorTheNode(String stuck) throws Exception {
    Set<String> parts = Set.of(stuck.split(" "));
    node.stick(parts.toArray(String[]::new));
    try (ControlClient client = ControlClient.connect(path)) {
      client.call(prepare(20), LIMIT);
      client.call(
          ControlJson.request("barrier-open").put("number", 1).put("spec", "dissemination"), LIMIT);
      client.call(ControlJson.request("collective-join"), LIMIT);
      assertThat(node.openParts()).hasSize(3);
    }
    await("the others' end", () -> node.openParts().equals(parts));
    // What refuses is the endpoint, if anything: the node is not held.
    if (parts.contains("endpoint")) {
      assertThatThrownBy(() -> ControlClient.ask(path, prepare(20), LIMIT))
          .hasMessageContaining("endpoint 5 is open already");
    } else {
      ControlClient.ask(path, prepare(20), LIMIT);
    }
  }

  @Test
  void whatIsAskedDuringARunIsAnsweredBehindIt() throws Exception {
    try (ControlClient client = ControlClient.connect(path)) {
      client.call(prepare(60_000), LIMIT);
      client.send(ControlJson.request("run"));
      await("a run", node::driving);
      client.send(ControlJson.request("status"));
      Thread.sleep(50); // as many times it was asked whether the client is there
      assertThat(node.driving()).isTrue();
      ControlClient.ask(path, ControlJson.request("stop"), LIMIT);

      assertThat(client.receive("run", LIMIT).has("report")).isTrue();
      assertThat(client.receive("status", LIMIT).has("counters")).isTrue();
    }
  }

  @Test
  void refusesWhatMakesNoSense() {
    assertThatThrownBy(() -> ControlClient.ask(path, ControlJson.request("run"), LIMIT))
        .hasMessageContaining("nothing is prepared");
    assertThatThrownBy(() -> ControlClient.ask(path, ControlJson.request("sing"), LIMIT))
        .hasMessageContaining(
            "op \"sing\" is none of status, ready, prepare, run, stop, probe, barrier-... and collective-...");
    assertThatThrownBy(() -> ControlClient.ask(path, ControlJson.request("prepare"), LIMIT))
        .hasMessageContaining("WorkloadSpec is missing");
    ObjectNode request = prepare(20);
    request.withObject("workload").put("endpoint", 0);
    assertThatThrownBy(() -> ControlClient.ask(path, request, LIMIT))
        .hasMessageContaining("endpoint is 0; must be 1 to 65534");
    refuses(ControlJson.request("ready").put("waitMs", Long.MIN_VALUE), "must be 0 to");
    refuses(ControlJson.request("ready").put("waitMs", "a second"), "waitMs is \"a second\"");
    ObjectNode barrier = ControlJson.request("barrier-open").put("spec", "dissemination");
    refuses(barrier.put("number", 65_536), "number is 65536; must be 0 to 65535");
    refuses(barrier.put("number", (1L << 32) + 1), "number is 4294967297; must be");
  }

  private void refuses(ObjectNode request, String why) {
    assertThatThrownBy(() -> ControlClient.ask(path, request, LIMIT)).hasMessageContaining(why);
  }

  @ParameterizedTest
  @ValueSource(ints = {-4, 0, 6, CollectiveOrder.BYTES_MAX + 4})
  void aCollectiveOfNoSuchLengthIsNoOrder(int bytes) {
    assertThatThrownBy(() -> new CollectiveOrder(Collective.BROADCAST, "binomial", bytes, 1, 0))
        .hasMessageContaining("bytes is " + bytes + "; must be a multiple of 4 in 4 to 16777216");
  }

  @Test
  void aNodeThatIsNotReadyTakesNoWorkload() throws Exception {
    Path other = directory.resolve("n");
    FakeNode waiting = new FakeNode(config(), false);
    try (ControlServer second =
        ControlServer.start(other, new NodeService(waiting)::conversation)) {
      assertThatThrownBy(() -> ControlClient.ask(other, prepare(20), LIMIT))
          .hasMessageContaining("node 1 is not ready");
      assertThat(waiting.endpointOpen()).isFalse();
      assertThat(second).isNotNull();
    }
  }

  @Test
  void aPairingFaultIsToldOnceAndTheNodeGoesOn() {
    List<String> log = new ArrayList<>();
    node.fault("two nodes with the same coordinates: ...");

    NodeRunner.tellFaults(node, log::add);
    NodeRunner.tellFaults(node, log::add);

    assertThat(log).containsExactly("node 1: two nodes with the same coordinates: ...");
    assertThat(node.failure()).isNull();
  }
}
