package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.pmhxb.cli.veth.FabricPlan;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.cli.veth.VethFabric;
import org.pmhxb.cli.veth.WaitingTool;
import org.pmhxb.router.Shape;

/** Real namespaces and links; needs root. */
@Timeout(30)
class RailChangeTest {
  private static final LinkRate RATE = LinkRate.parse("200mbit");

  private final String cluster = "tc" + ProcessHandle.current().pid() % 100_000;
  private List<String> namespaces;

  @BeforeEach
  void build() {
    assumeTrue("root".equals(System.getProperty("user.name")), "network namespaces need root");
    FabricPlan plan = new FabricPlan(cluster, Shape.of(2), 2, RATE);
    VethFabric.create(plan);
    namespaces = List.of(plan.namespace(0), plan.namespace(1));
  }

  @AfterEach
  void remove() {
    VethFabric.remove(cluster);
  }

  private static WaitingTool prepare(String namespace, boolean dead) {
    return VethFabric.prepareCut(namespace, "x1", VethFabric.Cut.SILENT, dead, RATE);
  }

  private static String queues(String namespace) {
    return VethFabric.run(namespace, "tc", "qdisc", "show", "dev", "x1");
  }

  /** Returns when a process is in a namespace: until then nobody would name it as left over. */
  private static void awaitTool(String namespace) {
    ProcessBuilder pids = new ProcessBuilder("ip", "netns", "pids", namespace);
    try {
      while (pids.start().getInputStream().read() < 0) {
        Thread.sleep(5);
      }
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void bothEndsChangeWhenItHappensAndNotBefore() {
    try (RailChange cutting = new RailChange(namespaces, namespace -> prepare(namespace, true));
        RailChange mending = new RailChange(namespaces, namespace -> prepare(namespace, false))) {
      namespaces.forEach(RailChangeTest::awaitTool);
      assertThat(namespaces).allMatch(namespace -> queues(namespace).contains("tbf"));
      long fromNs = System.nanoTime();
      assertThat(cutting.happen()).isBetween(fromNs, System.nanoTime());
      assertThat(namespaces).allMatch(namespace -> queues(namespace).contains("pfifo"));
      mending.happen();
      assertThat(namespaces).allMatch(namespace -> queues(namespace).contains("tbf"));
    }
    assertThat(VethFabric.remove(cluster)).isEmpty();
  }

  @Test
  void whenOneEndCannotBePreparedTheOtherIsEndedAtOnce() {
    assertThatThrownBy(
            () ->
                new RailChange(
                    namespaces,
                    namespace -> {
                      if (namespace.equals(namespaces.getLast())) {
                        throw new IllegalStateException("no more processes");
                      }
                      WaitingTool tool = prepare(namespace, true);
                      awaitTool(namespace);
                      return tool;
                    }))
        .hasMessage("no more processes");
    assertThat(VethFabric.remove(cluster)).isEmpty();
  }

  @Test
  void oneThatDidNotHappenIsGoneWhenClosed() {
    try (RailChange cutting = new RailChange(namespaces, namespace -> prepare(namespace, true))) {
      namespaces.forEach(RailChangeTest::awaitTool);
      assertThat(namespaces).allMatch(namespace -> queues(namespace).contains("tbf"));
    }
    assertThat(VethFabric.remove(cluster)).isEmpty();
  }
}
