package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.pmhxb.cli.cluster.ClusterState;
import org.pmhxb.cli.cluster.ClusterView;
import org.pmhxb.cli.node.NodeStatus;
import org.pmhxb.pm.port.PortCounters;

/** What {@code hxb status} takes for well, and what it says of what is not. */
class StatusTextTest {
  private static final String SILENT = "node 1 at (1,0,0) silent for 7 s on rail x1 (eth1)";

  private static NodeStatus status(boolean carrier, List<String> missing) {
    return new NodeStatus(
        true,
        0,
        List.of(0, 0, 0),
        "2",
        1,
        "0.test",
        "1.2",
        1,
        4_096,
        true,
        List.of(rail("x0", "eth0", true), rail("x1", "eth1", carrier)),
        List.of(),
        missing,
        List.of(),
        Map.of());
  }

  private static NodeStatus.Rail rail(String name, String device, boolean carrier) {
    return new NodeStatus.Rail(
        name, device, "02:00:00:00:00:00", carrier, List.of(), PortCounters.ZERO);
  }

  private static ClusterView view(NodeStatus status) {
    ClusterState.Node entry =
        new ClusterState.Node(0, List.of(0, 0, 0), "", 1, 1, "node.toml", "node.log", "socket");
    return new ClusterView(List.of(new ClusterView.Node(entry, true, status, "")), List.of());
  }

  @Test
  void aRailWithoutCarrierAndAMissingNeighbourAreNotWell() {
    assertThat(view(status(true, List.of())).healthy()).isTrue();
    assertThat(view(status(false, List.of())).healthy()).isFalse();
    assertThat(view(status(true, List.of(SILENT))).healthy()).isFalse();
  }

  @Test
  void theTextNamesBoth() {
    NodeStatus status = status(false, List.of(SILENT));
    StatusCommand.Node node =
        new StatusCommand.Node(
            0,
            status.coordinates(),
            "",
            1,
            true,
            true,
            null,
            "0.test",
            "1.2",
            1L,
            4_096L,
            1,
            status.missing(),
            List.of(),
            status.rails(),
            List.of(),
            Map.of());
    StringWriter text = new StringWriter();
    PrintWriter out = new PrintWriter(text);
    new StatusCommand.Status(false, false, "main", "veth", "2", 2, null, List.of(node), List.of())
        .print(out);
    out.flush();
    assertThat(text.toString())
        .contains("        rail x1: no carrier (eth1)\n")
        .contains("        missing: " + SILENT + "\n")
        .doesNotContain("rail x0")
        .contains("NOT well");
  }
}
