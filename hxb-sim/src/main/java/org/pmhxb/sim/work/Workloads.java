package org.pmhxb.sim.work;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.function.ToIntFunction;
import org.pmhxb.router.Coordinates;
import org.pmhxb.router.Shape;

/** Workloads by name. */
public enum Workloads {
  EXCHANGE("every node with its neighbours on both sides in every dimension"),
  ALL_TO_ALL("every node with every other"),
  INCAST("every node to node 0"),
  ONE_WAY("node 0 to the node farthest from it"),
  PERMUTATION("every node to the one half way round in every dimension: two relays in 3-D"),
  RANDOM("every node to some others over three channels, 1 B to 1 MB"),
  REQUEST_REPLY("every node asks some others and is answered"),
  CHURN("endpoints that close and open again, to some others and to the node itself, 1 B to 4 KB");

  private static final int RANDOM_PARTNERS = 2;
  private static final int RANDOM_CHANNELS = 3;

  private final String explanation;

  Workloads(String explanation) {
    this.explanation = explanation;
  }

  public String explanation() {
    return explanation;
  }

  /** As on the command line: lower case with hyphens. */
  @Override
  public String toString() {
    return name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
  }

  /**
   * @param messages from each node to each of its destinations on each channel
   * @param sizeBytes of each message, or 0 for random sizes of up to three frames
   * @param spanNs over which the messages are spread; 0: as fast as they can be sent
   */
  public Workload of(int messages, int sizeBytes, long spanNs) {
    ToIntFunction<SplittableRandom> sizes =
        sizeBytes > 0 ? r -> sizeBytes : r -> logarithmic(r, 4_000);
    return switch (this) {
      case RANDOM ->
          host ->
              List.of(
                  new Traffic(
                      host,
                      RANDOM_CHANNELS,
                      partners(host),
                      messages,
                      spanNs,
                      r -> logarithmic(r, sizeBytes > 0 ? sizeBytes : 1 << 20)));
      case REQUEST_REPLY ->
          host -> List.of(new RequestReply(host, partners(host), messages, sizes));
      case CHURN ->
          host -> {
            List<Integer> destinations = partners(host);
            destinations.add(host.self());
            return List.of(new Churn(host, destinations, messages, sizes));
          };
      default -> host -> List.of(new Traffic(host, 1, destinations(host), messages, spanNs, sizes));
    };
  }

  /** 1 to {@code most}, each order of magnitude as often as any other. */
  static int logarithmic(SplittableRandom random, int most) {
    return (int) Math.clamp((long) Math.exp(random.nextDouble() * Math.log(most + 1.0)), 1, most);
  }

  private List<Integer> destinations(Host host) {
    Shape shape = host.shape();
    int self = host.self();
    return switch (this) {
      case EXCHANGE -> neighbours(shape, self);
      case ALL_TO_ALL -> others(shape, self);
      case INCAST -> self == 0 ? List.of() : List.of(0);
      case ONE_WAY -> self == 0 ? List.of(halfWay(shape, 0)) : List.of();
      default -> halfWay(shape, self) == self ? List.of() : List.of(halfWay(shape, self));
    };
  }

  private static List<Integer> others(Shape shape, int self) {
    List<Integer> nodes = new ArrayList<>();
    for (int i = 1; i < shape.nodes(); i++) {
      nodes.add((self + i) % shape.nodes());
    }
    return nodes;
  }

  private static List<Integer> neighbours(Shape shape, int self) {
    TreeSet<Integer> found = new TreeSet<>();
    for (int d = 0; d < 3; d++) {
      for (int step = -1; step <= 1; step += 2) {
        int[] at = shape.coordinates(self).toList().stream().mapToInt(i -> i).toArray();
        at[d] = Math.floorMod(at[d] + step, shape.extent(d));
        found.add(shape.node(new Coordinates(at[0], at[1], at[2])));
      }
    }
    found.remove(self);
    return List.copyOf(found);
  }

  private static int halfWay(Shape shape, int self) {
    Coordinates c = shape.coordinates(self);
    return shape.node(
        new Coordinates(
            (c.x() + shape.extent(0) / 2) % shape.extent(0),
            (c.y() + shape.extent(1) / 2) % shape.extent(1),
            (c.z() + shape.extent(2) / 2) % shape.extent(2)));
  }

  private static List<Integer> partners(Host host) {
    List<Integer> others = new ArrayList<>(others(host.shape(), host.self()));
    List<Integer> chosen = new ArrayList<>();
    while (chosen.size() < RANDOM_PARTNERS && !others.isEmpty()) {
      chosen.add(others.remove(host.random().nextInt(others.size())));
    }
    return chosen;
  }
}
