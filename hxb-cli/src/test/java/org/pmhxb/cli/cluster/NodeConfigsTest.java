package org.pmhxb.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.pmhxb.cli.veth.LinkRate;
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
      assertThat(config.rails()).allMatch(r -> r.driver() == HxbConfig.Driver.AF_PACKET);
    }
  }

  @Test
  void theTwoEndsOfAMemifLinkShareASocketAndHaveOppositeRoles() {
    ClusterSpec spec = new ClusterSpec(ClusterSpec.Fabric.MEMIF, Shape.of(2, 2, 2), 2, null);
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
  void refusesWhatAFabricCannotJoin() {
    assertThatThrownBy(() -> new ClusterSpec(ClusterSpec.Fabric.MEMIF, Shape.of(3), 1, null))
        .hasMessageContaining("lines of two nodes only");
    assertThatThrownBy(
            () ->
                new ClusterSpec(ClusterSpec.Fabric.MEMIF, Shape.of(2), 1, LinkRate.parse("1gbit")))
        .hasMessageContaining("cannot be shaped to 1gbit");
    assertThatThrownBy(() -> new ClusterSpec(ClusterSpec.Fabric.VETH, Shape.of(1), 1, null))
        .hasMessageContaining("single node");
  }
}
