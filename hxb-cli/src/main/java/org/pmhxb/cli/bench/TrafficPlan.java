package org.pmhxb.cli.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.pmhxb.cli.Words;
import org.pmhxb.cli.workload.WorkloadSpec;
import org.pmhxb.router.Coordinates;
import org.pmhxb.router.Shape;

/**
 * Who sends to whom in a benchmark, and which links that uses.
 *
 * @param destinations by node; a node without an entry takes no part
 * @param links directed links whose raw rates together bound the traffic
 * @param linksPerNode links of one node in use
 * @param ownFrames whether each message travels in a frame of its own, small as it may be
 */
public record TrafficPlan(
    BenchKind kind,
    Map<Integer, SortedSet<Integer>> destinations,
    int links,
    int linksPerNode,
    boolean ownFrames) {

  /** Small messages share frames. */
  TrafficPlan(
      BenchKind kind, Map<Integer, SortedSet<Integer>> destinations, int links, int linksPerNode) {
    this(kind, destinations, links, linksPerNode, false);
  }

  /** The same with each message in a frame of its own. */
  public TrafficPlan withOwnFrames() {
    return new TrafficPlan(kind, destinations, links, linksPerNode, true);
  }

  /**
   * One pair of nodes, one way or both ways, or a ping-pong between them.
   *
   * @param relays how many nodes lie between the two, 0 to the shape's dimensions - 1
   * @throws IllegalArgumentException when the shape has no such pair
   */
  public static TrafficPlan pair(BenchKind kind, Shape shape, int rails, int relays, boolean both) {
    int[] place = new int[3];
    int differing = 0;
    for (int d = 0; d < 3 && differing <= relays; d++) {
      if (shape.extent(d) > 1) {
        place[d] = 1;
        differing++;
      }
    }
    if (differing <= relays) {
      throw new IllegalArgumentException(
          "--relays "
              + relays
              + " needs a pair of nodes that differ in "
              + Words.count(relays + 1, "coordinate")
              + "; the shape "
              + shape
              + " has none");
    }
    int dst = shape.node(new Coordinates(place[0], place[1], place[2]));
    Map<Integer, SortedSet<Integer>> sends = new TreeMap<>();
    boolean answered = both || kind == BenchKind.LATENCY;
    sends.put(0, new TreeSet<>(List.of(dst)));
    sends.put(dst, answered ? new TreeSet<>(List.of(0)) : new TreeSet<>());
    return new TrafficPlan(kind, sends, both ? 2 * rails : rails, rails);
  }

  /**
   * Every node with its neighbours on both sides in every dimension, all at once.
   *
   * @param absent nodes that take no part
   */
  public static TrafficPlan exchange(Shape shape, int rails, Set<Integer> absent) {
    Map<Integer, SortedSet<Integer>> sends = new TreeMap<>();
    int links = 0;
    for (int node = 0; node < shape.nodes(); node++) {
      if (absent.contains(node)) {
        continue;
      }
      SortedSet<Integer> neighbours = new TreeSet<>();
      for (int d = 0; d < 3; d++) {
        SortedSet<Integer> ofDimension = new TreeSet<>();
        ofDimension.add(neighbour(shape, node, d, 1));
        ofDimension.add(neighbour(shape, node, d, -1));
        ofDimension.remove(node);
        ofDimension.removeAll(absent);
        // Two neighbours in one dimension share that dimension's links.
        links += ofDimension.isEmpty() ? 0 : rails;
        neighbours.addAll(ofDimension);
      }
      sends.put(node, neighbours);
    }
    return new TrafficPlan(BenchKind.EXCHANGE, sends, links, linksPerNode(shape, rails));
  }

  /** What one node exchanges with its neighbours (the paper's section 5.2). */
  public enum Star {
    /** It sends to all of them. */
    SEND,
    /** All of them send to it. */
    RECEIVE,
    /** Both at once. */
    BOTH
  }

  /**
   * Node 0 with one neighbour in each of the first dimensions.
   *
   * @param dimensions how many, 1 to those of the shape
   * @throws IllegalArgumentException when the shape has not that many
   */
  public static TrafficPlan star(Shape shape, int rails, int dimensions, Star star) {
    Map<Integer, SortedSet<Integer>> sends = new TreeMap<>();
    sends.put(0, new TreeSet<>());
    for (int d = 0; d < dimensions; d++) {
      int neighbour = d < 3 ? neighbour(shape, 0, d, 1) : 0;
      if (neighbour == 0) {
        throw new IllegalArgumentException(
            "a star of " + dimensions + " dimensions does not fit into the shape " + shape);
      }
      sends.put(neighbour, star == Star.SEND ? new TreeSet<>() : new TreeSet<>(List.of(0)));
      if (star != Star.RECEIVE) {
        sends.get(0).add(neighbour);
      }
    }
    int links = dimensions * rails;
    return new TrafficPlan(BenchKind.EXCHANGE, sends, star == Star.BOTH ? 2 * links : links, links);
  }

  /**
   * Every other node to node 0, all at once. Its own links are the bottleneck: on each line that
   * ends there arrives what has that line's dimension last on its way.
   *
   * @throws IllegalArgumentException when there is no other node
   */
  public static TrafficPlan incast(Shape shape, int rails) {
    if (shape.nodes() < 2) {
      throw new IllegalArgumentException(
          "--shape is " + shape + "; an incast needs 2 nodes or more");
    }
    Map<Integer, SortedSet<Integer>> sends = new TreeMap<>();
    sends.put(0, new TreeSet<>());
    for (int node = 1; node < shape.nodes(); node++) {
      sends.put(node, new TreeSet<>(List.of(0)));
    }
    int links = linksPerNode(shape, rails);
    return new TrafficPlan(BenchKind.INCAST, sends, links, links);
  }

  /**
   * Every node to every other one, all at once. What bounds it is the dimension of most nodes: of a
   * node's messages to all n nodes all but one in e cross a line of e nodes.
   *
   * @return of its links: how many links' worth of goodput the machine carries, rounded up
   * @throws IllegalArgumentException when there is no other node
   */
  public static TrafficPlan allToAll(Shape shape, int rails) {
    int nodes = shape.nodes();
    if (nodes < 2) {
      throw new IllegalArgumentException(
          "--shape is " + shape + "; all to all needs 2 nodes or more");
    }
    Map<Integer, SortedSet<Integer>> sends = new TreeMap<>();
    for (int node = 0; node < nodes; node++) {
      SortedSet<Integer> others = new TreeSet<>();
      for (int other = 0; other < nodes; other++) {
        others.add(other);
      }
      others.remove(node);
      sends.put(node, others);
    }
    int widest = Math.max(shape.extent(0), Math.max(shape.extent(1), shape.extent(2)));
    int links = Math.ceilDiv(rails * (nodes - 1) * widest, widest - 1);
    return new TrafficPlan(BenchKind.EXCHANGE, sends, links, linksPerNode(shape, rails));
  }

  private static int linksPerNode(Shape shape, int rails) {
    int links = 0;
    for (int d = 0; d < 3; d++) {
      links += shape.extent(d) > 1 ? rails : 0;
    }
    return links;
  }

  private static int neighbour(Shape shape, int node, int dimension, int step) {
    Coordinates c = shape.coordinates(node);
    int[] place = {c.x(), c.y(), c.z()};
    place[dimension] = Math.floorMod(place[dimension] + step, shape.extent(dimension));
    return shape.node(new Coordinates(place[0], place[1], place[2]));
  }

  /** The nodes that take part, and the others if there are any: two sets that share processes. */
  public List<SortedSet<Integer>> endsAndRelays(Shape shape) {
    SortedSet<Integer> ends = new TreeSet<>(destinations.keySet());
    SortedSet<Integer> relays = new TreeSet<>();
    for (int node = 0; node < shape.nodes(); node++) {
      if (!ends.contains(node)) {
        relays.add(node);
      }
    }
    return relays.isEmpty() ? List.of(ends) : List.of(ends, relays);
  }

  /**
   * What each node that takes part has to do.
   *
   * @param timelineMs see {@link WorkloadSpec}
   */
  public Map<Integer, WorkloadSpec> specs(
      int endpoint, int sizeBytes, long warmUpMs, long measureMs, long drainMs, long timelineMs) {
    Map<Integer, WorkloadSpec> specs = new TreeMap<>();
    destinations.forEach(
        (node, to) ->
            specs.put(
                node,
                new WorkloadSpec(
                    endpoint,
                    role(node),
                    List.copyOf(to),
                    sources(node),
                    sizeBytes,
                    ownFrames,
                    warmUpMs,
                    measureMs,
                    drainMs,
                    timelineMs)));
    return specs;
  }

  private WorkloadSpec.Kind role(int node) {
    if (kind != BenchKind.LATENCY) {
      return WorkloadSpec.Kind.STREAM;
    }
    return node == 0 ? WorkloadSpec.Kind.PING : WorkloadSpec.Kind.PONG;
  }

  private List<Integer> sources(int node) {
    List<Integer> sources = new ArrayList<>();
    destinations.forEach(
        (from, to) -> {
          if (to.contains(node)) {
            sources.add(from);
          }
        });
    return sources;
  }
}
