package org.pmhxb.router.node;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.pm.NodeConfig;
import org.pmhxb.pm.flow.CreditLedger;
import org.pmhxb.router.Coordinates;
import org.pmhxb.router.Dimension;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.Shape;

class NodeSizingTest {
  private static final int RAILS = 6;

  /** Who is granted nothing asks for ever, so all peers at once have to find something. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8, 64, 1_024, 2_560, 65_535})
  void everyPeerIsGrantedAFrame(int nodes) {
    NodeSizing sizing = new NodeSizing(nodes, RAILS, 0, BufferPool.JUMBO_STRIDE_BYTES);
    NodeConfig config = sizing.nodeConfig(1, 1, 1_024, 1_000_000_000L, 9_000);
    CreditLedger ledger =
        new CreditLedger(
            config.creditBuffers(),
            nodes * config.endpointsExpected(),
            config.largestGrantFrames());

    for (int peer = 1; peer < nodes; peer++) {
      assertThat(ledger.grant()).as("frames for peer %d", peer).isPositive();
    }
    assertThat(ledger.outstanding()).isLessThanOrEqualTo(config.creditBuffers());
    assertThat(sizing.budget().buffers()).isGreaterThan(config.creditBuffers());
  }

  /** A NIC keeps of the pool what its rings hold; a kernel's interface copies. */
  @Test
  void onlyNicsOfTheNodesOwnKeepBuffersInTheirRings() {
    HxbConfig kernel = config(HxbConfig.Driver.PACKET, "eth1");
    HxbConfig pci = config(HxbConfig.Driver.PCI, "0000:01:00.0");
    assertThat(NodeSizing.of(kernel).budget().buffers())
        .isEqualTo(new NodeSizing(2, 1, 0, kernel.poolStrideBytes()).budget().buffers());
    assertThat(NodeSizing.of(pci).budget().receiveRing()).isEqualTo(512);
    assertThat(NodeSizing.of(pci).budget().transmitRing()).isEqualTo(512);
  }

  private static HxbConfig config(HxbConfig.Driver driver, String device) {
    return HxbConfig.builder()
        .key("k")
        .shape(Shape.of(2))
        .coordinates(new Coordinates(0, 0, 0))
        .rail(new HxbConfig.Rail(Dimension.X, 0, driver, device))
        .build();
  }
}
