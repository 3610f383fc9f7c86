package org.pmhxb.cli.bench.paper;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import org.pmhxb.cli.bench.paper.PaperPoint.Setup;
import org.pmhxb.cli.bench.paper.PaperPoint.Traffic;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.router.Shape;

/**
 * What is measured for which table and figure. Pure.
 *
 * @param rates of the links by section
 * @param sizes of the messages along the curves, bytes, ascending
 */
record PaperPlan(Map<Section, LinkRate> rates, List<Integer> sizes) {
  static final int SMALL_BYTES = 4;
  static final int LARGE_BYTES = 8_192;
  static final List<Integer> LINKS = List.of(1, 2, 4, 6, 8, 9);
  static final List<Integer> FULL_SIZES =
      List.of(SMALL_BYTES, 16, 64, 256, 512, 1_024, 2_048, 4_096, LARGE_BYTES);
  static final List<Integer> QUICK_SIZES = List.of(SMALL_BYTES, 64, 1_024, LARGE_BYTES);

  private static final int RAILS = 2;
  private static final int MORE_RAILS = 4;

  /** What the rate of the links is chosen for as one: a section of the paper, or a column of it. */
  enum Section {
    /** Table 4 and figure 3. */
    ONE_WAY("4"),
    /** Table 5 and figure 4. */
    NEIGHBOURS("5"),
    /** Table 6 but for its four links, and figure 5. */
    RELAYS("6"),
    /** The rest of table 6. */
    RELAYS_FOUR_LINKS("6, 4 links");

    private final String table;

    Section(String table) {
      this.table = table;
    }

    /** Number of its table in the paper, and of which links, if not all. */
    String table() {
      return table;
    }
  }

  /** The point of a section that asks most of the machine. */
  static PaperPoint heaviest(Section section, LinkRate rate) {
    return switch (section) {
      case ONE_WAY -> new PaperPoint(setup(1, 9, rate), Traffic.ONE_WAY, 0, LARGE_BYTES);
      case NEIGHBOURS -> new PaperPoint(setup(3, RAILS, rate), Traffic.BOTH, 3, LARGE_BYTES);
      case RELAYS -> new PaperPoint(setup(3, RAILS, rate), Traffic.ONE_WAY, 2, LARGE_BYTES);
      case RELAYS_FOUR_LINKS ->
          new PaperPoint(setup(2, MORE_RAILS, rate), Traffic.ONE_WAY, 1, LARGE_BYTES);
    };
  }

  private static Setup setup(int dimensions, int rails, LinkRate rate) {
    return new Setup(Shape.parse("2" + "x2".repeat(dimensions - 1)), rails, rate);
  }

  /** Table 4 and figure 3. */
  PaperPoint oneWay(int links, int sizeBytes) {
    return new PaperPoint(
        setup(1, links, rates.get(Section.ONE_WAY)), Traffic.ONE_WAY, 0, sizeBytes);
  }

  /** Table 4's time per packet: no link is the limit. */
  PaperPoint smallOneWay(int links) {
    return new PaperPoint(setup(1, links, null), Traffic.ONE_WAY, 0, SMALL_BYTES);
  }

  /** Table 5 and figure 4. */
  PaperPoint neighbours(int dimensions, Traffic traffic, int sizeBytes) {
    return new PaperPoint(
        setup(dimensions, RAILS, rates.get(Section.NEIGHBOURS)), traffic, dimensions, sizeBytes);
  }

  /** Table 6 with two links, and figure 5. */
  PaperPoint relayed(int relays, int sizeBytes) {
    return new PaperPoint(
        setup(relays + 1, RAILS, rates.get(Section.RELAYS)), Traffic.ONE_WAY, relays, sizeBytes);
  }

  /** Table 6 with four links; the paper has none over two relays. */
  PaperPoint relayedFourLinks(int relays) {
    return new PaperPoint(
        setup(relays + 1, MORE_RAILS, rates.get(Section.RELAYS_FOUR_LINKS)),
        Traffic.ONE_WAY,
        relays,
        LARGE_BYTES);
  }

  /** Table 6's half round trip. */
  PaperPoint ping(int relays) {
    return new PaperPoint(setup(relays + 1, RAILS, null), Traffic.PING, relays, SMALL_BYTES);
  }

  /** Section 5.3's loss of small messages: no link is the limit. */
  PaperPoint smallRelayed(int relays) {
    return new PaperPoint(setup(relays + 1, RAILS, null), Traffic.ONE_WAY, relays, SMALL_BYTES);
  }

  /** All points, each once, in the order of the tables. */
  SequencedSet<PaperPoint> points() {
    SequencedSet<PaperPoint> points = new LinkedHashSet<>();
    for (int links : LINKS) {
      sizes.forEach(size -> points.add(oneWay(links, size)));
      points.add(smallOneWay(links));
    }
    for (int dimensions = 1; dimensions <= 3; dimensions++) {
      for (Traffic traffic : List.of(Traffic.SEND, Traffic.RECEIVE)) {
        points.add(neighbours(dimensions, traffic, LARGE_BYTES));
      }
      for (int size : sizes) {
        points.add(neighbours(dimensions, Traffic.BOTH, size));
      }
    }
    for (int relays = 0; relays <= 2; relays++) {
      for (int size : sizes) {
        points.add(relayed(relays, size));
      }
      if (PaperFigures.TABLE_6.get(relays).fourLinksMb() != null) {
        points.add(relayedFourLinks(relays));
      }
      points.add(ping(relays));
      points.add(smallRelayed(relays));
    }
    return points;
  }

  /** The same by cluster, so that each comes up once. */
  Map<Setup, List<PaperPoint>> bySetup() {
    Map<Setup, List<PaperPoint>> groups = new LinkedHashMap<>();
    for (PaperPoint point : points()) {
      groups.computeIfAbsent(point.setup(), any -> new ArrayList<>()).add(point);
    }
    return groups;
  }
}
