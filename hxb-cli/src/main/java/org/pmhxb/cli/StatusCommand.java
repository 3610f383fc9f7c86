package org.pmhxb.cli;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.pmhxb.cli.cluster.ClusterState;
import org.pmhxb.cli.cluster.ClusterView;
import org.pmhxb.cli.node.NodeStatus;
import org.pmhxb.pm.port.PortCounters;
import org.pmhxb.router.HxbConfig;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Shows a running cluster, or one node. */
@Command(
    name = "status",
    description = {
      "Show every node of a running cluster, or one node that hxb node runs: process, readiness,"
          + " sessions, faults, and what its rails dropped.",
      "Ends with 1 when a node is dead, not ready or does not answer, a session is down, a cable"
          + " is wrong, a rail has no carrier, or a neighbour is missing on one."
    },
    footer = {"", "Example: hxb status --json", "         hxb status --config /etc/hxb/node.toml"})
final class StatusCommand extends ClusterCommand {
  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "Instead of a cluster: the node of this configuration, by its control-socket.")
  private Path config;

  @Option(
      names = "--socket",
      paramLabel = "PATH",
      description = "Instead of a cluster: the node that answers on this control-socket.")
  private Path socket;

  @Option(
      names = "--verbose",
      description =
          "Of a cluster: say what every rail counts, not only those that dropped frames or got"
              + " damaged ones; of one node that is always said.",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER)
  private boolean verbose;

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
      String version,
      String wire,
      Long uptimeMs,
      Long poolPageBytes,
      int peersUp,
      List<String> missing,
      List<String> faults,
      List<NodeStatus.Rail> rails,
      List<NodeStatus.Peer> peers,
      Map<String, Long> counters) {

    void printDetails(PrintWriter out, boolean everyRail) {
      NodeStatus.linkComplaints(missing, faults, rails)
          .forEach(line -> out.println("        " + line));
      for (NodeStatus.Rail rail : rails) {
        if (everyRail || rail.counters().rxDropped() + rail.counters().rxErrors() > 0) {
          printRail(out, rail);
        }
      }
      for (NodeStatus.Peer peer : peers) {
        if (peer.pathsEvicted() > 0) {
          out.printf(
              "        node %d: %d of %d paths out of use%n",
              peer.node(), peer.pathsEvicted(), peer.paths());
        }
      }
    }

    private static void printRail(PrintWriter out, NodeStatus.Rail rail) {
      PortCounters c = rail.counters();
      out.printf(
          "        rail %s (%s): link %s, %s; received %s, %d B, dropped %d, damaged %d; sent %s,"
              + " %d B, lost %d%n",
          rail.name(),
          rail.device(),
          rail.carrier() ? "up" : "DOWN",
          Words.count(rail.neighbours().size(), "neighbour"),
          Words.count(c.rxFrames(), "frame"),
          c.rxBytes(),
          c.rxDropped(),
          c.rxErrors(),
          Words.count(c.txFrames(), "frame"),
          c.txBytes(),
          c.txErrors());
    }
  }

  /**
   * @param verbose whether the text says what every rail counts; the object does always
   */
  record Status(
      @JsonIgnore boolean verbose,
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
        node.printDetails(out, verbose);
      }
      printDown(out, peersDown);
      printWell(out, ok);
    }
  }

  /**
   * A node by itself: the fields of a cluster's node, and what a cluster says for all.
   *
   * @param socket where it answered
   */
  record One(
      boolean ok,
      String socket,
      String shape,
      @JsonUnwrapped Node node,
      List<ClusterView.PeerDown> peersDown)
      implements Report {
    @Override
    public void print(PrintWriter out) {
      long seconds = node.uptimeMs() / 1_000;
      out.printf(
          "node %d at %s of shape %s: process %d, up %d:%02d:%02d, version %s, wire %s%n",
          node.node(),
          Options.place(node.coordinates()),
          shape,
          node.pid(),
          seconds / 3_600,
          seconds / 60 % 60,
          seconds % 60,
          said(node.version()),
          said(node.wire()));
      out.printf(
          "  %s, %s, pool in pages of %s%n",
          node.ready() ? "ready" : "NOT ready",
          Words.count(node.peersUp(), "session"),
          bytes(node.poolPageBytes()));
      node.printDetails(out, true);
      printDown(out, peersDown);
      printWell(out, ok);
    }

    private static String bytes(long page) {
      return page < 1 << 20 ? (page >> 10) + " KB" : (page >> 20) + " MB";
    }

    private static String said(String version) {
      return version == null ? "unknown" : version;
    }
  }

  private static void printDown(PrintWriter out, List<ClusterView.PeerDown> peersDown) {
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
  }

  private static void printWell(PrintWriter out, boolean ok) {
    out.println(ok ? "all well" : "NOT well");
  }

  @Override
  protected Report run() throws Exception {
    if (config != null && socket != null) {
      throw wrongUsage("give one of --config FILE and --socket PATH");
    }
    if (config == null && socket == null) {
      return ofCluster();
    }
    if (given("--cluster") || given("--run-dir")) {
      throw wrongUsage("--cluster and --run-dir name a cluster of hxb up, not a node");
    }
    return config == null
        ? ofNode(socket, " --config FILE")
        : ofNode(socketOf(config), " --config " + Words.forShell(config.toString()));
  }

  private static Path socketOf(Path file) {
    HxbConfig read = HxbConfig.read(file);
    if (read.controlSocket().isEmpty()) {
      throw read.refused(
          "control-socket",
          "",
          "is missing, so its node cannot be asked; add a path, as in control-socket ="
              + " \"/run/hxb-node.sock\", and start the node again");
    }
    return Path.of(read.controlSocket());
  }

  private static One ofNode(Path at, String start) {
    NodeStatus status;
    try {
      status = ClusterView.ask(at);
    } catch (IOException e) {
      throw new UserErrorException(e.getMessage() + "; " + mend(e.getMessage(), start), e);
    } catch (IllegalArgumentException e) {
      throw new UserErrorException(
          at + " is no node's control-socket: " + e.getMessage() + "; name the one of node.toml",
          e);
    }
    ClusterView view = ClusterView.of(at, status);
    return new One(
        view.healthy(), at.toString(), status.shape(), line(view.nodes().getFirst()), view.down());
  }

  private static String mend(String failure, String start) {
    if (failure.contains("Permission denied")) {
      return "ask as root, or as the user that runs the node";
    }
    return failure.startsWith("no answer on")
        ? "no node runs there; start it: hxb node" + start
        : "the node's log says what ails it";
  }

  private Status ofCluster() throws Exception {
    ClusterState state = running();
    ClusterView view = ClusterView.of(state);
    List<Node> nodes = new ArrayList<>();
    view.nodes().forEach(node -> nodes.add(line(node)));
    return new Status(
        verbose,
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
        known ? status.version() : null,
        known ? status.wire() : null,
        known ? status.uptimeMs() : null,
        known ? status.poolPageBytes() : null,
        known ? (int) status.peers().stream().filter(p -> p.state().equals("UP")).count() : 0,
        known ? status.missing() : List.of(),
        known ? status.faults() : List.of(),
        known ? status.rails() : List.of(),
        known ? status.peers() : List.of(),
        known ? status.counters() : Map.of());
  }
}
