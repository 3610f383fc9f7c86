package org.pmhxb.cost;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What voids a run whose two sides did the same. */
class ScenarioRunTest {
  private static final long[] DIGESTS = {1, 2};

  private final ScenarioRun run = new ScenarioRun(new Scenario(Path.RECEIVE, 32, 1, 1));

  @BeforeEach
  void measure() {
    PhaseTimes times = new PhaseTimes();
    times.add(20, 0, 5, 1);
    times.met(1);
    for (int placement = 0; placement < ScenarioRun.PLACEMENTS; placement++) {
      run.placement(placement).add(times, times);
    }
  }

  private Figures figures() {
    return run.figures(1).getFirst();
  }

  @Test
  void lessThanAByteForAHundredPacketsIsNoAllocation() {
    run.add(100_000, 999, DIGESTS);
    assertThat(figures().fault()).isNull();
    assertThat(figures().bytesAllocatedPerPacket()).isEqualTo(0.00999);
  }

  @Test
  void aByteForAHundredPacketsVoidsTheRun() {
    run.add(100_000, 1_000, DIGESTS);
    assertThat(figures().fault()).startsWith("0.0100 B allocated per packet, the limit is 0.01 B");
  }

  /** Nor do many set-ups that allocate nothing hide one that does. */
  @Test
  void oneSetUpOfManyVoidsTheRun() {
    run.add(100_000, 1_000, DIGESTS);
    run.add(10_000_000, 0, DIGESTS);
    assertThat(figures().fault()).contains("allocated");
    assertThat(figures().packets()).isEqualTo(10_100_000);
  }

  @Test
  void whatFailedHasNoFigures() {
    run.add(100_000, 0, DIGESTS);
    run.fail("Java counted other things than C");
    assertThat(figures().fault()).isEqualTo("Java counted other things than C");
    assertThat(figures().packets()).isZero();
    assertThat(figures().java().median()).isNaN();
  }
}
