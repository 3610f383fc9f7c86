package org.pmhxb.cli.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;
import org.pmhxb.cli.control.ControlClient;
import org.pmhxb.cli.control.ControlJson;
import org.pmhxb.cli.node.NodeStatus;
import org.pmhxb.router.Shape;

/**
 * A cluster as its processes and nodes tell it.
 *
 * @param nodes in node order
 * @param down sessions that ended, as the nodes that are left report them
 */
public record ClusterView(List<Node> nodes, List<PeerDown> down) {
  private static final Duration ASK_LIMIT = Duration.ofSeconds(2);

  /**
   * One node.
   *
   * @param alive whether its process runs
   * @param status what it says of itself; null when it does not answer
   * @param error why not; empty when it does
   */
  public record Node(ClusterState.Node entry, boolean alive, NodeStatus status, String error) {
    public boolean ready() {
      return status != null && status.ready();
    }

    /** What its links and paths lack, for people; nothing of a node that does not answer. */
    private List<String> complaints() {
      List<String> lines = new ArrayList<>();
      if (status == null) {
        return lines;
      }
      lines.addAll(NodeStatus.linkComplaints(status.missing(), status.faults(), status.rails()));
      for (NodeStatus.Peer peer : status.peers()) {
        if (peer.pathsEvicted() > 0) {
          lines.add(
              "%d of %d paths to node %d out of use"
                  .formatted(peer.pathsEvicted(), peer.paths(), peer.node()));
        }
      }
      lines.replaceAll(line -> "node " + entry.node() + ": " + line);
      return lines;
    }

    private boolean isWell() {
      return alive
          && ready()
          && status.faults().isEmpty()
          && status.missing().isEmpty()
          && status.rails().stream().allMatch(NodeStatus.Rail::carrier);
    }
  }

  /**
   * A node's report that a session ended.
   *
   * @param node the peer
   * @param coordinates the peer's
   * @param reportedBy who says it
   * @param session which one
   * @param lastAcknowledged last sequence number that the peer had stored
   */
  public record PeerDown(
      int node,
      List<Integer> coordinates,
      String reason,
      long session,
      long lastAcknowledged,
      int reportedBy) {}

  /** Asks all nodes at once. */
  public static ClusterView of(ClusterState state) throws InterruptedException {
    List<Future<Node>> asked = new ArrayList<>();
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      for (ClusterState.Node entry : state.nodes()) {
        asked.add(pool.submit(() -> ask(entry)));
      }
    }
    List<Node> nodes = new ArrayList<>();
    for (Future<Node> future : asked) {
      try {
        nodes.add(future.get());
      } catch (ExecutionException e) {
        throw new IllegalStateException(e.getCause());
      }
    }
    return new ClusterView(nodes, downs(nodes, node -> state.nodes().get(node).coordinates()));
  }

  /**
   * One node alone, which is no part of a cluster that {@code hxb up} started.
   *
   * @param socket where it answered
   */
  public static ClusterView of(Path socket, NodeStatus status) {
    ClusterState.Node entry =
        new ClusterState.Node(
            status.node(), status.coordinates(), null, status.pid(), 0, null, null, "" + socket);
    List<Node> only = List.of(new Node(entry, true, status, ""));
    Shape shape = Shape.parse(status.shape());
    return new ClusterView(only, downs(only, node -> shape.coordinates(node).toList()));
  }

  /**
   * Asks one node.
   *
   * @throws IOException it does not answer
   */
  public static NodeStatus ask(Path socket) throws IOException {
    return ControlJson.to(
        ControlClient.ask(socket, ControlJson.request("status"), ASK_LIMIT), NodeStatus.class);
  }

  private static Node ask(ClusterState.Node entry) {
    if (!NodeProcesses.alive(entry)) {
      return new Node(entry, false, null, "process " + entry.pid() + " has ended");
    }
    try {
      return new Node(entry, true, ask(Path.of(entry.socket())), "");
    } catch (IOException | IllegalArgumentException e) {
      return new Node(entry, true, null, e.getMessage());
    }
  }

  private static List<PeerDown> downs(List<Node> nodes, IntFunction<List<Integer>> coordinatesOf) {
    List<PeerDown> list = new ArrayList<>();
    for (Node node : nodes) {
      List<NodeStatus.Peer> peers = node.status() == null ? List.of() : node.status().peers();
      for (NodeStatus.Peer peer : peers) {
        if (!peer.state().equals("UP") && !peer.reason().isEmpty()) {
          list.add(
              new PeerDown(
                  peer.node(),
                  coordinatesOf.apply(peer.node()),
                  peer.reason(),
                  peer.session(),
                  peer.lastAcknowledged(),
                  node.entry().node()));
        }
      }
    }
    return list;
  }

  /** Nodes that do not answer, with the reason. */
  public Map<Integer, String> absent() {
    Map<Integer, String> reasons = new TreeMap<>();
    for (Node node : nodes) {
      if (node.status() == null) {
        reasons.put(node.entry().node(), node.error());
      }
    }
    return reasons;
  }

  /** What links and paths of the nodes that answer lack, for people. */
  public List<String> complaints() {
    return nodes.stream().flatMap(node -> node.complaints().stream()).toList();
  }

  /**
   * Everything runs, is ready and well cabled, no session is down, no rail without a carrier and no
   * neighbour missing.
   */
  public boolean healthy() {
    return down.isEmpty() && nodes.stream().allMatch(Node::isWell);
  }
}
