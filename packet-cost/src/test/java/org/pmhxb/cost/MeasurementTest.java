package org.pmhxb.cost;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.pmhxb.cost.Measurement.Effort;

/** On a machine whose speed the test says; what is measured in it is not judged. */
class MeasurementTest {
  private static final Scenario SCENARIO = new Scenario(Path.RELAY, 32, 1, 1);
  private static final double FAST_NS = 1;
  private static final double SLOW_NS = 1.75;

  /** Two rounds in each placement: enough. */
  private static final int ROUNDS = 2 * ScenarioRun.PLACEMENTS;

  private static final Effort EFFORT = new Effort(ROUNDS, 1, 0);

  private double stepNs = SLOW_NS;
  private Measurement measurement;

  @BeforeEach
  void begin() {
    measurement = new Measurement(EFFORT, new Pace(() -> stepNs));
  }

  @AfterEach
  void end() {
    measurement.close();
  }

  private Figures figures(ScenarioRun run) {
    return measurement.figures(run).getFirst();
  }

  private void again(ScenarioRun run, double leastStepNs, long forMs) {
    measurement.runAgain(
        run, leastStepNs, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(forMs));
  }

  @Test
  void whatOnlyASlowMachineMetIsMeasuredAgainWhenItIsFast() {
    ScenarioRun run = measurement.run(SCENARIO);
    long packets = figures(run).packets();
    String digest = figures(run).digest();
    assertThat(figures(run).rounds()).isEqualTo(ROUNDS);

    stepNs = FAST_NS;
    again(run, FAST_NS, 60_000);

    // Of most placements: that is enough.
    assertThat(figures(run).rounds()).isEqualTo(2 * (ScenarioRun.PLACEMENTS / 2 + 1));
    assertThat(figures(run).stepNs()).isEqualTo(FAST_NS);
    assertThat(figures(run).packets()).isGreaterThan(packets);
    assertThat(figures(run).digest()).isNotEqualTo(digest);
    assertThat(figures(run).slow()).isFalse();
  }

  @Test
  void whatAFastMachineMetIsLeftAsItIs() {
    stepNs = FAST_NS;
    ScenarioRun run = measurement.run(SCENARIO);
    Figures before = figures(run);

    again(run, FAST_NS, 60_000);

    assertThat(figures(run)).isEqualTo(before);
  }

  /** All that there is counts then. */
  @Test
  void aMachineThatStaysSlowIsWaitedForNoLongerThanAllowed() {
    ScenarioRun run = measurement.run(SCENARIO);
    Figures before = figures(run);
    long beginNs = System.nanoTime();

    again(run, FAST_NS, 60);

    assertThat(System.nanoTime() - beginNs).isBetween(60_000_000L, 30_000_000_000L);
    assertThat(before.slow()).isFalse();
    assertThat(figures(run).slow()).isTrue();
    assertThat(figures(run).packets()).isGreaterThan(before.packets());
    // Two of one set-up that waited.
    assertThat(figures(run).rounds()).isEqualTo(ROUNDS + 2);
    assertThat(figures(run).stepNs()).isEqualTo(SLOW_NS);
  }

  @Test
  void nothingIsBegunWhenTheTimeIsOver() {
    ScenarioRun run = measurement.run(SCENARIO);
    long packets = figures(run).packets();
    stepNs = FAST_NS;

    again(run, FAST_NS, 0);

    assertThat(figures(run).packets()).isEqualTo(packets);
    assertThat(figures(run).slow()).isTrue();
  }

  @Test
  void aMachineThatBecomesFastIsWaitedFor() {
    ScenarioRun run = measurement.run(SCENARIO);
    long fastNs = System.nanoTime() + 100_000_000;
    Measurement later =
        new Measurement(EFFORT, new Pace(() -> System.nanoTime() < fastNs ? SLOW_NS : FAST_NS));

    later.runAgain(run, FAST_NS, System.nanoTime() + TimeUnit.SECONDS.toNanos(60));

    assertThat(System.nanoTime()).isGreaterThanOrEqualTo(fastNs);
    assertThat(later.figures(run).getFirst().slow()).isFalse();
    later.close();
  }

  /** It comes and goes with others on the core, for less than a batch at times. */
  @Test
  void aMachineThatIsFastForSomeBatchesInARowIsFastEnough() {
    int[] looks = {0};
    Measurement unsteady =
        new Measurement(
            new Effort(ROUNDS, 50, 0), new Pace(() -> looks[0]++ % 8 == 0 ? SLOW_NS : FAST_NS));

    Figures figures = unsteady.figures(unsteady.run(SCENARIO)).getFirst();

    assertThat(figures.rounds()).isEqualTo(ROUNDS);
    assertThat(figures.stepNs()).isEqualTo(FAST_NS);
    assertThat(figures.slow()).isFalse();
    unsteady.close();
  }

  /** Each batch has a slow look at one of its ends. */
  @Test
  void aMachineThatChangesInEachBatchIsSlow() {
    int[] looks = {0};
    Measurement flickering =
        new Measurement(
            EFFORT, new Pace(() -> looks[0]++ < 100 || looks[0] % 2 == 0 ? FAST_NS : SLOW_NS));

    Figures figures = flickering.figures(flickering.run(SCENARIO)).getFirst();

    assertThat(figures.slow()).isTrue();
    assertThat(figures.stepNs()).isEqualTo(SLOW_NS);
    flickering.close();
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
