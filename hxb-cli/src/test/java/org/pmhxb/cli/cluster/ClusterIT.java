package org.pmhxb.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.pmhxb.cli.UserErrorException;
import org.pmhxb.cli.control.ControlClient;
import org.pmhxb.cli.control.ControlJson;
import org.pmhxb.cli.node.FakeNode;
import org.pmhxb.cli.veth.FabricPlan;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.cli.veth.VethFabric;
import org.pmhxb.router.Shape;

/** Real namespaces and processes, with nodes that speak to nobody; needs root. */
@Tag("beside-others")
class ClusterIT {
  private static final ClusterSpec SPEC =
      new ClusterSpec(ClusterSpec.Fabric.VETH, Shape.of(2, 2), 1, LinkRate.parse("200mbit"));
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @TempDir private Path root;
  private final List<String> said = new ArrayList<>();
  private ClusterPaths paths;

  @BeforeEach
  void needsRoot() {
    assumeTrue("root".equals(System.getProperty("user.name")), "network namespaces need root");
    paths = new ClusterPaths(root.resolve("r"), "tc" + ProcessHandle.current().pid() % 100_000);
  }

  @AfterEach
  void leavesNothing() throws IOException {
    ClusterRemover.remove(paths);
    assertNothingIsLeft();
  }

  private void assertNothingIsLeft() throws IOException {
    assertThat(VethFabric.namespaces(paths.cluster())).isEmpty();
    assertThat(NodeProcesses.find(paths)).isEmpty();
    assertThat(paths.root()).doesNotExist();
    assertThat(NameLock.isThere(paths.cluster())).isFalse();
  }

  private ClusterState up(String manner) throws IOException {
    return up(manner, System::nanoTime);
  }

  private ClusterState up(String manner, LongSupplier clock) throws IOException {
    return new ClusterLauncher(paths, command(manner), said::add, clock).up(SPEC, LIMIT);
  }

  private static List<String> command(String manner) {
    List<String> command = TestJvm.command(FakeNode.class);
    command.add(1, "-Dfake=" + manner);
    return command;
  }

  @Test
  void comesUpIsSeenAndGoesDown() throws Exception {
    ClusterState state = up("ready");

    assertThat(said.getLast()).isEqualTo("4 of 4 nodes ready");
    assertThat(ClusterState.read(paths)).contains(state);
    ClusterView view = ClusterView.of(state);
    assertThat(view.healthy()).isTrue();
    assertThat(view.nodes()).allMatch(node -> node.status().rails().size() == 2);

    ProcessHandle.of(state.nodes().get(2).pid()).orElseThrow().destroyForcibly();
    ClusterView wounded = awaitDeath(state, 2);
    assertThat(wounded.healthy()).isFalse();
    assertThat(wounded.nodes().get(2).error())
        .isEqualTo("process " + state.nodes().get(2).pid() + " has ended");
    assertThat(wounded.nodes().get(3).alive()).isTrue();

    ClusterRemover.Removed removed = ClusterRemover.remove(paths);
    assertThat(removed).isEqualTo(new ClusterRemover.Removed(3, 4, true, List.of()));
    assertNothingIsLeft();
    assertThat(ClusterRemover.remove(paths))
        .isEqualTo(new ClusterRemover.Removed(0, 0, false, List.of()));
  }

  private static ClusterView awaitDeath(ClusterState state, int node) throws InterruptedException {
    long deadlineNs = System.nanoTime() + LIMIT.toNanos();
    ClusterView view = ClusterView.of(state);
    while (view.nodes().get(node).alive()) {
      assertThat(System.nanoTime() - deadlineNs).isNegative();
      view = ClusterView.of(state);
    }
    return view;
  }

  @Test
  void nodesThatAreOfNoUseWithoutTheirStarterEndWithIt() throws Exception {
    List<ClusterState> up = new ArrayList<>();
    ClusterLauncher launcher =
        new ClusterLauncher(paths, command("ready"), said::add).endingWithItsStarter();
    Thread starter =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    up.add(launcher.up(SPEC, LIMIT));
                  } catch (IOException e) {
                    throw new UncheckedIOException(e);
                  }
                });
    starter.join();

    for (ClusterState.Node node : up.getFirst().nodes()) {
      awaitDeath(up.getFirst(), node.node());
    }
  }

  @Test
  void nodesOfAClusterThatStaysOutliveTheThreadThatStartedThem() throws Exception {
    List<ClusterState> up = new ArrayList<>();
    Thread starter =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    up.add(up("ready"));
                  } catch (IOException e) {
                    throw new UncheckedIOException(e);
                  }
                });
    starter.join();

    assertThat(ClusterView.of(up.getFirst()).healthy()).isTrue();
  }

  @Test
  void aNodeThatDiesAtTheStartTakesEverythingDownAndShowsItsLog() {
    assertThatThrownBy(() -> up("dies"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("node 1 ended with code 7")
        .hasMessageContaining("the fake cable is cut");
    assertThat(paths.directory()).doesNotExist();
    assertThat(VethFabric.namespaces(paths.cluster())).isEmpty();
  }

  @Test
  void nodesThatAreNotReadyInTimeAreNamedWithWhatTheyMiss() {
    // The limit is over as soon as all nodes can tell what they miss.
    LongSupplier clock = () -> System.nanoTime() + (allAnswer() ? LIMIT.toNanos() : 0);
    assertThatThrownBy(() -> up("never", clock))
        .hasMessageContaining("4 nodes not ready after 60 s: 0 1 2 3")
        .hasMessageContaining("node 99 not heard on rail x0");
    assertThat(paths.directory()).doesNotExist();
  }

  private boolean allAnswer() {
    for (int node = 0; node < SPEC.shape().nodes(); node++) {
      if (!Files.exists(paths.socket(node))) {
        return false;
      }
      try {
        ControlClient.ask(paths.socket(node), ControlJson.request("status"), LIMIT);
      } catch (IOException e) {
        return false;
      }
    }
    return true;
  }

  @Test
  void aRunningClusterIsNotOverwrittenButTheRemainsOfACrashAre() throws Exception {
    ClusterState state = up("ready");
    assertThatThrownBy(() -> up("ready")).hasMessageContaining("runs already");
    assertThat(ClusterView.of(state).healthy()).isTrue();

    // All processes die; namespaces, sockets and files stay behind.
    state.nodes().forEach(n -> ProcessHandle.of(n.pid()).ifPresent(ProcessHandle::destroyForcibly));
    for (ClusterState.Node node : state.nodes()) {
      awaitDeath(state, node.node());
    }
    assertThat(up("ready").nodes()).hasSize(4);
    assertThat(said).anyMatch(line -> line.startsWith("removing what is left"));
  }

  /** Namespaces have the cluster's name alone. */
  @Test
  void aClusterOfTheSameNameInAnotherFolderIsLeftAlone() throws Exception {
    ClusterState state = up("ready");
    ClusterPaths other = new ClusterPaths(root.resolve("other"), paths.cluster());

    assertThatThrownBy(
            () -> new ClusterLauncher(other, command("ready"), said::add).up(SPEC, LIMIT))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContaining("are those of processes")
        .hasMessageContaining(Long.toString(state.nodes().getFirst().pid()))
        .hasMessageContaining("--cluster");
    assertThat(ClusterRemover.remove(other))
        .isEqualTo(new ClusterRemover.Removed(0, 0, false, List.of()));

    assertThat(VethFabric.namespaces(paths.cluster())).hasSize(4);
    assertThat(ClusterView.of(state).healthy()).isTrue();
  }

  /** It has made namespaces, and no node runs in them yet. */
  @Test
  void whatAnotherCommandIsBuildingIsLeftAlone() throws Exception {
    FabricPlan plan = new FabricPlan(paths.cluster(), Shape.of(2), 1, null);
    Process other = NameHolder.start(root, paths.cluster());
    try {
      VethFabric.create(plan);
      assertThatThrownBy(() -> up("ready"))
          .isInstanceOf(UserErrorException.class)
          .hasMessageContaining("are being made or removed by another command")
          .hasMessageContaining("--cluster");
      assertThat(ClusterRemover.remove(paths).namespaces()).isZero();
      assertThat(VethFabric.namespaces(paths.cluster())).hasSize(2);
    } finally {
      other.destroyForcibly().waitFor();
    }
    assertThat(ClusterRemover.remove(paths).namespaces()).isEqualTo(2);
    assertThat(NameLock.isThere(paths.cluster())).as("left by who was killed").isFalse();
  }

  @Test
  void goesDownWithoutItsStateFileAndWithNodesThatIgnoreSigterm() throws Exception {
    ClusterState state = up("stubborn");
    Files.delete(paths.state());

    long startNs = System.nanoTime();
    assertThat(ClusterRemover.remove(paths).processes()).isEqualTo(4);
    assertThat(Duration.ofNanos(System.nanoTime() - startNs))
        .as("they are given their time before they are killed")
        .isGreaterThanOrEqualTo(Duration.ofMillis(NodeProcesses.GRACE_MS));
    assertThat(state.nodes()).noneMatch(NodeProcesses::alive);
  }

  @Test
  void neverEndsAProcessThatOnlyHasAnOldPid() throws Exception {
    paths.claim();
    ProcessHandle self = ProcessHandle.current();
    new ClusterState(
            paths.cluster(),
            "veth",
            "2",
            1,
            "",
            "2026-01-01T00:00:00Z",
            List.of(new ClusterState.Node(0, List.of(0, 0, 0), "", self.pid(), 1, "", "", "")))
        .write(paths);

    assertThat(ClusterView.of(ClusterState.read(paths).orElseThrow()).nodes().getFirst().alive())
        .isFalse();
    assertThat(ClusterRemover.remove(paths).processes()).isZero();
  }

  @Test
  void anInterruptWhileItIsTakenDownLeavesNothing() throws Exception {
    up("stubborn");
    List<Throwable> thrown = new ArrayList<>();
    Thread remover =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    ClusterRemover.remove(paths);
                  } catch (IOException | RuntimeException e) {
                    thrown.add(e);
                  }
                });
    Thread.sleep(300); // within the grace of those that ignore SIGTERM
    remover.interrupt();
    remover.join();

    assertThat(thrown).isEmpty();
    assertNothingIsLeft();
  }

  @Test
  void aRunDirectoryIsTheSameByAnotherName() throws Exception {
    up("ready");
    Path link = Files.createSymbolicLink(root.resolve("link"), paths.root());
    assertThat(ClusterRemover.remove(new ClusterPaths(link, paths.cluster())).processes())
        .isEqualTo(4);
  }
}
