package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.pmhxb.pm.Backoff.Step;

class BackoffTest {
  private static final long ALONE_NS = 300;
  private static final long POLLER_NS = 5_000;
  private static final long COMPUTING_NS = 3_000_000;

  private final Backoff backoff = new Backoff();

  private long nowNs;

  private Step next(long roundNs) {
    nowNs += roundNs;
    return backoff.next(nowNs);
  }

  /** One wait: how often each step came until it slept, yields taking so long. */
  private int[] untilSleep(long yieldNs) {
    backoff.worked();
    int[] steps = new int[Step.values().length];
    for (Step step = next(ALONE_NS); ; step = next(ALONE_NS)) {
      steps[step.ordinal()]++;
      if (step == Step.SLEEP) {
        return steps;
      }
      if (step == Step.YIELD) {
        backoff.yielded(yieldNs);
      }
    }
  }

  @Test
  void aloneItSpinsThenYieldsThenSleeps() {
    assertThat(untilSleep(ALONE_NS)).containsExactly(Backoff.SPINS, Backoff.YIELDS, 1);
  }

  @Test
  void besideOtherPollersItYieldsInsteadOfSpinning() {
    untilSleep(POLLER_NS);
    assertThat(untilSleep(POLLER_NS)).containsExactly(0, Backoff.YIELDS, 1);
  }

  @Test
  void aCoreThatIsItsOwnAgainIsSpunOn() {
    untilSleep(POLLER_NS);
    int waits = 0;
    while (untilSleep(ALONE_NS)[Step.SPIN.ordinal()] == 0) {
      waits++;
    }
    assertThat(waits).isEqualTo(Math.ceilDiv(Backoff.MOST_SHORT, Backoff.YIELDS));
  }

  /** Frames that come while it would spin: every sixteenth wait asks all the same. */
  @Test
  void whoNeverYieldsFindsOtherPollersByProbes() {
    for (int wait = 1; wait < Backoff.PROBE_EVERY; wait++) {
      backoff.worked();
      assertThat(next(ALONE_NS)).as("wait %d", wait).isEqualTo(Step.SPIN);
    }
    backoff.worked();
    assertThat(next(ALONE_NS)).isEqualTo(Step.YIELD);
    backoff.yielded(POLLER_NS);
    backoff.worked();
    assertThat(next(ALONE_NS)).isEqualTo(Step.YIELD);
  }

  @Test
  void whereOthersComputeItSleepsAtOnce() {
    for (int i = 0; i < Backoff.SLOW_YIELDS - 1; i++) {
      backoff.yielded(COMPUTING_NS);
    }
    backoff.yielded(POLLER_NS);
    assertThat(next(ALONE_NS)).as("not in a row").isNotEqualTo(Step.SLEEP);
    for (int i = 0; i < Backoff.SLOW_YIELDS; i++) {
      backoff.yielded(COMPUTING_NS);
    }
    for (int i = 0; i < Backoff.SLEEPS_AFTER_SLOW_YIELDS; i++) {
      backoff.worked();
      assertThat(next(ALONE_NS)).isEqualTo(Step.SLEEP);
    }
    backoff.worked();
    assertThat(next(ALONE_NS)).isNotEqualTo(Step.SLEEP);
  }

  @Test
  void aGapBetweenSpinsShowsOthersToo() {
    assertThat(next(ALONE_NS)).isEqualTo(Step.SPIN);
    assertThat(next(Backoff.GAP_NS)).isEqualTo(Step.SPIN);
    assertThat(next(Backoff.GAP_NS + 1)).isEqualTo(Step.YIELD);
    backoff.worked();
    assertThat(next(Backoff.GAP_NS + 1)).as("the next wait").isEqualTo(Step.YIELD);
  }

  /** Long yields put the core down as shared; the sleeps behind them must not make that more. */
  @Test
  void aSleepIsNoGap() {
    for (int i = 0; i < Backoff.SLOW_YIELDS; i++) {
      backoff.yielded(COMPUTING_NS);
    }
    for (int i = 0; i < Backoff.SLEEPS_AFTER_SLOW_YIELDS; i++) {
      assertThat(next(COMPUTING_NS)).isEqualTo(Step.SLEEP);
    }
    int waits = 0;
    while (untilSleep(ALONE_NS)[Step.SPIN.ordinal()] == 0) {
      waits++;
    }
    int shorts = Backoff.SLOW_YIELDS * Backoff.SHORT_FOR_LONG;
    assertThat(waits).isEqualTo(Math.ceilDiv(shorts, Backoff.YIELDS));
  }

  /** A round that had work may take its time, and so may what lies between waits. */
  @Test
  void aGapBeforeAWaitShowsNothing() {
    next(ALONE_NS);
    backoff.worked();
    assertThat(next(POLLER_NS + Backoff.GAP_NS)).isEqualTo(Step.SPIN);
  }
}
