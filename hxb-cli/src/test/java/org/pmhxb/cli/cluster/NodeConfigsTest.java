package org.pmhxb.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.ffi.Threads;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.Shape;

class NodeConfigsTest {
  private static final ClusterPaths PATHS = new ClusterPaths(Path.of("/run/hxb"), "main");

  @Test
  void everyNodeOfAVethClusterGetsAValidFile() {
    ClusterSpec spec =
        new ClusterSpec(ClusterSpec.Fabric.VETH, Shape.of(3, 2, 2), 2, LinkRate.parse("1gbit"));

    for (int node = 0; node < 12; node++) {
      HxbConfig config = HxbConfig.parse("node.toml", NodeConfigs.of(spec, PATHS, node).toToml());
      assertThat(config.node()).isEqualTo(node);
      assertThat(config.key()).isEqualTo("main");
      assertThat(config.controlSocket()).isEqualTo("/run/hxb/main/node-" + node + ".sock");
      assertThat(config.devices()).containsExactly("x0", "x1", "y0", "y1", "z0", "z1");
      assertThat(config.rails()).allMatch(r -> r.driver() == HxbConfig.Driver.PACKET);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"SHM", "MEMIF"})
  void theTwoEndsOfASharedMemoryLinkShareASocketAndHaveOppositeRoles(ClusterSpec.Fabric fabric) {
    ClusterSpec spec = new ClusterSpec(fabric, Shape.of(2, 2, 2), 2, null);
    Map<String, String> roles = new HashMap<>();

    for (int node = 0; node < 8; node++) {
      for (HxbConfig.Rail rail : NodeConfigs.of(spec, PATHS, node).rails()) {
        roles.merge(rail.option("socket", ""), rail.option("role", ""), String::concat);
      }
    }
    assertThat(roles).hasSize(24);
    assertThat(roles.values()).allMatch(r -> r.equals("serverclient") || r.equals("clientserver"));
  }

  @Test
  void nodesOfOneProcessShareAProcessorAndHaveLinesOfTheirOwnNames() {
    PollPolicy poll =
        new PollPolicy(HxbConfig.Idle.SPIN, true)
            .sharing(List.of(new TreeSet<>(Set.of(0, 3)), new TreeSet<>(Set.of(1))));
    ClusterSpec spec =
        new ClusterSpec(ClusterSpec.Fabric.MEMIF, Shape.of(2, 2), 1, null).withPoll(poll);

    assertThat(poll.processes(4)).isEqualTo(List.of(Set.of(0, 3), Set.of(1), Set.of(2)));
    // Two of a machine's that a container has, or those of which each has a sibling behind it.
    assertThat(cpus(poll, 2, 3)).containsExactly(2, 3, 2, 2);
    assertThat(cpus(poll, 0, 2, 4, 6)).containsExactly(0, 2, 4, 0);
    assertThat(cpus(poll, 5)).containsOnly(5);
    for (int node = 0; node < 4; node++) {
      assertThat(Threads.affinity().get(poll.cpu(node, 4))).isTrue();
    }
    assertThat(NodeConfigs.of(spec, PATHS, 0).devices())
        .doesNotContainAnyElementsOf(NodeConfigs.of(spec, PATHS, 3).devices());
  }

  private static List<Integer> cpus(PollPolicy poll, int... usable) {
    BitSet set = new BitSet();
    Arrays.stream(usable).forEach(set::set);
    UsableCpus cpus = new UsableCpus(set);
    return IntStream.range(0, 4).mapToObj(node -> poll.cpu(node, 4, cpus)).toList();
  }

  @Test
  void refusesWhatAFabricCannotJoin() {
    PollPolicy shared = PollPolicy.DEFAULT.sharing(List.of(new TreeSet<>(Set.of(0, 1))));
    assertThatThrownBy(
            () -> new ClusterSpec(ClusterSpec.Fabric.VETH, Shape.of(2), 1, null).withPoll(shared))
        .hasMessageContaining("share no process");
    assertThatThrownBy(() -> new ClusterSpec(ClusterSpec.Fabric.MEMIF, Shape.of(3), 1, null))
        .hasMessageContaining("lines of two nodes only");
    assertThatThrownBy(
            () ->
                new ClusterSpec(ClusterSpec.Fabric.MEMIF, Shape.of(2), 1, LinkRate.parse("1gbit")))
        .hasMessageContaining("memif links cannot be shaped");
    assertThatThrownBy(() -> new ClusterSpec(ClusterSpec.Fabric.VETH, Shape.of(1), 1, null))
        .hasMessageContaining("must have 2 nodes or more");
  }
}
