package org.pmhxb.pm.flow;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The window against links that are models of one line each (PROTOCOL.md section 5.3). */
class DelayWindowTest {
  private static final int FRAME_BYTES = 8_256;
  private static final long BASE_NS = 20_000L;

  private final DelayWindow window = new DelayWindow(FRAME_BYTES, 0);
  private long nowNs = 1_000_000_000L;

  /** One round trip of a full window over a link of this rate, alone. */
  private long roundTrip(double bytesPerNs) {
    long rttNs = BASE_NS + (long) (window.bytes() / bytesPerNs);
    nowNs += rttNs;
    window.used();
    window.onAcknowledged(window.bytes(), rttNs, rttNs, BASE_NS, 0, false, 0, nowNs);
    return rttNs;
  }

  /** A frame took ten milliseconds. */
  private void late() {
    late(10_000_000);
  }

  private void late(long rttNs) {
    nowNs += rttNs;
    window.onAcknowledged(FRAME_BYTES, rttNs, rttNs, BASE_NS, 0, false, 0, nowNs);
  }

  @Test
  void settlesAtAFewFramesOfQueueWhateverTheRate() {
    for (double bytesPerNs : new double[] {0.025, 0.125, 1.25}) {
      DelayWindow fresh = new DelayWindow(FRAME_BYTES, 0);
      long bytes = 0;
      for (int i = 0; i < 500; i++) {
        long rttNs = BASE_NS + (long) (fresh.bytes() / bytesPerNs);
        nowNs += rttNs;
        fresh.used();
        fresh.onAcknowledged(fresh.bytes(), rttNs, rttNs, BASE_NS, 0, false, 0, nowNs);
        bytes = fresh.bytes();
      }
      assertThat(bytes / (double) FRAME_BYTES)
          .as("frames at %s B/ns", bytesPerNs)
          .isBetween(2.0, 20.0);
      // Below the time of the way itself the link would run dry.
      assertThat(bytes).isGreaterThan((long) (BASE_NS * bytesPerNs));
    }
  }

  @Test
  void doesNotGrowWhileItIsNotUsed() {
    long before = window.bytes();
    for (int i = 0; i < 100; i++) {
      nowNs += BASE_NS;
      window.onAcknowledged(before, BASE_NS, BASE_NS, BASE_NS, 0, false, 0, nowNs);
    }
    assertThat(window.bytes()).isEqualTo(before);
  }

  @Test
  void givesWayOnceARoundTripAndByHalfAtMost() {
    for (int i = 0; i < 10; i++) {
      roundTrip(10);
    }
    long before = window.bytes();
    long late = 100_000_000L;
    nowNs += late;
    window.onAcknowledged(FRAME_BYTES, late, late, BASE_NS, 0, false, 0, nowNs);
    window.onAcknowledged(FRAME_BYTES, late, late, BASE_NS, 0, false, 0, nowNs + 1);
    assertThat(window.bytes()).isBetween(before / 2, before * 6 / 10);
  }

  @Test
  void aStallOfTheHostsIsNoQueue() {
    for (int i = 0; i < 10; i++) {
      roundTrip(10);
    }
    long before = window.bytes();
    long stall = 5_000_000L;
    nowNs += stall;
    window.onAcknowledged(FRAME_BYTES, BASE_NS + stall, 100_000, BASE_NS, 0, false, stall, nowNs);
    assertThat(window.bytes()).isGreaterThanOrEqualTo(before);
  }

  @Test
  void aLossWithoutAQueueTakesASixteenth() {
    roundTrip(10);
    nowNs += 1_000_000;
    window.used();
    window.onAcknowledged(FRAME_BYTES, BASE_NS, BASE_NS, BASE_NS, 0, false, 0, nowNs);
    long before = window.bytes();
    assertThat(window.onLoss(BASE_NS, nowNs + 1_000_000)).as("a queue explains it").isFalse();
    assertThat(window.bytes()).isEqualTo(before - (before >> 4));
  }

  /** Else a full frame's own time would be too long a queue, and the next loss explained by it. */
  @Test
  void aLossWithoutAQueueSaysNothingOfHowLongOneMayBe() {
    roundTrip(10);
    nowNs += 1_000_000;
    window.onAcknowledged(FRAME_BYTES, BASE_NS, BASE_NS, BASE_NS, 0, false, 0, nowNs);
    assertThat(window.onLoss(BASE_NS, nowNs)).isFalse();
    long before = window.bytes();
    long rttNs = BASE_NS + 300_000;
    nowNs += 10_000_000;
    window.onAcknowledged(FRAME_BYTES, rttNs, rttNs, BASE_NS, 0, false, 0, nowNs);
    assertThat(window.bytes()).isEqualTo(before);
  }

  @Test
  void learnsWhereAShortQueueDrops() {
    for (int i = 0; i < 20; i++) {
      roundTrip(0.125);
    }
    long queueNs = 400_000;
    nowNs += 10_000_000;
    window.onAcknowledged(FRAME_BYTES, BASE_NS + queueNs, queueNs, BASE_NS, 0, false, 0, nowNs);
    assertThat(window.onLoss(queueNs, nowNs + 1_000_000)).as("a queue explains it").isTrue();
    long before = window.bytes();
    nowNs += 3_000_000;
    window.onAcknowledged(FRAME_BYTES, BASE_NS + queueNs, queueNs, BASE_NS, 0, false, 0, nowNs);
    assertThat(window.bytes()).as("as long a queue again").isLessThan(before);
  }

  @Test
  void keepsAFrameHoweverLateItIsUntilOneIsLost() {
    for (int i = 0; i < 200; i++) {
      late();
    }
    assertThat(window.bytes()).isEqualTo(FRAME_BYTES);
    window.onLoss(10_000_000, nowNs);
    late();
    assertThat(window.bytes()).isLessThan(FRAME_BYTES);
  }

  /** A relay that polls seldom, say: delay alone would keep it below a frame for good. */
  @Test
  void isAFrameAgainWhereNoMoreAreLostHoweverLateItIs() {
    for (int i = 0; i < 200; i++) {
      late();
      window.onLoss(10_000_000, nowNs);
    }
    int lates = 0;
    while (window.bytes() < FRAME_BYTES) {
      late();
      lates++;
    }
    assertThat(lates).isLessThan(200);
  }

  /** At a 64th of a frame that would be 2.5 s. */
  @Test
  void framesAreNeverFarApartForAQueue() {
    long rttNs = 40_000_000;
    for (int i = 0; i < 200; i++) {
      late(rttNs);
      window.onLoss(rttNs, nowNs);
      assertThat(rttNs * FRAME_BYTES / window.bytes()).isLessThanOrEqualTo(65_000_000);
    }
  }

  /** What a host takes that polls each 12 ms, or each 15 to 20. */
  private void fromSeldomPoller(long gapNs, long noiseNs) {
    long rttNs = BASE_NS + gapNs;
    nowNs += rttNs;
    window.used();
    window.onAcknowledged(
        window.bytes(), rttNs, BASE_NS + gapNs, BASE_NS, 0, false, noiseNs, nowNs);
  }

  @Test
  void aHostThatPollsSeldomIsNoQueue() {
    for (int i = 0; i < 40; i++) {
      fromSeldomPoller(12_000_000, 12_000_000);
    }
    assertThat(window.bytes()).isGreaterThan(20 * FRAME_BYTES);
  }

  /** Of the longest gap as much counts as all round trips show. */
  @Test
  void oneLongStallIsNoLeaveForALongQueue() {
    for (int i = 0; i < 20; i++) {
      roundTrip(10);
    }
    long before = window.bytes();
    long stallNs = 100_000_000;
    nowNs += stallNs;
    window.onAcknowledged(
        FRAME_BYTES, BASE_NS + stallNs / 2, 1_000_000, BASE_NS, 0, false, stallNs, nowNs);
    assertThat(window.bytes()).isLessThan(before);
  }

  @Test
  void aLossOnTheWayToAHostThatPollsSeldomIsNoQueue() {
    for (int i = 0; i < 200; i++) {
      fromSeldomPoller(i % 2 == 0 ? 15_000_000 : 20_000_000, 20_000_000);
      assertThat(window.onLoss(17_000_000, nowNs)).as("a queue explains it").isFalse();
    }
    assertThat(window.bytes()).isGreaterThanOrEqualTo(FRAME_BYTES);
  }

  @Test
  void recoversFromTheLeastWindow() {
    for (int i = 0; i < 200; i++) {
      late(1_000_000);
      window.onLoss(1_000_000, nowNs);
    }
    assertThat(window.bytes()).isBetween(1L, (long) FRAME_BYTES / 32);
    for (int i = 0; i < 8; i++) {
      roundTrip(10);
    }
    assertThat(window.bytes()).isGreaterThan(FRAME_BYTES);
  }
}
