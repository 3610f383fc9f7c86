package org.pmhxb.cost;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.pmhxb.cost.Measurement.Effort;

/** On a machine whose speed the test says; what is measured in it is not judged. */
class MeasurementTest {
  private static final Scenario SCENARIO = new Scenario(Path.RELAY, 32, 1, 1);
  private static final double FAST_NS = 1.0;
  private static final double SLOW_NS = 1.8;

  /** Two rounds in each placement: enough. */
  private static final int ROUNDS = 2 * Course.PLACEMENTS;

  private static final Effort EFFORT = new Effort(ROUNDS, 1, 0);

  private double stepNs = SLOW_NS;
  private Measurement measurement;

  @BeforeEach
  void begin() {
    measurement = new Measurement(EFFORT, new Pace(() -> stepNs));
  }

  private Figures figures(Course course) {
    return measurement.figures(course).getFirst();
  }

  private void again(Course course, double leastStepNs, long forMs) {
    measurement.runAgain(
        course, leastStepNs, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(forMs));
  }

  @Test
  void whatOnlyASlowMachineMetIsMeasuredAgainWhenItIsFast() {
    Course course = measurement.run(SCENARIO);
    long packets = figures(course).packets();
    String digest = figures(course).digest();
    assertThat(figures(course).rounds()).isEqualTo(ROUNDS);

    stepNs = FAST_NS;
    again(course, FAST_NS, 60_000);

    assertThat(figures(course).rounds()).isEqualTo(ROUNDS);
    assertThat(figures(course).stepNs()).isEqualTo(FAST_NS);
    assertThat(figures(course).packets()).isGreaterThan(packets);
    assertThat(figures(course).digest()).isNotEqualTo(digest);
    assertThat(figures(course).fault()).isNull();
  }

  @Test
  void whatAFastMachineMetIsLeftAsItIs() {
    stepNs = FAST_NS;
    Course course = measurement.run(SCENARIO);
    Figures before = figures(course);

    again(course, FAST_NS, 60_000);

    assertThat(figures(course)).isEqualTo(before);
  }

  /** All that there is counts then. */
  @Test
  void aMachineThatStaysSlowIsWaitedForNoLongerThanAllowed() {
    Course course = measurement.run(SCENARIO);
    Figures before = figures(course);
    long beginNs = System.nanoTime();

    again(course, FAST_NS, 60);

    assertThat(System.nanoTime() - beginNs).isGreaterThanOrEqualTo(60_000_000L);
    assertThat(figures(course)).isEqualTo(before);
    assertThat(before.rounds()).isEqualTo(ROUNDS);
    assertThat(before.stepNs()).isEqualTo(SLOW_NS);
  }

  @Test
  void nothingIsBegunWhenTheTimeIsOver() {
    Course course = measurement.run(SCENARIO);
    stepNs = FAST_NS;

    again(course, FAST_NS, 0);

    assertThat(figures(course).rounds()).isEqualTo(ROUNDS);
  }

  /** Rounds that a slow machine met do not ask for more at once. */
  @Test
  void aSlowMachineIsNotAskedForMoreAtOnce() {
    stepNs = FAST_NS;
    measurement.run(SCENARIO);
    stepNs = SLOW_NS;

    assertThat(figures(measurement.run(SCENARIO)).rounds()).isEqualTo(ROUNDS);
  }
}
