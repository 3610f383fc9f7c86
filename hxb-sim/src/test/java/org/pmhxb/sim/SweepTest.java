package org.pmhxb.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.fault.Profile;
import org.pmhxb.sim.work.Workloads;

/** The sweep that every test run makes: 260 seeds, shapes from a line to a cube. */
class SweepTest {
  @ParameterizedTest
  @CsvSource({
    "2x2x2, 2, MIXED, ALL_TO_ALL, 10, 1, 60",
    "4x1x1, 2, MIXED, ALL_TO_ALL, 20, 61, 85",
    "4x1x1, 2, MILD, ALL_TO_ALL, 20, 86, 100",
    "3x2x1, 1, MIXED, ALL_TO_ALL, 10, 101, 120",
    "2x2x2, 2, MIXED, EXCHANGE, 20, 121, 140",
    "2x2x2, 1, SELDOM, EXCHANGE, 20, 141, 150",
    "4x2x1, 2, MIXED, INCAST, 30, 151, 170",
    "4x2x1, 2, MILD, INCAST, 30, 171, 180",
    "2x2x1, 2, MIXED, RANDOM, 4, 181, 195",
    "2x2x1, 2, SELDOM, RANDOM, 4, 196, 200",
    "2x2x2, 1, MIXED, REQUEST_REPLY, 10, 201, 220",
    "3x2x2, 2, MIXED, PERMUTATION, 20, 221, 240",
    "2x2x1, 2, MIXED, CHURN, 10, 241, 250",
    "3x1x1, 1, NONE, CHURN, 20, 251, 260"
  })
  void everythingArrivesOrItsLossIsReported(
      String shape, int rails, Profile profile, Workloads work, int messages, long first, long last)
      throws InterruptedException {
    Scenario scenario = Scenario.of(Shape.parse(shape), rails, profile, work, messages);
    int jobs = Runtime.getRuntime().availableProcessors();

    Sweep.Outcome outcome = Sweep.run(scenario, first, last, jobs, 3, false, line -> {});

    assertThat(outcome.failures()).as("%s", outcome.violations()).isEqualTo(List.of());
    assertThat(outcome.seeds()).isEqualTo(last - first + 1);
    assertThat(outcome.delivered()).isPositive();
  }

  private static Scenario tiny() {
    return Scenario.of(Shape.parse("2"), 1, Profile.NONE, Workloads.EXCHANGE, 1);
  }

  @Test
  void aSeedThatIsNotRunToItsEndIsNoOutcome() {
    Consumer<String> exhausted =
        line -> {
          throw new OutOfMemoryError("none left");
        };

    assertThatThrownBy(() -> Sweep.run(tiny(), 7, 9, 1, 3, false, exhausted))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("seed 7 was not run to its end: java.lang.OutOfMemoryError: none left");
  }

  @Test
  @Timeout(20)
  void theLastSeedThatThereIsEndsASweep() throws InterruptedException {
    Sweep.Outcome outcome =
        Sweep.run(tiny(), Long.MAX_VALUE, Long.MAX_VALUE, 1, 3, false, line -> {});

    assertThat(outcome.seeds()).isEqualTo(1);
  }
}
