package org.pmhxb.cli.bench.collective;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.pmhxb.cli.bench.Spread;
import org.pmhxb.collectives.Algorithm;
import org.pmhxb.collectives.Collective;
import org.pmhxb.collectives.CostModel;
import org.pmhxb.collectives.Problem;
import org.pmhxb.router.Shape;

class CollectiveSuiteTest {
  /** On which the n-th algorithm takes n times 10 us. */
  private static final class Slower implements CollectiveMachine {
    private int measured;

    @Override
    public Taken measure(Algorithm algorithm, Problem problem, int rounds) {
      double us = 10.0 * ++measured;
      return new Taken(new Spread(us, us, us, rounds), 1, 0, 0);
    }

    @Override
    public void close() {}
  }

  @Test
  void eachLineIsComparedWithTheFastestOfItsLength() throws Exception {
    CollectiveSuite suite = new CollectiveSuite(Shape.of(2, 2), CostModel.gigabit());
    Slower machine = new Slower();

    for (int length = 0; length < 2; length++) {
      machine.measured = 0;
      List<CollectivePoint> points =
          suite.measure(machine, Collective.ALLREDUCE, 8_192, 3, line -> {});

      assertThat(points).hasSizeGreaterThan(2);
      assertThat(points.stream().filter(CollectivePoint::chosen)).hasSize(1);
      for (int i = 0; i < points.size(); i++) {
        assertThat(points.get(i).timesFastest()).isEqualTo(i + 1);
      }
    }
  }
}
