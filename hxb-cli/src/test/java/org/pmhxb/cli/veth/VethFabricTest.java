package org.pmhxb.cli.veth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.pmhxb.router.Shape;

/** Real namespaces and links; needs root. */
class VethFabricTest {
  private final String cluster = "tf" + ProcessHandle.current().pid() % 100_000;

  @BeforeEach
  void needsRoot() {
    assumeTrue("root".equals(System.getProperty("user.name")), "network namespaces need root");
  }

  @AfterEach
  void leaveNothing() {
    VethFabric.remove(cluster);
    assertThat(VethFabric.namespaces(cluster)).isEmpty();
  }

  private FabricPlan plan(String rate, int... extents) {
    return new FabricPlan(
        cluster, Shape.of(extents), 2, rate == null ? null : LinkRate.parse(rate));
  }

  @Test
  void buildsAndRemovesTheClusterOfEight() {
    FabricPlan plan = plan("200mbit", 2, 2, 2);

    VethFabric.create(plan);

    assertThat(VethFabric.namespaces(cluster))
        .containsExactlyInAnyOrderElementsOf(plan.namespaces());
    for (int node = 0; node < plan.nodes(); node++) {
      String links =
          Tool.run("", VethFabric.inside(plan.namespace(node), "ip", "-o", "link", "show"));
      assertThat(
              links.lines().filter(line -> line.contains("mtu 9000") && line.contains("LOWER_UP")))
          .as(links)
          .hasSize(6);
    }
    assertThat(VethFabric.remove(cluster)).isEmpty();
    assertThat(VethFabric.namespaces(cluster)).isEmpty();
  }

  @Test
  void bridgesLongerLines() {
    FabricPlan plan = plan("1gbit", 3);
    VethFabric.create(plan);

    String ports =
        Tool.run(
            "",
            VethFabric.inside(plan.switchNamespace(), "ip", "-o", "link", "show", "type", "veth"));

    assertThat(ports.lines()).hasSize(6).allMatch(line -> line.contains("master bx"));
    String queues = Tool.run("", VethFabric.inside(plan.switchNamespace(), "tc", "qdisc", "show"));
    assertThat(queues.lines().filter(line -> line.contains("tbf"))).hasSize(6);
  }

  @Test
  void nothingTravelsOnAnIdleLink() throws Exception {
    FabricPlan plan = plan(null, 2, 2);
    VethFabric.create(plan);

    Thread.sleep(1_500);

    String statistics =
        Tool.run(
            "",
            VethFabric.inside(plan.namespace(0), "ip", "-j", "-s", "link", "show", "type", "veth"));
    assertThat(statistics.split("\"packets\":0,")).as(statistics).hasSize(2 * 4 + 1);
  }

  @Test
  void aSecondBuildIsRefusedAndLeavesTheFirstAlone() {
    VethFabric.create(plan(null, 2));

    assertThatThrownBy(() -> VethFabric.create(plan(null, 2)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("hxb down --cluster " + cluster);
    assertThat(VethFabric.namespaces(cluster)).hasSize(2);
  }

  @Test
  void removesWhatAnInterruptedBuildLeft() throws Exception {
    FabricPlan plan = plan(null, 2, 2);
    String half = plan.creationBatch().lines().limit(6).reduce("", (a, b) -> a + b + "\n");
    Tool.run(half, List.of("ip", "-batch", "-"));
    // "ip netns add" makes the file first and mounts the namespace on it afterwards.
    Files.createFile(Path.of("/run/netns", FabricPlan.prefix(cluster) + "7-7-7"));

    assertThat(VethFabric.remove(cluster)).isEmpty();
    assertThat(VethFabric.namespaces(cluster)).isEmpty();
    assertThat(VethFabric.remove(cluster)).isEmpty();
  }

  @Test
  void namesForeignProcessesAndRemovesTheirLinksAllTheSame() throws Exception {
    FabricPlan plan = plan(null, 2);
    VethFabric.create(plan);
    Process foreign =
        new ProcessBuilder(VethFabric.inside(plan.namespace(0), "sleep", "30")).start();
    try {
      while (Tool.run("", List.of("ip", "netns", "pids", plan.namespace(0))).isBlank()) {
        Thread.sleep(5);
      }
      assertThat(VethFabric.remove(cluster))
          .singleElement()
          .satisfies(leftover -> assertThat(leftover.pid()).isEqualTo(foreign.pid()));
      assertThat(Files.readString(Path.of("/proc/" + foreign.pid() + "/net/dev")))
          .doesNotContain("x0:");
    } finally {
      foreign.destroyForcibly().waitFor();
    }
  }

  @Test
  void aFailedBuildRemovesWhatItMadeAndNamesCallCodeAndMend() {
    FabricPlan plan = plan(null, 2);
    Map<String, String> impossible =
        Map.of(plan.namespace(1), "qdisc add dev x0 root tbf rate none\n");

    assertThatThrownBy(
            () -> VethFabric.create(cluster, plan.creationBatch(), plan.linkBatches(), impossible))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining(plan.namespace(1) + " tc -batch -\" failed (code 1)")
        .hasMessageContaining("rate");
    assertThat(VethFabric.namespaces(cluster)).isEmpty();
  }

  @Test
  void aNameThatIsTakenIsReportedWithItsMend() {
    FabricPlan plan = plan(null, 2);
    VethFabric.create(plan);

    assertThatThrownBy(() -> Tool.run(plan.creationBatch(), List.of("ip", "-batch", "-")))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("File exists")
        .hasMessageContaining("hxb down");
  }

  @Test
  void aMissingProgramIsReportedWithItsPackage() {
    assertThatThrownBy(() -> Tool.run("", List.of("hxb-no-such-program")))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("apt-get install iproute2");
  }
}
