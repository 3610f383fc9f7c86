package org.pmhxb.cli.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.cli.Version;
import org.pmhxb.ffi.Eal;
import org.pmhxb.ffi.EalOptions;
import org.pmhxb.ffi.Hugepages;
import org.pmhxb.pm.PollIdle;
import org.pmhxb.pm.wire.FrameHeader;
import org.pmhxb.router.Coordinates;
import org.pmhxb.router.Dimension;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;

/** What real nodes say of themselves. */
class PolledNodeTest {
  private static final long LIMIT_NS = 20_000_000_000L;

  @TempDir private Path folder;

  private static HxbConfig.Builder end(int node) {
    String role = node == 0 ? "server" : "client";
    String line = "polled-node-test-" + ProcessHandle.current().pid();
    return HxbConfig.builder()
        .key("test")
        .shape(Shape.of(2))
        .coordinates(new Coordinates(node, 0, 0))
        .hugepages(HxbConfig.Hugepages.NEVER)
        .rail(
            new HxbConfig.Rail(
                Dimension.X,
                0,
                HxbConfig.Driver.SHM,
                "polled-" + role,
                Map.of("role", role, "socket", line)));
  }

  /** One end has a key, the other none: neither hears the other, and both can tell why. */
  @Test
  void framesOfAnotherKeyAreSeenByBothWhileTheyMissEachOther()
      throws IOException, InterruptedException {
    Path key = Files.writeString(folder.resolve("key"), "00112233445566778899aabbccddeeff");
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    HxbConfig with = end(0).frameKey(key.toString(), HxbConfig.Tag.TAG).build();
    try (PolledNode a = PolledNode.launch(List.of(with)).getFirst();
        PolledNode b = PolledNode.launch(List.of(end(1).build())).getFirst()) {
      long untilNs = System.nanoTime() + LIMIT_NS;
      while (a.signs().tagDrops() == 0 || b.signs().tagDrops() == 0) {
        assertThat(System.nanoTime() - untilNs).as("frames arrive").isNegative();
        Thread.sleep(5);
      }
      assertThat(a.signs().missing())
          .containsExactly("node 1 at (1,0,0) not heard on rail x0 (polled-server)");
      assertThat(b.signs().missing())
          .containsExactly("node 0 at (0,0,0) not heard on rail x0 (polled-client)");
      assertThat(a.signs().evicted() + a.signs().restored()).isZero();
      assertThat(a.signs().outOfUse()).isEmpty();

      NodeStatus status = a.status();
      assertThat(status.ready()).isFalse();
      assertThat(status.version()).isEqualTo(Version.project());
      assertThat(status.wire())
          .isEqualTo(FrameHeader.VERSION_MAJOR + "." + FrameHeader.VERSION_MINOR);
      assertThat(status.poolPageBytes()).isEqualTo(4_096);
      assertThat(status.rails().getFirst().counters().rxFrames()).isPositive();
      assertThat(status.rails().getFirst().counters().txBytes()).isPositive();
    }
  }

  /** Nobody sends anything: without a session neither would notice that the other is gone. */
  @Test
  void aSessionThatEndedIsOpenedAgainWhenThePeerIsBack() throws InterruptedException {
    RingCluster two =
        RingCluster.create(RingCluster.Options.of(Shape.of(2), 1).withPeerTimeoutNs(100_000_000L));
    List<PolledNode> nodes = PolledNode.launch(two, PollIdle.YIELD);
    try {
      awaitPeers(nodes, "UP");
      two.wire().lines().getFirst().cut(true);
      awaitPeers(nodes, "DOWN");
      two.wire().lines().getFirst().cut(false);
      awaitPeers(nodes, "UP");
    } finally {
      nodes.getFirst().close();
    }
  }

  private static void awaitPeers(List<PolledNode> nodes, String state) throws InterruptedException {
    long untilNs = System.nanoTime() + LIMIT_NS;
    while (!nodes.stream()
        .flatMap(node -> node.status().peers().stream())
        .map(NodeStatus.Peer::state)
        .toList()
        .equals(List.of(state, state))) {
      assertThat(System.nanoTime() - untilNs).as("all are " + state).isNegative();
      Thread.sleep(5);
    }
  }

  @Test
  void aPoolThatGotSmallPagesUnaskedIsTold() {
    Eal.init(EalOptions.defaults());
    try (DpdkPool pool = DpdkPool.create("small-pages", 1_024, 1_023, Hugepages.NONE)) {
      assertThat(PolledNode.smallPages(HxbConfig.Hugepages.NEVER, pool)).isEmpty();
      assertThat(PolledNode.smallPages(HxbConfig.Hugepages.AUTO, pool))
          .hasValueSatisfying(
              line ->
                  assertThat(line)
                      .startsWith(
                          "no hugepages for the pool of 1 MB, which lies in pages of 4 KB and is"
                              + " slower; it needs 1 page of 2 MB, ")
                      .contains("sysctl -w vm.nr_hugepages="));
    }
  }
}
