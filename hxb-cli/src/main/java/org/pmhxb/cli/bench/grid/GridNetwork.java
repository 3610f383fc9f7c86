package org.pmhxb.cli.bench.grid;

import java.util.Arrays;
import java.util.stream.Collectors;
import org.pmhxb.collectives.CostModel;
import org.pmhxb.collectives.Topology;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.net.LinkSpec;
import org.pmhxb.sim.net.Trunk;

/** What joins the two clusters (GridMPI, section 3.1), with the paper's letters. */
public enum GridNetwork {
  FOUR_LINKS("4", "four links of 1 Gbit/s", 4, 0),
  ONE_LINK("1", "one link of 1 Gbit/s", 1, 0),
  DELAYED("d", "one link of 1 Gbit/s, 1 ms each way", 1, 1_000_000),

  /**
   * Not in the paper, whose trees owe to the order of ranks that they cross once or eight times.
   */
  INTERLEAVED("1i", "one link of 1 Gbit/s, ranks in turn from the two clusters", 1, 0);

  /** Nodes 0 to 7 and 8 to 15, in one line. */
  static final Shape SHAPE = Shape.of(16);

  static final int BOUNDARY = 8;

  /** A switch more on the way. */
  private static final long CABLE_LATENCY_NS = 10_000;

  private final String letter;
  private final String explanation;
  private final int links;
  private final long delayNs;

  GridNetwork(String letter, String explanation, int links, long delayNs) {
    this.letter = letter;
    this.explanation = explanation;
    this.links = links;
    this.delayNs = delayNs;
  }

  /** As in the paper's legends. */
  public String letter() {
    return letter;
  }

  public String explanation() {
    return explanation;
  }

  /** A line that says what the letters mean. */
  static String legend() {
    return Arrays.stream(values())
        .map(network -> network.letter + " " + network.explanation)
        .collect(Collectors.joining("; ", "link: what joins the two clusters. ", ""));
  }

  Trunk trunk() {
    LinkSpec gigabit = LinkSpec.gigabit();
    return new Trunk(
        0,
        BOUNDARY,
        links,
        new LinkSpec(
            gigabit.bitsPerSecond(),
            CABLE_LATENCY_NS + delayNs,
            gigabit.queueBytes(),
            gigabit.ringFrames()));
  }

  /** Nodes by rank. */
  int[] nodes() {
    int[] nodes = new int[SHAPE.nodes()];
    Arrays.setAll(nodes, r -> this == INTERLEAVED ? r / 2 + (r % 2) * BOUNDARY : r);
    return nodes;
  }

  Topology topology() {
    int[] clusters = new int[SHAPE.nodes()];
    Arrays.setAll(clusters, node -> node < BOUNDARY ? 0 : 1);
    return Topology.clusters(clusters, links);
  }

  /** What the way to the other cluster and back takes longer than within one. */
  long longWayNs() {
    return 2 * (CABLE_LATENCY_NS + delayNs);
  }

  static boolean isFar(int a, int b) {
    return a < BOUNDARY != b < BOUNDARY;
  }

  CostModel model() {
    CostModel local = CostModel.gigabit();
    return local.withSlow(
        local.latencyNs() + CABLE_LATENCY_NS + delayNs,
        8e9 / LinkSpec.gigabit().bitsPerSecond(),
        LinkSpec.gigabit().queueBytes());
  }
}
