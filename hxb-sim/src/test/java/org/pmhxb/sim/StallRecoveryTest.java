package org.pmhxb.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.fault.Fault;
import org.pmhxb.sim.net.LinkSpec;
import org.pmhxb.sim.work.Workload;
import org.pmhxb.sim.work.Workloads;

/**
 * Nodes that stand still again and again, as on a host that withholds processors: what a link
 * carries meanwhile is what the time in which both its ends run is worth, and when they stand still
 * no more, it is what it was at once. No window, rate or bound stays small behind a stall.
 */
class StallRecoveryTest {
  private static final long MS = 1_000_000L;
  private static final long BEFORE_NS = 150 * MS;
  private static final long STALLS_NS = 750 * MS;
  private static final long AFTER_NS = 250 * MS;
  private static final long BIN_NS = 5 * MS;
  private static final int SIZE = 3_840;

  @ParameterizedTest
  @CsvSource({"2, 2, ONE_WAY, 1", "2, 4, ONE_WAY, 2", "2, 2, EXCHANGE, 3", "2x2, 2, EXCHANGE, 4"})
  void whatALinkCarriesComesBackBehindStalls(String shape, int rails, Workloads work, long seed) {
    Shape machine = Shape.parse(shape);
    LinkSpec link = new LinkSpec(25_000_000L, 10_000, 512 * 1024, 256);
    double perLink = 1e9 / link.sendNs(SIZE + 80);
    int links = work == Workloads.ONE_WAY ? rails : rails * machine.nodes() * dimensions(machine);
    double seconds = (BEFORE_NS + STALLS_NS + AFTER_NS) / 1e9;
    int streams = work == Workloads.ONE_WAY ? 1 : machine.nodes() * dimensions(machine);
    int messages = (int) (1.1 * seconds * perLink * links / streams);
    List<Deliveries> at = new ArrayList<>();
    Workload streaming = work.of(messages, SIZE, 0);
    Workload watched = Deliveries.watching(streaming, BIN_NS, at);
    List<Fault> stalls = stalls(machine.nodes() - 1, seed);

    SimResult result =
        Simulation.run(
            StreamOptions.of(machine, rails, link, watched, new ArrayList<>(stalls), seed));

    assertThat(result.violation()).isNull();
    Deliveries seen = at.getLast();
    double before = seen.rate(BEFORE_NS / 2, BEFORE_NS);
    long endNs = BEFORE_NS + STALLS_NS;
    double during = seen.rate(BEFORE_NS, endNs);
    double after = seen.rate(endNs + 20 * MS, endNs + AFTER_NS / 2);
    if (machine.nodes() == 2) {
      long stoodNs = stalls.stream().mapToLong(Fault::lengthNs).sum();
      double ran = 1 - (double) stoodNs / STALLS_NS;
      assertThat(during).isGreaterThan(0.9 * ran * before);
    }
    assertThat(after).isGreaterThan(0.97 * before);
  }

  private static int dimensions(Shape shape) {
    int dimensions = 0;
    for (int d = 0; d < 3; d++) {
      dimensions += shape.extent(d) > 1 ? 1 : 0;
    }
    return dimensions;
  }

  /** Of 5 to 120 ms, 20 to 100 ms apart; none of the last node, which keeps the time. */
  private static List<Fault> stalls(int nodes, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<Fault> stalls = new ArrayList<>();
    long atNs = BEFORE_NS;
    while (true) {
      long lengthNs = random.nextLong(5 * MS, 120 * MS);
      if (atNs + lengthNs > BEFORE_NS + STALLS_NS) {
        return stalls;
      }
      int node = random.nextInt(nodes);
      stalls.add(Fault.parse("stall@%d:%dns+%dns".formatted(node, atNs, lengthNs)));
      atNs += lengthNs + random.nextLong(20 * MS, 100 * MS);
    }
  }
}
