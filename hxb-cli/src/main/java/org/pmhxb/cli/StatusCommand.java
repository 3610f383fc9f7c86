package org.pmhxb.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.pmhxb.cli.cluster.ClusterState;
import org.pmhxb.cli.cluster.ClusterView;
import org.pmhxb.cli.node.NodeStatus;
import picocli.CommandLine.Command;

/** Shows a running cluster. */
@Command(
    name = "status",
    description = {
      "Show every node of a running cluster: process, readiness, sessions, faults.",
      "Ends with 1 when a node is dead or not ready, a session is down or a cable is wrong."
    },
    footer = {"", "Example: hxb status --json"})
final class StatusCommand extends ClusterCommand {
  /**
   * One node's line.
   *
   * @param alive whether the process runs
   * @param error why it gives no account of itself; null when it does
   * @param peersUp sessions that are open
   */
  record Node(
      int node,
      List<Integer> coordinates,
      String namespace,
      long pid,
      boolean alive,
      boolean ready,
      String error,
      Long uptimeMs,
      int peersUp,
      List<String> missing,
      List<String> faults,
      List<NodeStatus.Rail> rails,
      List<NodeStatus.Peer> peers,
      Map<String, Long> counters) {}

  record Status(
      boolean ok,
      String cluster,
      String fabric,
      String shape,
      int rails,
      String rate,
      List<Node> nodes,
      List<ClusterView.PeerDown> peersDown)
      implements Report {
    @Override
    public void print(PrintWriter out) {
      out.printf(
          "cluster %s: shape %s, %s%s, %s fabric%n",
          cluster, shape, Words.count(rails, "rail"), rate == null ? "" : " of " + rate, fabric);
      String format = "  %-5s %-10s %-8s %-6s %-6s %-9s %s%n";
      out.printf(format, "node", "at", "process", "alive", "ready", "sessions", "");
      for (Node node : nodes) {
        out.printf(
            format,
            node.node(),
            Options.place(node.coordinates()),
            node.pid(),
            node.alive() ? "yes" : "DEAD",
            node.ready() ? "yes" : "NO",
            node.peersUp(),
            node.error() == null ? "" : node.error());
        node.missing().forEach(line -> out.println("        missing: " + line));
        node.faults().forEach(line -> out.println("        fault: " + line));
      }
      for (ClusterView.PeerDown down : peersDown) {
        out.printf(
            "  node %d at %s is down for node %d: %s; session %08x, last acknowledged %d%n",
            down.node(),
            Options.place(down.coordinates()),
            down.reportedBy(),
            down.reason(),
            down.session(),
            down.lastAcknowledged());
      }
      out.println(ok ? "all well" : "NOT well");
    }
  }

  @Override
  protected Report run() throws Exception {
    ClusterState state = running();
    ClusterView view = ClusterView.of(state);
    List<Node> nodes = new ArrayList<>();
    view.nodes().forEach(node -> nodes.add(line(node)));
    return new Status(
        view.healthy(),
        state.cluster(),
        state.fabric(),
        state.shape(),
        state.rails(),
        state.rate().isEmpty() ? null : state.rate(),
        nodes,
        view.down());
  }

  private static Node line(ClusterView.Node node) {
    ClusterState.Node entry = node.entry();
    NodeStatus status = node.status();
    boolean known = status != null;
    return new Node(
        entry.node(),
        entry.coordinates(),
        entry.namespace(),
        entry.pid(),
        node.alive(),
        node.ready(),
        known ? null : node.error(),
        known ? status.uptimeMs() : null,
        known ? (int) status.peers().stream().filter(p -> p.state().equals("UP")).count() : 0,
        known ? status.missing() : List.of(),
        known ? status.faults() : List.of(),
        known ? status.rails() : List.of(),
        known ? status.peers() : List.of(),
        known ? status.counters() : Map.of());
  }
}
