package org.pmhxb.cli;

import java.util.Set;
import org.pmhxb.cli.bench.TrafficPlan;
import org.pmhxb.router.RailLayout;
import org.pmhxb.router.Shape;
import picocli.CommandLine.Option;

/** A benchmark between two nodes, with relays between them or without. */
abstract class PairBench extends ClusterBench {
  @Option(
      names = "--links",
      paramLabel = "N",
      description = "Two nodes joined by N links: short for --shape 2 --rails N.")
  private Integer links;

  @Option(
      names = "--relays",
      paramLabel = "K",
      defaultValue = "0",
      description = "Nodes between the two, 0 to 2.")
  private int relays;

  @Option(
      names = "--together",
      description =
          "shm, memif: the two nodes share a process and its poll thread, and the relays another: what a"
              + " relay costs where each has a processor.")
  private boolean together;

  @Override
  void checkOptions() {
    super.checkOptions();
    if (links != null && (options().shape() != null || options().rails() != null)) {
      throw wrongUsage("--links N stands for --shape 2 --rails N: give one or the other");
    }
    if (links != null) {
      range("--links", links, 1, RailLayout.MAX_PER_DIMENSION);
    }
    range("--relays", relays, 0, 2);
  }

  @Override
  Shape wantedShape() {
    return links == null ? super.wantedShape() : Shape.of(2);
  }

  @Override
  Integer wantedRails() {
    return links == null ? super.wantedRails() : links;
  }

  @Override
  String standsFor() {
    return links == null
        ? ""
        : " (--links %1$d stands for --shape 2 --rails %1$d)".formatted(links);
  }

  @Override
  boolean together() {
    return together;
  }

  @Override
  int relays() {
    return relays;
  }

  @Override
  Shape smallestShape() {
    return Shape.parse("2" + "x2".repeat(relays));
  }

  @Override
  TrafficPlan traffic(Shape shape, int rails, Set<Integer> absent) {
    return TrafficPlan.pair(kind(), shape, rails, relays, both());
  }
}
