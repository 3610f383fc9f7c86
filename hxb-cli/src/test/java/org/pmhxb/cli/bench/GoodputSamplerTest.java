package org.pmhxb.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class GoodputSamplerTest {
  private static final long MS = 1_000_000L;

  private final GoodputSampler sampler = new GoodputSampler(null);

  /** A thousand bytes a millisecond. */
  private void steady(long fromMs, long toMs, long bytesBefore) {
    for (long ms = fromMs; ms <= toMs; ms++) {
      sampler.add(ms * MS, ms * MS, bytesBefore + (ms - fromMs) * 1_000);
    }
  }

  @Test
  void isTheMeanOfWhatLiesBetweenTheMoments() {
    steady(0, 100, 0);
    steady(101, 200, 100_000);

    assertThat(sampler.bytesPerSecond(10 * MS, 90 * MS)).isEqualTo(1e6);
    assertThat(sampler.bytesPerSecond(0, 200 * MS)).isEqualTo(199_000 / 0.2);
    assertThat(sampler.bytesPerSecond(10 * MS, 10 * MS)).isZero();
    assertThat(sampler.missingNs(0, 200 * MS, 1e6)).isEqualTo(MS);
  }

  /** A machine whose host withholds its processors for 300 ms has not carried less meanwhile. */
  @Test
  void aTimeInWhichTheProcessWasHeldUpDoesNotCount() {
    steady(0, 100, 0);
    steady(400, 500, 100_000);

    assertThat(sampler.bytesPerSecond(0, 500 * MS)).isEqualTo(1e6);
    assertThat(sampler.heldUpNs()).isEqualTo(300 * MS);
  }

  /** A node whose poll thread stands still answers late, and delivers nothing. */
  @Test
  void aTimeInWhichTheNodeDoesNotAnswerCounts() {
    steady(0, 100, 0);
    sampler.add(101 * MS, 301 * MS, 100_000);
    steady(302, 401, 100_000);

    assertThat(sampler.bytesPerSecond(0, 401 * MS)).isEqualTo(199_000 * 1e3 / 401);
    assertThat(sampler.heldUpNs()).isZero();
  }

  @Test
  void aStopOfDeliveryCounts() {
    steady(0, 100, 0);
    for (long ms = 101; ms <= 200; ms++) {
      sampler.add(ms * MS, ms * MS, 100_000);
    }

    assertThat(sampler.bytesPerSecond(0, 200 * MS)).isEqualTo(0.5e6);
  }
}
